// The letter into the clipboard, as plain text or with its formatting.

import { showText } from "./draft_dialogs.js";
import { word } from "./draft_words.js";

const blob = (type, text) => new Blob([text], { type });

// `found` is a promise of {text, html}. Browsers give the clipboard only to a click that is not long past, so they get
// the promise itself; where they refuse, the text is shown selected.
export async function copyLetter(kind, found) {
  const items = { "text/plain": found.then(({ text }) => blob("text/plain", text)) };
  if (kind === "html") items["text/html"] = found.then(({ html }) => blob("text/html", html));
  try {
    await navigator.clipboard.write([new ClipboardItem(items)]);
  } catch {
    await showText(word("copy_failed"), (await found)[kind]);
  }
}
