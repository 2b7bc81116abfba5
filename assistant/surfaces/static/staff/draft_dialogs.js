// What is asked or shown in front of a draft: gaps before sending, two agents' texts, earlier versions, a proposal.

import { languageName, moment, word } from "./draft_words.js";
import { make } from "./markup.js";

// Shows a dialog; `fill(dialog, close)` gives its content. Resolves with what `close(value)` is given, else null.
export function converse(title, fill) {
  return new Promise((resolve) => {
    const name = `dialog-${Date.now()}`;
    const dialog = make("dialog", { "aria-labelledby": name });
    let answer = null;
    const close = (value) => {
      answer = value;
      dialog.close();
    };
    dialog.append(make("h2", { id: name }, title), ...fill(dialog, close));
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

const button = (name, text, onclick) => make(name, { type: "button", onclick }, text);
const row = (...buttons) => make("div.answers", {}, ...buttons);

export function confirm(title, lines, yes) {
  return converse(title, (_, close) => [
    make("ul.doubts", {}, ...lines.map(([text]) => make("li", { dir: "auto" }, text))),
    row(button("button.quiet", word("back_to_draft"), () => close(null)), button("button", yes, () => close(true))),
  ]);
}

// Text that the browser would not copy, selected.
export function showText(title, text) {
  return converse(title, (dialog, close) => {
    const area = make("textarea", { readOnly: true, rows: 10, value: text, dir: "auto", "aria-label": title });
    queueMicrotask(() => area.isConnected && area.select());
    return [area, row(button("button", word("close"), () => close(null)))];
  });
}

// Two agents changed the same paragraphs: `clashes` are {id, name, mine, theirs}. Resolves with {id: text} once one of
// both is chosen for each, else null.
export function settle(current, clashes) {
  return converse(word("conflict", { name: current.changed_by }), (_, close) => {
    const form = make("form.clashes", { method: "dialog" });
    const choice = (id, value, title, text) => {
      const radio = make("input", { type: "radio", name: id, value, required: true });
      const words = make("span.words", { lang: current.language, dir: current.direction }, text || "—");
      return make("label.choice", {}, make("span.label", {}, radio, title), words);
    };
    for (const { id, name, mine, theirs } of clashes) {
      const both = make("div.both", {}, choice(id, "theirs", word("theirs", { name: current.changed_by }), theirs), choice(id, "mine", word("mine"), mine));
      form.append(make("fieldset", {}, make("legend", {}, name), both));
    }
    form.append(row(make("button", {}, word("keep_chosen"))));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const chosen = new FormData(form);
      close(Object.fromEntries(clashes.map(({ id, mine, theirs }) => [id, chosen.get(id) === "mine" ? mine : theirs])));
    });
    return [make("p", {}, word("conflict_hint")), form];
  });
}

// Resolves with the number of a version to bring back, else null.
export function browse(draft, versions) {
  return converse(word("versions"), (_, close) => {
    const items = versions.map(({ version, changed_by, changed_at, what, text }) => {
      const isCurrent = version === draft.version;
      const head = make("summary", {}, make("span", {}, `${version} · ${word(`did_${what}`)}`), make("span.note", {}, `${changed_by} · ${moment(changed_at)}`));
      const letter = make("p.words", { lang: draft.language, dir: draft.direction }, text);
      const back = button("button.quiet", word("bring_back"), () => close(version));
      back.hidden = isCurrent || draft.state !== "open";
      return make("details.version", { name: "version", open: isCurrent }, head, letter, back);
    });
    return [make("div.versions", {}, ...items), row(button("button", word("close"), () => close(null)))];
  });
}

// `address(language)` is where the entry of a language is downloaded.
export function showProposal({ entries }, address) {
  return converse(word("proposal"), (_, close) => {
    const items = entries.map(({ language, is_missing, question, answer }) => {
      const title = make("h3", {}, languageName(language), ...(is_missing ? [make("span.missing", {}, word("missing"))] : []));
      if (is_missing) return make("li", {}, title);
      const text = make("div", { lang: language, dir: "auto" }, make("p.question", {}, question), make("p.words", {}, answer));
      return make("li", {}, title, text, make("a.download", { href: address(language), download: "" }, word("download")));
    });
    return [make("p", {}, word("proposal_hint")), make("ul.entries", {}, ...items), row(button("button", word("close"), () => close(null)))];
  });
}
