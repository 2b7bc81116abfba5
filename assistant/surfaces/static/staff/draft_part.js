// One paragraph of the letter: its question, its text, what can be done with it, and its evidence beside it.

import { Evidence, passage } from "./draft_evidence.js";
import { MarkedText } from "./draft_text.js";
import { isEditor, share, word } from "./draft_words.js";
import { make } from "./markup.js";

const CHECK_MS = 400;
const ACTIONS = { answer: ["regenerate", "remove", "propose", "case"], gap: ["regenerate", "remove", "propose", "case"], greeting: [], closing: [] };

export class Part {
  #timer = 0;
  #asked = 0;

  // `host` gives draft(), edited(), check(id, text), act(action, part, passages), say(text).
  constructor(host, { id, kind, question }) {
    Object.assign(this, { host, id, kind, question, lines: [] });
    const { language, direction } = host.draft();
    const asked = this.#asker();
    const name = question ? word("paragraph", { number: question }) : word(kind);
    const evidence = `evidence-${id}`;
    this.text = new MarkedText({
      name, language, direction, describedBy: evidence,
      onedit: () => this.#edited(),
      onreach: (number) => this.evidence.light(number),
    });
    this.evidence = new Evidence(evidence, host.draft, (numbers) => this.text.light(numbers));
    this.flag = make("p.flag", {});
    this.tools = make("div.tools", {}, ...ACTIONS[kind].filter((action) => action !== "propose" || isEditor).map((action) => this.#tool(action)));
    this.near = make("div.near", {});
    this.heading = make("div.asked", {}, ...(asked ? this.#heading(asked) : [make("h3.set", {}, name)]));
    this.element = make("section.part", { "aria-label": name },
      make("div.letter", {}, this.heading, this.flag, this.text.element, this.tools),
      make(`div.beside.${kind}`, {}, this.evidence.element, this.near));
  }

  // What the server says of the part; the agent's own unsaved words stay.
  update(part, keepsText) {
    if (!keepsText) this.text.text = part.text;
    this.#show(part.lines, part.is_open, this.host.draft().sources);
    this.#nearest();
    this.text.isFixed = this.host.draft().state !== "open";
    this.tools.hidden = this.host.draft().state !== "open";
  }

  get value() {
    return { id: this.id, text: this.text.text };
  }

  // What must be looked at before the letter is sent, as [text, language].
  doubts() {
    if (this.isOpen) return [[`${word("gap")}: ${this.#asker()?.text ?? ""}`]];
    return this.#wrong().map(({ text }) => [`${word("unsupported")}: ${text.trim()}`]);
  }

  #asker() {
    return this.host.draft().questions.find(({ number }) => number === this.question);
  }

  #heading({ number, text, confidence, outcome }) {
    const { language, direction } = this.host.draft();
    const filled = make("span");
    filled.style.inlineSize = `${Math.round(confidence * 100)}%`;
    const meter = make(`span.meter.${outcome}`, { "aria-hidden": "true" }, filled);
    return [
      make("h3", {}, make("span.number", {}, String(number)), make("bdi", { lang: language, dir: direction }, text)),
      make("p.sure", {}, make(`span.outcome.${outcome}`, {}, word(`found_${outcome}`)), meter, make("span", {}, word("confidence", { share: share(confidence) }))),
    ];
  }

  #tool(action) {
    const button = make("button.quiet", { type: "button", onclick: () => this.host.act(action, this) }, word(action));
    button.dataset.action = action;
    return button;
  }

  #edited() {
    this.host.edited();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#check(), CHECK_MS);
  }

  async #check() {
    const turn = (this.#asked += 1);
    const { text } = this.text;
    const found = await this.host.check(this.id, text).catch(() => null); // saving judges it too
    if (!found || turn !== this.#asked || text !== this.text.text) return;
    const before = this.#wrong().length;
    this.#show(found.lines, found.is_open, found.sources);
    const wrong = this.#wrong();
    if (wrong.length > before) this.host.say(`${word("unsupported")}: ${wrong.at(-1).reason}`);
  }

  #wrong() {
    return this.lines.filter(({ state }) => state === "unsupported");
  }

  #show(lines, isOpen, sources) {
    this.lines = lines;
    const isClosed = this.isOpen && !isOpen;
    this.isOpen = isOpen;
    if (isClosed) this.#nearest();
    this.text.mark(lines);
    this.evidence.show(lines, new Map(sources.map((source) => [source.n, source])), this.kind);
    const isLeftOut = Boolean(this.question) && !this.text.text.trim();
    const problem = isLeftOut ? "removed" : isOpen ? "gap" : this.#wrong().length ? "unsupported" : "";
    this.element.dataset.problem = problem;
    const isEmpty = isOpen || isLeftOut;
    const useless = { propose: isEmpty, case: isEmpty, remove: isLeftOut };
    for (const button of this.tools.children) button.hidden = useless[button.dataset.action] ?? false;
    this.flag.hidden = !problem;
    this.flag.textContent = problem && word(problem);
  }

  // For a gap: the nearest passages, each to be taken after all.
  #nearest() {
    const { agent_language, state } = this.host.draft();
    const found = this.isOpen ? (this.#asker()?.evidence ?? []).slice(0, 2) : [];
    this.near.hidden = !found.length;
    const use = (source) => make("button.quiet", { type: "button", hidden: state !== "open", onclick: () => this.host.act("use", this, [source.passage_id]) }, word("use"));
    this.near.replaceChildren(make("p.label", {}, word("nearest")), ...found.map((source) => make("div.rest", {}, ...passage(source, agent_language), use(source))));
  }
}
