// Text into nodes: the server's sanitised HTML, pieces of Markdown as they stream in, and elements by hand.
// Nothing here parses HTML with the browser: only what is listed becomes an element, everything else stays text.

const TAGS = new Set(["div", "p", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "code", "br", "sup", "a"]);
const ENTITIES = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0", "#39": "'" };
const TOKEN = /<(\/?)([a-z]+)((?:\s[a-z]+="[^"]*")*)\s*\/?>|([^<]+|<)/g;
const ICONS = {
  chat: "M4 4h12v9H9l-4 3.5V13H4z",
  close: "M5 5l10 10M15 5L5 15",
  copy: "M7.5 7.5h8.5V16H7.5zM4 12V4h8",
  down: "M6 11V4H3.5v7zM6 11l3.5 6c1.5 0 2-1 2-2l-.5-3h4.5l1-1-1.2-6.2L14 4H6",
  send: "M10 16V4M4.5 9.5L10 4l5.5 5.5",
  stop: "M6 6h8v8H6z",
  up: "M6 9v7H3.5V9zM6 9l3.5-6c1.5 0 2 1 2 2L11 8h4.5l1 1-1.2 6.2-1.3.8H6",
};
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

export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const shape = svg.appendChild(document.createElementNS(space, "path"));
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  shape.setAttribute("d", ICONS[name]);
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
