// One question and its reply on the screen: waiting, under way, answered, stopped or failed.

import { fromHtml, icon, isWeb, make, plain, writer } from "./markup.js";
import { option } from "./panel.js";

export class Exchange {
  // `host` gives label(name), hasPerson, languageName(code), ask(question), follow(event, citation); `ledger` rate(exchange, value, comment).
  constructor(host, ledger, { id, question, rating }) {
    Object.assign(this, { host, ledger, id, question, rating, sources: new Map() });
    this.words = make("span.words");
    this.dots = make("span.dots", { "aria-hidden": "true" }, make("i"), make("i"), make("i"));
    this.button = make("button.quiet", { type: "button" });
    this.state = make("p.state", { hidden: true }, this.dots, this.words, this.button);
    this.text = make("div.text");
    this.list = make("ol.sources", { hidden: true });
    this.tools = make("div.tools", { hidden: true });
    this.options = make("ul.options", { hidden: true });
    this.asker = make("span.unseen");
    this.element = make(
      "article.exchange",
      {},
      make("h3.question", { dir: "auto" }, this.asker, question),
      make("div.reply", {}, this.state, this.text, this.list, this.tools, this.options),
    );
    this.cite = (n) => this.#marker(n);
    this.restart();
  }

  label(name) {
    return this.host.label(name);
  }

  // The labels have changed.
  relabel() {
    this.asker.textContent = `${this.label("you")}: `;
    if (this.status) this.show(this.status, this.action);
    if (this.answer) this.#dress();
    for (const tag of this.list.querySelectorAll(".tag")) this.#nameLanguage(tag);
    for (const link of this.list.querySelectorAll("a")) this.#nameLink(link);
    for (const marker of this.text.querySelectorAll(".cite")) this.#nameMarker(marker);
  }

  // A line about what is going on; `action` is [label, handler] of the button beside it.
  show(status, action) {
    Object.assign(this, { status, action });
    this.state.hidden = !status;
    this.dots.hidden = !["working", "reconnecting", "offline"].includes(status);
    this.words.textContent = status ? this.label(status) : "";
    this.button.hidden = !action;
    if (action) [this.button.textContent, this.button.onclick] = [this.label(action[0]), action[1]];
    this.element.setAttribute("aria-busy", String(Boolean(status) && !this.dots.hidden));
    this.element.dataset.state = status;
  }

  // Nothing has been received, or what was no longer counts.
  restart() {
    this.text.replaceChildren();
    this.list.replaceChildren();
    this.list.hidden = true;
    this.sources.clear();
    this.write = writer(this.text, this.cite);
  }

  add({ text, citations }) {
    this.#cite(citations);
    this.write(text);
  }

  finish(answer) {
    this.answer = answer;
    this.element.dataset.outcome = answer.outcome;
    this.show("");
    const opened = [...this.sources].filter(([, item]) => item.firstChild.open).map(([n]) => n);
    this.list.replaceChildren();
    this.#cite(answer.citations ?? []);
    for (const n of opened) if (this.sources.has(n)) this.sources.get(n).firstChild.open = true;
    this.text.replaceChildren(fromHtml(answer.html, this.cite));
    this.#dress();
  }

  fail(sentence) {
    this.restart();
    this.show("");
    this.element.dataset.outcome = "error";
    this.text.replaceChildren(make("p", {}, sentence));
  }

