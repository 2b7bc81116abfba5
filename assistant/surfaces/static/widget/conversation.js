// The questions of one visitor: asked one after the other, remembered, shared with the other tabs.

import { Exchange, spoken } from "./exchange.js";
import { Memory } from "./memory.js";
import { ask, sendJson } from "./transport.js";

const TAKE_OVER_MS = 20_000; // a tab that has not answered by then is taken for gone
const STALE_MS = 90_000;

export class Conversation {
  #exchanges = [];
  #queue = [];
  #current = null;

  // `host` is the element: url(), label(), languageName(), language, panel, speak(code), follow().
  constructor(host, name) {
    this.host = host;
    this.memory = new Memory(name, () => this.#sync());
  }

  get panel() {
    return this.host.panel;
  }

  resume() {
    for (const record of this.memory.read().exchanges) {
      if (record.answer) this.#answered(this.#show(record), record.answer);
      else if (Date.now() - record.at < STALE_MS) this.#enqueue(this.#show(record)); // the server still knows it
      else this.#erase(record.id);
    }
  }

  relabel() {
    for (const exchange of this.#exchanges) exchange.relabel();
  }

  ask(question) {
    const exchange = this.#show({ id: newId(), question });
    const block = this.#current ? "nearest" : "start"; // one that waits leaves the answer that is being read in sight
    this.#enqueue(exchange);
    exchange.element.scrollIntoView({ block });
  }

  stop() {
    this.#current?.stop();
  }

  startOver() {
    this.#queue = [];
    this.stop();
    this.memory.update((state) => Object.assign(state, { conversation: "", exchanges: [] }));
    this.#remove(() => true);
    this.panel.live.replaceChildren();
  }

  async rate(exchange, value, comment) {
    const { id, conversation_id } = exchange.answer;
    const body = { answer_id: id, conversation_id, value, ...(comment && { comment }) };
    const isSent = await sendJson(this.host.url("api/v1/feedback"), body).then(() => true, () => false);
    if (isSent) this.#change(exchange.id, { rating: value });
    return isSent;
  }

  #change(id, values) {
    this.memory.update(({ exchanges }) => Object.assign(exchanges.find((one) => one.id === id) ?? {}, values));
  }

  #erase(id) {
    this.memory.update((state) => (state.exchanges = state.exchanges.filter((one) => one.id !== id)));
  }

  #remove(isGone) {
    for (const exchange of this.#exchanges) if (isGone(exchange)) exchange.element.remove();
    this.#exchanges = this.#exchanges.filter((exchange) => !isGone(exchange));
    this.panel.welcome.hidden = Boolean(this.#exchanges.length);
  }

  #show(record) {
    const exchange = new Exchange(this.host, this, record);
    this.#exchanges.push(exchange);
    this.panel.log.append(exchange.element);
    this.panel.welcome.hidden = true;
    exchange.relabel();
    return exchange;
  }

  #enqueue(exchange) {
    this.#queue.push(exchange);
    if (this.#current) exchange.show("waiting", ["remove", () => this.#withdraw(exchange)]);
    else this.#next();
  }

  #withdraw(exchange) {
    this.#queue = this.#queue.filter((one) => one !== exchange);
    this.#remove((one) => one === exchange);
    this.#erase(exchange.id);
    this.panel.putBack(exchange.question);
    this.panel.focus();
  }

  #busy(exchange) {
    this.#current = exchange;
    this.panel.isBusy = Boolean(exchange);
    this.panel.typed();
  }

  async #next() {
    const exchange = this.#queue.shift();
    if (!exchange) return;
    const line = new AbortController();
    const { id, question } = exchange;
    exchange.stop = () => line.abort();
    this.#busy(exchange);
    this.memory.update(({ exchanges }) => {
      if (!exchanges.some((one) => one.id === id)) exchanges.push({ id, question, at: Date.now() });
    });
    const show = (status) => exchange.show(status, ["stop", exchange.stop]);
    show("working");
    const patience = setTimeout(() => this.panel.say(this.host.label("working")), 1500);
    try {
      await this.#receive(exchange, line.signal, (name) => {
        if (name && name !== exchange.status) this.panel.say(this.host.label(name));
        show(name || "working");
      });
    } catch (error) {
      if (!exchange.answer) this.#failed(exchange, error, line.signal.aborted);
    }
    clearTimeout(patience);
    this.#busy(null);
    this.#next();
  }

  async #receive(exchange, signal, notice) {
    let heard = 0;
    const { conversation } = this.memory.read();
    const body = { message: exchange.question, page_language: this.host.language, request_id: exchange.id };
    if (conversation) body.conversation_id = conversation;
    for await (const [id, name, data] of ask(this.host.url("api/v1/chat"), body, signal, notice)) {
      if (id === 1) exchange.restart();
      if (name === "error") throw Object.assign(new Error(data.error), { isTold: true });
      if (name === "sentence") {
        exchange.add(data);
        if (id > heard) this.panel.say(spoken(data.text), data.citations[0]?.language);
      }
      if (name === "answer") this.#finish(exchange, data);
      heard = Math.max(heard, id);
    }
  }

  #finish(exchange, { timings_ms, ...answer }) {
    this.#answered(exchange, answer);
    this.#change(exchange.id, { answer });
    this.memory.update((state) => (state.conversation = answer.conversation_id));
    this.host.dispatchEvent(new CustomEvent("faq-assistant:answer", { bubbles: true, detail: answer }));
  }

  #answered(exchange, answer) {
    exchange.finish(answer);
    this.host.speak(answer.language).catch(() => {}); // the conversation may have switched
  }

  #failed(exchange, error, isStopped) {
    const { label, language } = this.host;
    this.#erase(exchange.id);
    if (!this.#exchanges.includes(exchange)) return; // started over
    this.panel.putBack(exchange.question);
    if (isStopped) return exchange.show("stopped");
    const time = new Intl.RelativeTimeFormat(language).format(error.seconds || 1, "second");
    const name = error.status || error.isTold ? "error_generic" : "error_network";
    const sentence = error.status === 429 ? label("too_many").replace("{time}", time) : label(name);
    if (error.status === 403) console.error(`faq-assistant: ${error.message}`);
    exchange.fail(sentence);
    this.panel.say(sentence);
  }

  // Another tab has asked, got its answer, taken a question back or started over.
  #sync() {
    const { exchanges } = this.memory.read();
    for (const record of exchanges) {
      const shown = this.#exchanges.find(({ id }) => id === record.id) ?? this.#show(record);
      if (record.answer && !shown.answer) {
        shown.stop?.();
        this.#answered(shown, record.answer);
      } else if (!record.answer && !shown.status) {
        shown.show("working");
        setTimeout(() => this.#takeOver(shown), TAKE_OVER_MS);
      }
    }
    const isKept = ({ id, stop, answer }) => (stop && !answer) || exchanges.some((one) => one.id === id);
    this.#remove((exchange) => !isKept(exchange) && !this.#queue.includes(exchange));
  }

  #takeOver(exchange) {
    const isWaiting = !exchange.answer && !exchange.stop && this.#exchanges.includes(exchange);
    if (isWaiting) this.#enqueue(exchange);
  }
}

// randomUUID needs https; this does not.
const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
