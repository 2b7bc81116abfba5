// What the customer wrote, with the questions that were found in it.

import { word } from "./draft_words.js";
import { make } from "./markup.js";

export function showMessage({ message, questions, language, direction }) {
  const signs = [...message]; // the questions' places count characters, not UTF-16 units
  const words = make("div.words", { lang: language, dir: direction, tabIndex: 0, role: "region", "aria-label": word("customer_wrote") });
  let from = 0;
  for (const { number, same_as, start, end } of questions.toSorted((one, other) => one.start - other.start)) {
    if (start < from || end <= start) continue;
    const mark = make("mark", {}, make("span.number", {}, String(same_as || number)), signs.slice(start, end).join(""));
    words.append(signs.slice(from, start).join(""), mark);
    from = end;
  }
  words.append(signs.slice(from).join(""));
  const isWide = matchMedia("(min-width: 60rem)").matches;
  return make("details.message", { open: isWide }, make("summary", {}, word("customer_wrote")), words);
}
