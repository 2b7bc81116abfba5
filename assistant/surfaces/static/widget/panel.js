// The widget's own furniture: launcher, panel, box. Knows labels and keys, nothing of questions and answers.

import { icon, make } from "./markup.js";

const PHONE = "(max-width: 30rem)";
const canHover = () => matchMedia("(hover: hover)").matches;
export const isPhone = () => matchMedia(PHONE).matches;

export class Panel {
  // `act` gives send(text), stop(), person(), again(), opened(isOpen), typed(text).
  constructor(isInline, act) {
    Object.assign(this, { isInline, act, limit: 0, isBusy: false, label: () => "" });
    const button = (name, onclick, ...content) => make(`button.${name}`, { type: "button", onclick }, ...content);
    this.heading = make("h2", { id: "title" });
    this.closer = button("close", () => this.close(), icon("close"));
    this.intro = make("p.intro");
    this.samples = make("ul.options");
    this.welcome = make("div.welcome", {}, this.intro, this.samples);
    this.log = make("div.log");
    this.thread = make("div.thread", { tabIndex: 0, role: "group", "aria-labelledby": "title" }, this.welcome, this.log);
    this.live = make("div.unseen", { role: "log", "aria-live": "polite" });
    this.problem = make("p.problem", { id: "problem", role: "alert" });
    this.box = make("textarea", { rows: 1, dir: "auto", enterKeyHint: "send", "aria-describedby": "problem" });
    // no form: a sandboxed frame may not be allowed to submit one
    this.sender = button("send", () => this.#submit());
    this.form = make("div.ask", {}, make("div.box", {}, this.box, this.sender), this.problem);
    this.person = button("person", () => act.person());
    this.again = button("again", () => act.again());
    this.frame = make(isInline ? "section.panel" : "dialog.panel", { "aria-labelledby": "title" },
      make("div.head", {}, this.heading, isInline ? "" : this.closer),
      this.thread, this.live, this.form, make("div.foot", {}, this.person, this.again));
    this.caption = make("span");
    this.launcher = button("launcher", () => this.open(), icon("chat"), this.caption);
    this.launcher.setAttribute("aria-haspopup", "dialog");
    this.launcher.hidden = true; // until it has a name
    this.corner = make("aside", {}, this.launcher);
    this.box.oninput = () => this.typed();
    this.box.onkeydown = (event) => this.#pressed(event);
    this.frame.oncancel = (event) => (event.preventDefault(), this.close());
  }

  relabel(label, language, direction) {
    this.label = label;
    this.language = language;
    for (const part of [this.frame, this.launcher]) Object.assign(part, { lang: language, dir: direction });
    this.heading.textContent = label("page_title");
    this.intro.textContent = label("page_intro");
    this.person.textContent = label("talk_to_person");
    this.again.textContent = label("start_over");
    this.caption.textContent = label("open");
    this.corner.setAttribute("aria-label", label("page_title"));
    this.box.placeholder = label("message_placeholder");
    this.closer.title = label("close");
    for (const [part, name] of [[this.closer, "close"], [this.box, "message_label"]]) part.setAttribute("aria-label", label(name));
    this.typed();
  }

  get isOpen() {
    return this.isInline || this.frame.open;
  }

  open(isWanted = true) {
    if (this.isOpen) return;
    if (isPhone()) this.frame.showModal();
    else this.frame.show();
    this.launcher.hidden = true;
    if (isWanted) this.focus();
    this.thread.scrollTop = this.thread.scrollHeight;
    this.act.opened(true);
  }

  close() {
    if (this.isInline || !this.isOpen) return;
    this.frame.close();
    this.launcher.hidden = false;
    this.launcher.focus();
    this.act.opened(false);
  }

  // A phone's keyboard covers the page instead of shrinking it: the panel takes what is left.
  fit({ height, offsetTop }) {
    this.frame.style.setProperty("--seen", `${height}px`);
    this.frame.style.setProperty("--top", `${offsetTop}px`);
  }

  // Where nothing hovers, a keyboard would come up with the box; the button that closes must not take its place.
  focus() {
    (canHover() ? this.box : this.thread).focus({ preventScroll: true });
  }

  suggest(questions, choose) {
    this.samples.replaceChildren(...questions.map((text) => option(text, choose)));
  }

  // A screen reader says each line once.
  say(text, language = this.language) {
    if (!text) return;
    if (this.live.childElementCount > 20) this.live.firstChild.remove();
    this.live.append(make("p", { lang: language }, text));
  }

  // What is typed here is no shortcut of the page.
  keep(event) {
    event.stopPropagation();
    if (event.type === "keydown" && event.key === "Escape" && !event.isComposing) this.close();
  }

  #pressed(event) {
    const isComposing = event.isComposing || event.keyCode === 229; // Enter that chooses a word of an input method
    if (event.key !== "Enter" || event.shiftKey || isComposing) return;
    event.preventDefault();
    this.#submit();
  }

  // Gives back a question that was not answered, unless something else stands there.
  putBack(text) {
    this.box.value ||= text;
    this.typed();
  }

  typed() {
    const { box, problem, sender, label } = this;
    const isEmpty = !box.value.trim();
    const isLong = this.limit > 0 && [...box.value].length > this.limit;
    const limit = new Intl.NumberFormat(this.language).format(this.limit);
    const sentence = isLong ? label("too_long").replace("{limit}", limit) : "";
    if (problem.textContent !== sentence) problem.textContent = sentence;
    box.setAttribute("aria-invalid", String(isLong));
    const name = this.isBusy && isEmpty ? "stop" : "send";
    if (sender.dataset.name !== name) sender.replaceChildren(icon(name));
    sender.dataset.name = name;
    sender.setAttribute("aria-label", label(name));
    sender.setAttribute("aria-disabled", String(isLong || (isEmpty && name === "send")));
    if (!CSS.supports("field-sizing", "content")) {
      box.rows = 1;
      while (box.scrollHeight > box.clientHeight && box.rows < 6) box.rows++;
    }
    this.act.typed(box.value);
    return !isLong;
  }

  #submit() {
    const text = this.box.value;
    if (!text.trim()) return this.act.stop();
    if (!this.typed()) return;
    this.box.value = "";
    this.act.send(text);
    this.typed();
  }
}

export const option = (text, choose) =>
  make("li", {}, make("button.option", { type: "button", dir: "auto", onclick: () => choose(text) }, text));
