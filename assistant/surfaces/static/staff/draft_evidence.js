// The bilingual view of one paragraph: for its sentences the passage they rest on, in the agent's language where a
// reviewed version exists, and what is wrong with those that rest on none.

import { isWeb, make } from "./markup.js";
import { languageName, word } from "./draft_words.js";

const quiet = (text) => make("p.note", {}, text);

export const quotation = (source, text) => make("blockquote", { lang: source.language, dir: source.direction }, text);

export function placeLink(source) {
  const place = make("bdi", { lang: source.language }, [source.title, source.heading].filter(Boolean).join(" › "));
  const attributes = { dir: source.direction };
  if (!isWeb(source.url)) return make("p.place", attributes, place);
  const hint = make("span.unseen", {}, ` (${word("new_tab")})`);
  return make("p.place", attributes, make("a", { href: source.url, target: "_blank", rel: "noopener noreferrer" }, place, hint));
}

// A passage for an agent who reads `agent`: their own version first, the original folded away beneath it.
export function passage(source, agent) {
  const original = [quotation(source, source.shown), placeLink(source)];
  if (source.is_readable) return original;
  if (!source.sibling) return [make("p.missing", {}, word("no_sibling", { language: languageName(agent) })), ...original];
  const folded = make("details", {}, make("summary", {}, word("original", { language: languageName(source.language) })), ...original);
  return [quotation(source.sibling, source.sibling.shown), placeLink(source.sibling), folded];
}

// Neighbouring lines with the same source are one group: [{numbers, lines, source, state}].
function group(lines) {
  const groups = [];
  for (const [number, line] of lines.entries()) {
    if (!line.text.trim() || line.state === "own") continue;
    const last = groups.at(-1);
    if (last && line.state === "supported" && last.state === line.state && last.source === line.source && last.numbers.at(-1) === number - 1) {
      last.numbers.push(number);
      last.lines.push(line);
    } else groups.push({ numbers: [number], lines: [line], source: line.source, state: line.state });
  }
  return groups;
}

// `onpoint(numbers)` tells which sentences are looked at; [] is none. `sources` maps a number to its passage.
export class Evidence {
  constructor(id, draft, onpoint) {
    Object.assign(this, { draft, onpoint, cards: [] });
    this.list = make("ol.cards", {});
    this.note = quiet("");
    this.element = make("div.evidence", { id }, this.list, this.note);
  }

  show(lines, sources, kind) {
    const groups = group(lines);
    const opened = new Set(this.cards.filter(({ card }) => card.querySelector("details[open]")).map(({ source }) => source));
    this.cards = groups.map((one) => ({ ...one, card: this.#card(one, sources.get(one.source)) }));
    for (const { card, source } of this.cards) if (opened.has(source)) card.querySelector("details")?.setAttribute("open", "");
    this.list.replaceChildren(...this.cards.map(({ card }) => card));
    this.list.hidden = !groups.length;
    this.note.hidden = Boolean(groups.length);
    this.note.textContent = word(kind === "greeting" || kind === "closing" ? "set_phrase" : "nothing_claimed");
  }

  light(number) {
    for (const { card, numbers } of this.cards) card.classList.toggle("lit", numbers.includes(number));
  }

  #card(one, source) {
    const { language, direction, agent_language } = this.draft();
    const said = one.lines.map((line) => make("p.said", { lang: language, dir: direction }, line.text.trim()));
    const card = make(`li.rest.${one.state}`, {});
    if (one.state === "supported" && source) {
      card.append(make("p.label", {}, make("span.number", {}, String(source.n)), word("rests_on_this")), ...said, ...passage(source, agent_language));
    } else if (one.state === "gap") card.append(make("p.label", {}, word("gap")), quiet(word("gap_hint")));
    else card.append(make("p.label", {}, word("unsupported")), ...said, make("p.reason", { dir: "auto" }, one.lines[0].reason));
    card.addEventListener("pointerenter", () => this.onpoint(one.numbers));
    card.addEventListener("pointerleave", () => this.onpoint([]));
    card.addEventListener("focusin", () => this.onpoint(one.numbers));
    card.addEventListener("focusout", () => this.onpoint([]));
    return card;
  }
}
