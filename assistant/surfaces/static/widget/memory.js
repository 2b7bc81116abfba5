// What outlives a reload: the conversation, the draft, whether the panel is open. Works in memory where storage is blocked.

const KEPT = 30; // exchanges
const AGE_MS = 7 * 24 * 3600 * 1000;

const area = (name) => {
  try {
    const found = globalThis[name];
    found.getItem("");
    return found;
  } catch {
    return null; // cookies blocked, or a sandboxed frame
  }
};

// The page's own scripts can write there, too.
const isSound = (record) => {
  const { id, question, answer } = record ?? {};
  const texts = answer ? [id, question, answer.html, answer.language] : [id, question];
  return texts.every((text) => typeof text === "string") && (!answer || Array.isArray(answer.citations));
};

export class Memory {
  #local = area("localStorage");
  #session = area("sessionStorage");
  #held = {};

  // `onChange` is called when another tab changes the conversation.
  constructor(name, onChange) {
    this.name = name;
    this.onStorage = (event) => (event.key === name || event.key === null) && onChange();
    addEventListener("storage", this.onStorage);
  }

  close() {
    removeEventListener("storage", this.onStorage);
  }

  // { conversation, exchanges: [{ id, question, at, answer?, rating? }] }; an exchange without an answer is under way.
  read() {
    const found = this.#get(this.#local, this.name);
    if (!Array.isArray(found?.exchanges) || !(Date.now() - found.at < AGE_MS)) return { conversation: "", exchanges: [] };
    return { ...found, exchanges: found.exchanges.filter(isSound) };
  }

  // Reads, changes, writes, so that two tabs add to one conversation.
  update(change) {
    const state = this.read();
    change(state);
    state.at = Date.now();
    state.exchanges = state.exchanges.slice(-KEPT);
    this.#set(this.#local, this.name, state);
  }

  get draft() {
    return this.#get(this.#local, `${this.name}:draft`) ?? "";
  }

  set draft(text) {
    this.#set(this.#local, `${this.name}:draft`, text);
  }

  get isOpen() {
    return this.#get(this.#session, `${this.name}:open`) ?? false;
  }

  set isOpen(value) {
    this.#set(this.#session, `${this.name}:open`, value);
  }

  #get(place, name) {
    try {
      return JSON.parse(place ? place.getItem(name) : this.#held[name] ?? null);
    } catch {
      return null;
    }
  }

  #set(place, name, value) {
    const text = JSON.stringify(value);
    this.#held[name] = text;
    try {
      place?.setItem(name, text);
    } catch {
      // full, or blocked meanwhile: this tab goes on in memory
      if (place === this.#local) this.#local = null;
      else this.#session = null;
    }
  }
}
