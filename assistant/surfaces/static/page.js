// The help page: hands questions to the widget, shows in its own article what the widget cites, copies the tag.

const find = (name) => document.getElementById(name);
const article = find("article");
const copy = find("copy");

async function ask(question) {
  await customElements.whenDefined("faq-assistant");
  document.querySelector("faq-assistant").ask(question);
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const { value } = find("question");
  find("question").value = "";
  if (value.trim()) ask(value);
});

for (const button of document.querySelectorAll(".popular button")) {
  button.addEventListener("click", () => ask(button.textContent));
}

copy.addEventListener("click", async () => {
  const isCopied = await navigator.clipboard?.writeText(find("tag").textContent).then(() => true, () => false);
  if (isCopied) copy.textContent = copy.dataset.done;
  else getSelection().selectAllChildren(find("tag"));
});

// The article on this page is the one that is cited: its passage is shown here.
document.addEventListener("faq-assistant:source", (event) => {
  const { passage_id, quote, language } = event.detail;
  const [, name, anchor] = /^(?:.*\/)?([^/#]+)#(.+?)(?:\.\d+)?$/.exec(passage_id) ?? [];
  const heading = document.getElementById(anchor);
  if (name !== article.dataset.name || language !== article.lang || !article.contains(heading)) return;
  event.preventDefault();
  const range = locate(heading, quote);
  const shown = range?.startContainer.parentElement ?? heading;
  if (range && globalThis.Highlight) CSS.highlights.set("cited", new Highlight(range));
  shown.scrollIntoView({ block: "center" });
});

// The range of a quote in the section below a heading, found by its letters and digits alone.
function locate(heading, quote) {
  const letters = (text) => text.replace(/[^\p{L}\p{N}]/gu, "");
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  const places = [];
  walker.currentNode = heading;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (let at = 0; at < node.data.length; at++) if (letters(node.data[at])) places.push([node, at]);
  }
  const sought = letters(quote);
  const start = places.map(([node, at]) => node.data[at]).join("").indexOf(sought);
  if (start < 0 || !sought) return null;
  const [first, last] = [places[start], places[start + sought.length - 1]];
  const range = new Range();
  range.setStart(...first);
  range.setEnd(last[0], last[1] + 1);
  return range;
}
