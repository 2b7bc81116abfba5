// Where a reply begins: a message pasted or handed over, and the drafts that exist.

import { get, pageOf, send } from "./draft_api.js";
import { ago, languageName, languages, own, word } from "./draft_words.js";
import { make } from "./markup.js";

const TONES = ["formal", "friendly", "brief"];

export const languageChoice = (id, chosen, ...first) =>
  make("select", { id }, ...first, ...Object.entries(languages).map(([code, name]) => new Option(name, code, false, code === chosen)));

export function toneChoice(chosen, onchange = () => {}) {
  const radio = (tone) => make("label", {}, make("input", { type: "radio", name: "tone", value: tone, checked: tone === chosen, onchange: () => onchange(tone) }), make("span", {}, word(`tone_${tone}`)));
  return make("fieldset.tones", {}, make("legend", {}, word("tone")), ...TONES.map(radio));
}

export const field = (title, control) => make("label.field", {}, make("span", {}, title), control);

export function stateOf({ state, outcome }) {
  return make(`span.chip.${state}`, {}, word(state === "sent" && outcome ? `sent_${outcome}` : `state_${state}`));
}

// Each piece keeps its own direction.
const about = (...pieces) => make("span.about", {}, ...pieces.flatMap((piece, at) => [at ? " · " : "", make("bdi", {}, piece)]));

export class Start {
  // `open(id)` shows a draft; `agent` remembers the language the agent reads.
  constructor(open, agent) {
    Object.assign(this, { open, agent });
    this.message = make("textarea", { id: "message", rows: 7, required: true, maxLength: 20_000, dir: "auto" });
    this.reply = languageChoice("reply", "", new Option(word("their_language"), ""));
    this.reads = languageChoice("reads", agent.language || own);
    this.tones = toneChoice("formal");
    this.button = make("button", {}, word("write"));
    this.problem = make("p.problem", { role: "alert", hidden: true });
    this.waiting = make("ul.rows", {});
    this.drafts = make("ul.rows", {});
    this.form = make("form.paste", {},
      make("label", { htmlFor: "message" }, word("message")), make("p.note", { id: "message-hint" }, word("message_hint")), this.message,
      make("div.choices", {}, this.tones, field(word("i_read"), this.reads), field(word("reply_in"), this.reply), this.button), this.problem);
    this.message.setAttribute("aria-describedby", "message-hint");
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#write({ message: this.message.value });
    });
    this.element = make("div.start", {},
      make("p.lead", {}, word("intro")), this.form,
      make("section", { "aria-labelledby": "waiting" }, make("h2", { id: "waiting" }, word("handed_over")), this.waiting),
      make("section", { "aria-labelledby": "kept" }, make("h2", { id: "kept" }, word("all_drafts")), this.drafts));
  }

  async load() {
    const [drafts, handovers] = await Promise.all([get("drafts"), get("drafts/handovers")]);
    const waiting = handovers.filter(({ draft_id }) => !draft_id);
    this.waiting.replaceChildren(...(waiting.length ? waiting.map((one) => this.#handover(one)) : [make("li.none", {}, word("none_waiting"))]));
    this.drafts.replaceChildren(...(drafts.length ? drafts.map((one) => this.#draft(one)) : [make("li.none", {}, word("no_drafts"))]));
  }

  #handover({ conversation_id, language, message, at }) {
    const take = make("button.quiet", { type: "button", onclick: () => this.#write({ conversation_id }) }, word("write"));
    return make("li", {}, make("span.excerpt", { lang: language, dir: "auto" }, message), about(languageName(language), ago(at)), take);
  }

  #draft(row) {
    const excerpt = make("a.excerpt", { href: pageOf(row.id), lang: row.language, dir: "auto" }, row.excerpt);
    excerpt.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      this.open(row.id);
    });
    const gaps = row.state === "open" && row.open_gaps ? [make("span.chip.gap", {}, word("open_gaps", { count: row.open_gaps }))] : [];
    return make("li", {}, excerpt, about(languageName(row.language), row.changed_by, ago(row.changed_at)), make("span.chips", {}, ...gaps, stateOf(row)));
  }

  async #write(given) {
    const tone = new FormData(this.form).get("tone");
    const body = { ...given, tone, agent_language: this.reads.value, language: this.reply.value };
    this.agent.language = this.reads.value;
    this.problem.hidden = true;
    this.button.disabled = true;
    this.button.textContent = word("writing");
    try {
      this.open((await send("POST", "drafts", body)).id);
    } catch (error) {
      this.problem.hidden = false;
      this.problem.textContent = error.message;
    }
    this.button.disabled = false;
    this.button.textContent = word("write");
  }
}
