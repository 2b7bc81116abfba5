// One draft on the screen: the customer's message, the letter, its evidence beside it, and what can be done with it.

import { copyLetter } from "./draft_copy.js";
import { address, download, get, pageOf, send } from "./draft_api.js";
import { browse, confirm, settle, showProposal, showText } from "./draft_dialogs.js";
import { forget, recall, remember } from "./draft_kept.js";
import { merge } from "./draft_merge.js";
import { showMessage } from "./draft_message.js";
import { Part } from "./draft_part.js";
import { Saving } from "./draft_saving.js";
import { field, languageChoice, stateOf, toneChoice } from "./draft_start.js";
import { languageName, word } from "./draft_words.js";
import { make } from "./markup.js";

const LOOK_MS = 20_000; // how often another agent's work is looked for

export class DraftView {
  #parts = new Map();
  #base = new Map();
  #draft;

  // `title` is the page's heading; `agent.language` is what the agent reads; `leave()` goes back to the list.
  constructor(draft, title, agent, leave) {
    Object.assign(this, { title, agent, leave, path: `drafts/${encodeURIComponent(draft.id)}` });
    this.draft = () => this.#draft;
    this.saving = new Saving(() => this.#save(), (state) => this.#showSaving(state));
    this.#draft = draft;
    this.#build();
    this.#accept(draft);
    this.#recover();
    this.#watch();
  }

  // For the parts.
  edited() {
    remember(this.#draft.id, { version: this.#draft.version, parts: this.#values() });
    this.saving.changed();
  }

  check(id, text) {
    return send("POST", this.#at("/check"), { part_id: id, text });
  }

  say(text) {
    this.live.textContent = text;
  }

  act(action, part, passages = []) {
    const { version } = this.#draft;
    const acts = {
      regenerate: () => this.#rewrite(part, {}),
      use: () => this.#rewrite(part, { passage_ids: passages }),
      remove: () => this.#remove(part),
      case: () => download(this.#at("/case"), { version, part_id: part.id }),
      propose: async () => {
        const proposal = await send("POST", this.#at("/proposals"), { version, part_id: part.id });
        showProposal(proposal, (language) => address(`proposals/${encodeURIComponent(proposal.id)}/${language}.md`));
      },
    };
    return this.#attempt(acts[action]);
  }

  // The letter is left for good; what was typed is saved first.
  close() {
    this.away.abort();
    clearInterval(this.looking);
    return this.saving.flush().catch(() => {}).then(() => this.saving.stop());
  }

  #at(path = "") {
    return `${this.path}${path}?${new URLSearchParams({ agent_language: this.agent.language })}`;
  }

  #build() {
    const back = make("a.back", { href: pageOf("") }, word("all_drafts"));
    back.addEventListener("click", (event) => {
      event.preventDefault();
      this.leave();
    });
    this.title.textContent = `${word("reply")} · ${languageName(this.#draft.language)}`;
    this.state = make("span.state", {});
    this.saved = make("p.saved", { role: "status" });
    this.problem = make("p.problem", { role: "alert", hidden: true });
    this.earlier = make("button.quiet", { type: "button", onclick: () => this.#attempt(() => this.#browse()) }, word("versions"));
    this.live = make("p.unseen", { role: "status" });
    this.reads = languageChoice("reads", this.agent.language);
    this.reads.addEventListener("change", () => this.#attempt(() => this.#read(this.reads.value)));
    this.tones = make("div", {});
    this.counts = make("p.counts", {});
    this.choices = make("div.choices", {}, this.tones, field(word("i_read"), this.reads));
    this.buttons = make("div.buttons", {});
    this.letter = make("div.parts", {});
    const columns = [make("h2", {}, word("reply")), this.besides = make("h2", {})];
    this.element = make("div.draft", {},
      make("div.head", {}, make("div.titles", {}, back, this.state, this.saved, this.earlier), this.problem, this.live),
      showMessage(this.#draft), this.choices,
      make("div.sheet", {}, make("div.columns", {}, ...columns), this.letter),
      make("div.bar", {}, this.counts, this.buttons));
  }

  #accept(draft, sent = null) {
    const known = new Map(sent?.map(({ id, text }) => [id, text]));
    this.#draft = draft;
    this.#base = new Map(draft.parts.map(({ id, text }) => [id, text]));
    const parts = new Map();
    for (const part of draft.parts) {
      const old = this.#parts.get(part.id);
      const shown = old && old.kind === part.kind ? old : new Part(this, part);
      shown.update(part, shown === old && known.has(part.id) && old.text.text !== known.get(part.id));
      parts.set(part.id, shown);
    }
    const isSame = [...parts.values()].every((part, at) => this.letter.children[at] === part.element);
    this.#parts = parts;
    if (!isSame || parts.size !== this.letter.children.length) this.letter.replaceChildren(...[...parts.values()].map(({ element }) => element));
    this.#showHead();
  }

  #showHead() {
    const { tone, state, open_gaps, unsupported, agent_language } = this.#draft;
    const isOpen = state === "open";
    const chip = (name, count) => make("span.chip.gap", {}, word(name, { count }));
    this.state.replaceChildren(...(isOpen ? [] : [stateOf(this.#draft)]));
    this.counts.replaceChildren(...(isOpen && open_gaps ? [chip("open_gaps", open_gaps)] : []), ...(isOpen && unsupported ? [chip("unsupported_count", unsupported)] : []));
    this.besides.textContent = `${word("rests_on")} · ${languageName(agent_language)}`;
    const button = (name, text, act) => make(name, { type: "button", onclick: () => this.#attempt(act) }, word(text));
    const tones = toneChoice(tone, (chosen) => this.#attempt(() => this.#rewrite(this.#parts.get("greeting"), { tone: chosen })));
    tones.disabled = !isOpen;
    if (tone !== this.tones.dataset.tone || tones.disabled) this.tones.replaceChildren(tones);
    this.tones.dataset.tone = tone;
    if (this.buttons.dataset.state === state) return;
    this.buttons.dataset.state = state;
    this.buttons.replaceChildren(
      button("button.quiet", "copy_text", () => this.#copy("text")),
      button("button.quiet", "copy_html", () => this.#copy("html")),
      ...(isOpen ? [button("button.quiet", "reject", () => this.#end("rejected")), button("button", "mark_sent", () => this.#end("sent"))] : []),
    );
  }

  #showSaving(state) {
    this.saved.dataset.state = state;
    this.saved.textContent = word(state);
    if (state === "saved") forget(this.#draft.id);
  }

  async #attempt(act) {
    this.problem.hidden = true;
    try {
      await this.saving.flush();
      await act();
    } catch (error) {
      const { current } = error.body ?? {};
      if (current) this.#accept(current);
      this.problem.hidden = false;
      this.problem.textContent = current ? word("conflict", { name: current.changed_by }) : error.message;
    }
  }

  #values() {
    return [...this.#parts.values()].map(({ value }) => value);
  }

  async #save() {
    for (let parts = this.#values(), round = 0; ; round += 1) {
      try {
        const { version } = this.#draft;
        return this.#accept(await send("PUT", this.#at(), { version, parts }), parts);
      } catch (error) {
        if (!error.body?.current || round > 4) throw error;
        parts = await this.#reconcile(error.body.current, parts);
        if (!parts) return;
      }
    }
  }

  // Another agent saved first: both letters become one; where both changed a paragraph, the agent chooses. Gives the parts
  // to save, or null where the draft was closed meanwhile: then one's own words are shown to be copied.
  async #reconcile(current, mine) {
    const { parts, clashes } = merge(this.#base, mine, current.parts);
    if (current.state !== "open") {
      const own = mine.filter(({ id, text }) => text !== this.#base.get(id)).map(({ text }) => text);
      this.#accept(current);
      await showText(word("conflict", { name: current.changed_by }), own.join("\n\n"));
      return null;
    }
    const name = (id) => this.#parts.get(id)?.text.area.ariaLabel ?? word("paragraph", { number: current.parts.find((part) => part.id === id)?.question });
    let chosen = {};
    if (clashes.length) chosen = await settle(current, clashes.map((clash) => ({ ...clash, name: name(clash.id) })));
    if (!chosen) throw new Error(word("conflict", { name: current.changed_by }));
    const settled = parts.map(({ id, text }) => ({ id, text: chosen[id] ?? text }));
    const texts = new Map(settled.map(({ id, text }) => [id, text]));
    this.#accept({ ...current, parts: current.parts.filter(({ id }) => texts.has(id)).map((part) => ({ ...part, text: texts.get(part.id) })) }, mine);
    this.#base = new Map(current.parts.map(({ id, text }) => [id, text]));
    this.say(word("changed_too", { name: current.changed_by }));
    return settled;
  }

  async #rewrite(part, given) {
    const { version } = this.#draft;
    this.#accept(await send("POST", this.#at(`/parts/${encodeURIComponent(part.id)}/regenerate`), { version, ...given }));
    this.#parts.get(part.id)?.text.area.focus();
  }

  async #remove(part) {
    const parts = this.#values().filter(({ id }) => id !== part.id);
    this.#accept(await send("PUT", this.#at(), { version: this.#draft.version, parts }));
    this.title.focus();
  }

  async #read(language) {
    this.agent.language = language;
    this.#accept(await get(this.#at()));
  }

  async #copy(kind) {
    await copyLetter(kind, get(`${this.path}/copy?sources=false`));
    this.say(word("copied"));
    this.saved.textContent = word("copied");
  }

  async #browse() {
    const version = await browse(this.#draft, await get(`${this.path}/versions`));
    if (!version) return;
    const old = await get(`${this.path}/versions/${version}`);
    const parts = old.parts.map(({ id, text }) => ({ id, text }));
    this.#accept(await send("PUT", this.#at(), { version: this.#draft.version, parts }));
  }

  async #end(how) {
    const doubts = [...this.#parts.values()].flatMap((part) => part.doubts());
    if (how === "sent" && doubts.length && !(await confirm(word("send_anyway"), doubts, word("mark_sent")))) return;
    this.#accept(await send("POST", this.#at(`/${how}`), { version: this.#draft.version, confirm: Boolean(doubts.length) }));
    this.title.focus();
  }

  #recover() {
    const kept = recall(this.#draft.id);
    const isLost = kept?.parts?.some(({ id, text }) => this.#base.has(id) && this.#base.get(id) !== text);
    if (!isLost || this.#draft.state !== "open") return;
    if (kept.version !== this.#draft.version) this.#base = new Map();
    this.#draft = { ...this.#draft, version: kept.version };
    for (const { id, text } of kept.parts) if (this.#parts.has(id)) this.#parts.get(id).text.text = text;
    this.saving.changed();
  }

  #watch() {
    this.away = new AbortController();
    const { signal } = this.away;
    const leaving = () => document.visibilityState === "hidden" && this.saving.flush().catch(() => {});
    document.addEventListener("visibilitychange", leaving, { signal });
    addEventListener("beforeunload", (event) => this.saving.isFailing && event.preventDefault(), { signal });
    addEventListener("pagehide", () => this.saving.flush().catch(() => {}), { signal });
    addEventListener("focus", () => this.#look(), { signal });
    this.looking = setInterval(() => this.#look(), LOOK_MS);
  }

  async #look() {
    if (document.visibilityState === "hidden" || !this.saving.isDone) return;
    const { version } = this.#draft;
    const found = await get(this.#at()).catch(() => null);
    if (!found || found.version <= version || this.#draft.version !== version || !this.saving.isDone) return;
    this.#accept(found);
    this.say(word("changed_too", { name: found.changed_by }));
  }
}