  #dress() {
    const { outcome, suggestions = [] } = this.answer;
    this.tools.hidden = !["answered", "related"].includes(outcome);
    const tool = (name, label, act) =>
      make("button.tool", { type: "button", title: this.label(label), "aria-label": this.label(label), onclick: act }, icon(name));
    const thumb = (value, label) => {
      const button = tool(value, label, () => this.#rate(value));
      button.setAttribute("aria-pressed", String(this.rating === value));
      return button;
    };
    this.said = make("span.said", { role: "status" });
    this.tools.replaceChildren(tool("copy", "copy_answer", () => this.#copy()), thumb("up", "helpful"), thumb("down", "unhelpful"), this.said);
    const offered = outcome === "abstained" && this.host.hasPerson ? [...suggestions, this.label("talk_to_person")] : suggestions;
    const items = offered.map((text) => option(text, (chosen) => this.host.ask(chosen)));
    this.options.replaceChildren(...items);
    this.options.hidden = !items.length;
  }

  // Sources

  #cite(citations) {
    for (const citation of citations) {
      const item = this.#source(citation);
      this.sources.set(String(citation.n), item);
      this.list.append(item);
    }
    this.list.hidden = !this.list.childElementCount;
  }

  #source(citation) {
    const { n, title, heading, url, language, quote } = citation;
    const place = make("span.place", { lang: language, dir: "auto" }, make("span.title", {}, title));
    if (heading && heading !== title) place.append(make("span.heading", {}, heading));
    const tag = make("span.tag", { "data-language": language });
    this.#nameLanguage(tag);
    const passage = make("div.passage", {}, make("blockquote", { lang: language, dir: "auto" }, make("mark", {}, quote.trim())));
    if (isWeb(url)) {
      const link = make("a", { href: deepLink(url, quote, language), target: "_blank", rel: "noopener noreferrer" });
      link.onclick = (event) => this.host.follow(event, citation);
      this.#nameLink(link);
      passage.append(link);
    }
    return make("li", {}, make("details", {}, make("summary", {}, make("span.number", {}, String(n)), place, tag), passage));
  }

  // Only a source in another language than the reply's is worth a word.
  #nameLanguage(tag) {
    const { language } = tag.dataset;
    tag.hidden = language === (this.answer?.language ?? this.host.language);
    tag.textContent = this.host.languageName(language);
  }

  #nameLink(link) {
    link.replaceChildren(this.label("read_article"), make("span.unseen", {}, ` (${this.label("new_tab")})`));
  }

  #marker(n) {
    const marker = make("button.cite", { type: "button" }, n);
    this.#nameMarker(marker);
    marker.onclick = () => {
      const details = this.sources.get(n)?.firstChild;
      if (!details) return;
      for (const item of this.sources.values()) item.firstChild.open = item.firstChild === details;
      details.firstChild.focus({ preventScroll: true });
      details.scrollIntoView({ block: "nearest" });
    };
    return marker;
  }

  #nameMarker(marker) {
    marker.setAttribute("aria-label", `${this.label("sources")} ${marker.textContent}`);
  }

  // Copy and feedback

  async #copy() {
    const { text, citations = [] } = this.answer;
    const sources = citations.map(({ n, title, url }) => `[${n}] ${title}${url ? ` ${url}` : ""}`);
    const whole = [text.replace(/\\([!-/:-@[-`{-~])/g, "$1"), ...sources].join("\n\n");
    const isCopied = await navigator.clipboard?.writeText(whole).then(() => true, () => false);
    if (!isCopied) getSelection()?.selectAllChildren(this.text);
    this.#say(isCopied ? "copied" : "copy_failed");
  }

  async #rate(value) {
    this.rating = value;
    for (const [at, name] of ["up", "down"].entries()) this.tools.children[at + 1].setAttribute("aria-pressed", String(name === value));
    this.form?.remove();
    const isSent = await this.ledger.rate(this, value);
    this.#say(isSent ? "rated" : "not_rated");
    if (isSent && value === "down") this.#askWhy();
  }

  #askWhy() {
    const box = make("textarea", { rows: 2, dir: "auto", maxLength: 1000, "aria-label": this.label("comment"), placeholder: this.label("comment") });
    const onclick = async () => {
      const isSent = !box.value.trim() || (await this.ledger.rate(this, "down", box.value.trim()));
      this.#say(isSent ? "rated" : "not_rated");
      if (!isSent) return;
      this.form.remove();
      this.tools.children[2].focus();
    };
    this.form = make("div.comment", {}, box, make("button.quiet", { type: "button", onclick }, this.label("comment_send")));
    this.tools.after(this.form);
    box.focus();
  }

  #say(name) {
    this.said.textContent = this.label(name);
  }
}

// The sentence as screen readers hear it.
export const spoken = (text) => plain(text).replace(/(^|\n)- /g, "$1").trim();

// The article's address with the quoted words, which browsers that know text fragments scroll to and mark.
function deepLink(url, quote, language) {
  const line = quote.split("\n")[0].trim();
  if (/[|*_\x60[\]]/.test(line) || !line) return url;
  const words = [...new Intl.Segmenter(language, { granularity: "word" }).segment(line)].slice(0, 8);
  const text = encodeURIComponent(words.map(({ segment }) => segment).join("").trim()).replace(/-/g, "%2D");
  return `${url}${url.includes("#") ? "" : "#"}:~:text=${text}`;
}
