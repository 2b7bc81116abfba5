// <faq-assistant>: a launcher and a panel, or the panel in its place in the page. Attributes: key, language, mode
// ("inline"), theme ("light", "dark"), accent (a CSS colour), side ("start"), open. No innerHTML, no inline style or script.

import { Conversation } from "./conversation.js";
import { isPhone, Panel } from "./panel.js";
import { css } from "./style.js";
import { readJson } from "./transport.js";

const CODE = /^[a-z]{2,8}([-_][a-z\d]{1,8}){0,4}$/i; // what pages say is not always one
const LONGEST_PAUSE_MS = 60_000;
const BASE = new URL("../../", import.meta.url);

export class FaqAssistant extends HTMLElement {
  #labels = {};
  #known = new Map();
  label = (name) => this.#labels[name] ?? "";

  connectedCallback() {
    if (!this.shadowRoot) this.#start();
    this.away = new AbortController();
    const { signal } = this.away;
    for (const type of ["resize", "scroll"]) visualViewport?.addEventListener(type, () => this.panel.fit(visualViewport), { signal });
    const observer = new MutationObserver(() => this.speak(this.pageLanguage).catch(() => {}));
    observer.observe(document.documentElement, { attributeFilter: ["lang"] });
    signal.addEventListener("abort", () => observer.disconnect());
  }

  disconnectedCallback() {
    this.away.abort();
  }

  get pageLanguage() {
    const named = [this.getAttribute("language"), this.closest("[lang]")?.lang, document.documentElement.lang, navigator.language];
    return named.find((code) => code && CODE.test(code)) ?? "";
  }

  url(path, query = {}) {
    const url = new URL(path, BASE);
    const key = this.getAttribute("key");
    for (const [name, value] of Object.entries({ ...query, ...(key && { key }) })) url.searchParams.set(name, value);
    return url;
  }

  languageName(code) {
    try {
      return new Intl.DisplayNames([this.language], { type: "language" }).of(code) ?? code;
    } catch {
      return code;
    }
  }

  // For the page's own scripts, as `open`, `close` and `ask` are.
  open() {
    this.panel.open();
  }

  close() {
    this.panel.close();
  }

  ask(question) {
    this.panel.open();
    this.conversation.ask(question);
    this.panel.focus();
  }

  #build() {
    const root = this.attachShadow({ mode: "open" });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    const accent = this.getAttribute("accent");
    if (accent) this.style.setProperty("--faq-accent", accent);
    this.conversation = new Conversation(this, `faq-assistant:${this.getAttribute("key") ?? ""}`);
    const { conversation } = this;
    this.panel = new Panel(this.getAttribute("mode") === "inline", {
      send: (text) => this.ask(text),
      stop: () => conversation.stop(),
      person: () => this.ask(this.label("talk_to_person")),
      again: () => this.#startOver(),
      opened: (isOpen) => (conversation.memory.isOpen = isOpen),
      typed: (text) => (conversation.memory.draft = text),
    });
    this.panel.box.value = conversation.memory.draft;
    root.append(this.panel.frame, ...(this.panel.isInline ? [] : [this.panel.corner]));
    for (const type of ["keydown", "keyup", "keypress"]) root.addEventListener(type, (event) => this.panel.keep(event));
  }

  async #start() {
    this.#build();
    for (let pause = 3000; !this.language; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await this.speak(this.pageLanguage);
      } catch (error) {
        if (error.status === 403) return console.error(`faq-assistant: ${error.message}`);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
    this.conversation.resume();
    this.panel.launcher.hidden = false;
    const { memory } = this.conversation;
    if (!isPhone() && (this.hasAttribute("open") || memory.isOpen)) this.panel.open(false); // nobody wants a phone's page covered
    this.dispatchEvent(new CustomEvent("faq-assistant:ready", { bubbles: true }));
    this.#suggest();
  }

  // Takes up the words of a language; one that has none leaves what is spoken.
  async speak(code) {
    if (!this.#known.has(code)) this.#known.set(code, await readJson(this.url("api/v1/interface", { language: code })));
    const { language, direction, labels, message_limit, has_person } = this.#known.get(code);
    const isForeign = language.split("-")[0] !== code.toLowerCase().split(/[-_]/)[0];
    if (this.language === language || (this.language && isForeign)) return;
    this.language = language;
    this.#labels = labels;
    this.panel.limit = message_limit;
    this.hasPerson = has_person; // a button that leads to nobody is not shown
    this.panel.person.hidden = !has_person;
    this.panel.relabel(this.label, language, direction);
    this.conversation.relabel();
  }

  async #suggest() {
    const found = await readJson(this.url("api/v1/suggestions", { language: this.language })).catch((error) => error);
    if (found.status === 503) setTimeout(() => this.#suggest(), (found.seconds || 3) * 1000); // still loading
    else if (Array.isArray(found)) this.panel.suggest(found, (text) => this.ask(text));
  }

  #startOver() {
    this.conversation.startOver();
    this.speak(this.pageLanguage).then(() => this.#suggest(), () => {});
    this.panel.focus();
  }

  // A page that shows its articles itself may handle the event and prevent the link.
  follow(event, citation) {
    const asked = new CustomEvent("faq-assistant:source", { bubbles: true, cancelable: true, detail: citation });
    if (this.dispatchEvent(asked)) return;
    event.preventDefault();
    if (isPhone()) this.panel.close();
  }
}

// Puts one on the page for the script tag that asked for this module, unless the page has its own.
export function install(source) {
  if (!customElements.get("faq-assistant")) customElements.define("faq-assistant", FaqAssistant);
  const script = [...document.querySelectorAll("script[src]")].find(({ src }) => src === source);
  const { target, ...given } = script?.dataset ?? {};
  const place = () => {
    if (document.querySelector("faq-assistant")) return;
    const element = document.createElement("faq-assistant");
    for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
    ((target && document.querySelector(target)) || document.body).append(element);
  };
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", place);
  else place();
}
