// Text into nodes: the server's sanitised HTML, pieces of Markdown as they stream in, and elements by hand.
// Nothing here parses HTML with the browser: only what is listed becomes an element, everything else stays text.

const TAGS = new Set(["div", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "code", "br", "sup", "a"]);
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", "#39": "'" };
const TOKEN = /<(\/?)([a-z]+)((?:\s[a-z]+="[^"]*")*)\s*\/?>|([^<]+|<)/g;
const ATTRIBUTE = /([a-z]+)="([^"]*)"/g;

export const isWeb = (address) => /^https?:\/\/[^/]/i.test(address);

// make("button.tool", { type: "button", onclick }, child, "text") is an element with classes, properties and children.
export function make(what, properties = {}, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag);
  element.classList.add(...classes);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element && !name.includes("-")) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const shape = svg.appendChild(document.createElementNS(space, "path"));
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", path);
  return svg;
}

export const plain = (text) => text.replace(/\[\d{1,4}\](?!\()/g, "").replace(/\\([!-/:-@[-`{-~])/g, "$1");

const decode = (text) => text.replace(/&(#39|[a-z]+);/g, (all, name) => ENTITIES[name] ?? all);

// `cite(n)` gives the element that stands for marker n.
export function fromHtml(html, cite) {
  const top = document.createDocumentFragment();
  const open = [[top, ""]];
  for (const [, closing, tag, attributes, text] of html.matchAll(TOKEN)) {
    const parent = open.at(-1)[0];
    if (text) parent.append(decode(text));
    else if (closing) {
      if (open.length > 1 && open.at(-1)[1] === tag) open.pop();
    } else if (TAGS.has(tag)) {
      const given = Object.fromEntries([...attributes.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, decode(value)]));
      const marker = /^#cite-(\d+)$/.exec(given.href);
      const element = marker ? cite(marker[1]) : make(tag);
      for (const name of ["lang", "dir", "start"]) if (given[name]) element.setAttribute(name, given[name]);
      if (tag === "a" && !marker && isWeb(given.href)) Object.assign(element, { href: given.href, target: "_blank", rel: "noopener noreferrer" });
      if (tag === "table") element.tabIndex = 0; // it may scroll
      parent.append(element);
      if (tag !== "br") open.push([marker ? document.createDocumentFragment() : element, tag]);
    }
  }
  quieten(top);
  return top;
}

// Shows pieces as they come: paragraphs, list items, markers. The server's HTML replaces them in the end.
export function writer(box, cite) {
  let block = null;
  const open = (parent, name) => parent.appendChild(document.createElement(name));
  return (piece) => {
    for (const part of piece.split(/(\n\n|(?:^|\n)- |\[\d+\])/)) {
      const marker = /^\[(\d+)\]$/.exec(part);
      if (part === "\n\n") block = null;
      else if (/^\n?- $/.test(part)) block = open(block?.tagName === "LI" ? block.parentElement : open(box, "ul"), "li");
      else if (part) {
        block ??= open(box, "p");
        if (marker) open(block, "sup").append(cite(marker[1]));
        else block.append(plain(part));
      }
    }
    quieten(box);
  };
}

// Of equal markers in a row within a block, the last speaks for all.
function quieten(box) {
  for (const block of box.querySelectorAll("p, li")) {
    const markers = [...block.querySelectorAll("sup")];
    markers.forEach((marker, at) => (marker.hidden = markers[at + 1]?.textContent === marker.textContent));
  }
}
