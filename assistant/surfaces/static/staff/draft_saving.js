// When to save: a moment after the last keystroke, at once when the page is left, again and again where it fails.

const PAUSE_MS = 1000;
const AGAIN_MS = [2000, 5000, 15_000];

export class Saving {
  #edits = 0;
  #saved = 0;
  #failures = 0;
  #timer = 0;
  #running = null;

  // `send()` saves what stands there now; `show(state)` gets "saved", "saving" or "not_saved".
  constructor(send, show) {
    Object.assign(this, { send, show });
  }

  get isDone() {
    return this.#edits === this.#saved;
  }

  get isFailing() {
    return !this.isDone && this.#failures > 0;
  }

  changed() {
    this.#edits += 1;
    this.show("saving");
    this.#plan(PAUSE_MS);
  }

  // Everything is saved when this is over; throws where it can't be.
  async flush() {
    clearTimeout(this.#timer);
    while (!this.isDone || this.#running) await (this.#running ?? this.#start());
  }

  stop() {
    clearTimeout(this.#timer);
    this.#saved = this.#edits;
  }

  #plan(pause) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush().catch(() => {}), pause);
  }

  #start() {
    this.#running = this.#save().finally(() => (this.#running = null));
    return this.#running;
  }

  async #save() {
    const edits = this.#edits;
    this.show("saving");
    try {
      await this.send();
    } catch (error) {
      this.show("not_saved");
      this.#plan(AGAIN_MS[Math.min(this.#failures, AGAIN_MS.length - 1)]);
      this.#failures += 1;
      throw error;
    }
    this.#failures = 0;
    this.#saved = Math.max(this.#saved, edits);
    if (this.isDone) this.show("saved");
  }
}
