// A text that is edited while its sentences carry marks: a textarea above a copy of its text that nobody reads.
// The copy takes the marks, so that the caret, input methods and undo stay the browser's own.

import { make } from "./markup.js";

export class MarkedText {
  #lines = [];
  #lit = [];

  // `onedit()` follows each change of the text, `onreach(number)` the caret to a line; -1 is none.
  constructor({ name, language, direction, describedBy, onedit, onreach }) {
    this.copy = make("div.copy", { "aria-hidden": "true" });
    this.area = make("textarea", { rows: 1, spellcheck: true, "aria-label": name, "aria-describedby": describedBy });
    this.element = make("div.marked", { lang: language, dir: direction }, this.copy, this.area);
    this.area.addEventListener("input", () => {
      this.#draw();
      onedit();
    });
    for (const type of ["keyup", "click", "focus"]) this.area.addEventListener(type, () => onreach(this.#reached()));
    this.area.addEventListener("blur", () => onreach(-1));
  }

  get text() {
    return this.area.value;
  }

  // The same text again leaves the caret where it is.
  set text(text) {
    if (text !== this.area.value) this.area.value = text;
    this.#draw();
  }

  set isFixed(isFixed) {
    this.area.readOnly = isFixed;
  }

  // The lines of a text, each {text, state}; a line that is edited loses its mark until it is judged again.
  mark(lines) {
    this.#lines = lines;
    this.#draw();
  }

  light(numbers) {
    this.#lit = numbers;
    this.#draw();
  }

  #places() {
    const places = [];
    let from = 0;
    for (const [number, { text, state }] of this.#lines.entries()) {
      const sought = text.trim();
      const start = sought ? this.text.indexOf(sought, from) : -1;
      if (start < 0) continue;
      from = start + sought.length;
      places.push({ start, end: from, number, state });
    }
    return places;
  }

  #reached() {
    const at = this.area.selectionStart;
    return this.#places().find(({ start, end }) => start <= at && at <= end)?.number ?? -1;
  }

  #draw() {
    const parts = [];
    let from = 0;
    for (const { start, end, number, state } of this.#places()) {
      const name = `span.${state}${this.#lit.includes(number) ? ".lit" : ""}`;
      parts.push(this.text.slice(from, start), make(name, {}, this.text.slice(start, end)));
      from = end;
    }
    this.copy.replaceChildren(...parts, `${this.text.slice(from)}\u200b`); // an empty last line counts as a line
  }
}
