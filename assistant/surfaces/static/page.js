// The page at `/`: sends a question, shows the answer as it comes, opens its sources.
// Text enters the page as textContent; the only HTML inserted is the server's sanitised `html`.

const RETRY_LIMIT_MS = 90_000;
const find = (name) => document.getElementById(name);
const thread = find("thread");
const message = find("message");
const send = find("send");
const problem = find("problem");
const limit = Number(document.body.dataset.limit);
const state = { conversation: "", busy: false, asked: 0, labels: {} };

class Refused extends Error {}

const pageLanguage = () => document.documentElement.lang;
const label = (name) => state.labels[name] ?? "";

// Labels

async function readLabels(language) {
  const response = await fetch(`/api/v1/interface?language=${encodeURIComponent(language)}`);
  if (!response.ok) return;
  const found = await response.json();
  state.labels = found.labels;
  document.documentElement.lang = found.language;
  document.documentElement.dir = found.direction;
  document.title = label("page_title");
  for (const element of document.querySelectorAll("[data-label]")) {
    element.textContent = label(element.dataset.label);
  }
  message.placeholder = label("message_placeholder");
  for (const heading of document.querySelectorAll(".sources h3")) heading.textContent = label("sources");
  for (const tag of document.querySelectorAll(".tag")) tag.textContent = languageName(tag.dataset.language);
  checkLength();
}

async function readSamples(language) {
  const list = find("samples");
  const response = await fetch(`/api/v1/suggestions?language=${encodeURIComponent(language)}`).catch(() => null);
  if (response?.status === 503 && !state.asked) {
    setTimeout(() => language === pageLanguage() && readSamples(language), 1500); // still loading
    return;
  }
  list.replaceChildren(...(response?.ok ? questionButtons(await response.json()) : []));
}

function questionButtons(questions) {
  return questions.map((question) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.dir = "auto";
    button.textContent = question;
    button.addEventListener("click", () => ask(question));
    item.append(button);
    return item;
  });
}

function languageName(code) {
  try {
    return new Intl.DisplayNames([pageLanguage()], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

// Asking

async function ask(text) {
  if (state.busy || !text.trim()) return;
  state.busy = true;
  send.setAttribute("aria-disabled", "true");
  find("welcome").classList.add("past");
  const exchange = startExchange(text);
  try {
    await receive(await request(text), exchange);
  } catch (error) {
    exchange.fail(label(error instanceof Refused ? "error_generic" : "error_network"));
    message.value ||= text;
  } finally {
    exchange.end();
    state.busy = false;
    checkLength();
  }
}

async function request(text) {
  const body = { message: text, page_language: pageLanguage() };
  if (state.conversation) body.conversation_id = state.conversation;
  const started = performance.now();
  for (;;) {
    const response = await fetch("/api/v1/chat", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
      body: JSON.stringify(body),
    });
    if (response.ok) return response;
    const wait = Number(response.headers.get("Retry-After")) * 1000;
    if (response.status !== 503 || !wait || performance.now() - started > RETRY_LIMIT_MS) throw new Refused();
    await new Promise((resolve) => setTimeout(resolve, wait)); // the server is still loading, or has its hands full
  }
}

async function receive(response, exchange) {
  let complete = false;
  for await (const [name, data] of events(response.body)) {
    if (name === "sentence") exchange.add(data);
    if (name === "error") throw new Refused();
    if (name === "answer") {
      complete = true;
      state.conversation = data.conversation_id;
      exchange.finish(data);
    }
  }
  if (!complete) throw new TypeError("the stream broke off");
}

async function* events(stream) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (waiting + value).split("\n\n");
    waiting = frames.pop();
    for (const frame of frames) {
      const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: ?(.*)/s)));
      if (fields.event && fields.data) yield [fields.event, JSON.parse(fields.data)];
    }
  }
}

// One exchange: a question and its reply

function startExchange(question) {
  const number = ++state.asked;
  const article = find("exchange").content.cloneNode(true).firstElementChild;
  const part = (name) => article.querySelector(name);
  const text = part(".text");
  const working = part(".working");
  article.setAttribute("aria-busy", "true");
  part(".question").textContent = question;
  part(".words").textContent = label("working");
  part(".sources h3").textContent = label("sources");
  thread.append(article);
  article.scrollIntoView({ block: "start", behavior: "smooth" });
  const write = writer(text, number);

  function cite(citations) {
    if (!citations.length) return;
    part(".sources").hidden = false;
    part(".sources ol").append(...citations.map((citation) => source(citation, number)));
  }

  return {
    add({ text: piece, citations }) {
      working.hidden = true;
      cite(citations);
      write(piece);
    },
    finish(answer) {
      article.dataset.outcome = answer.outcome;
      text.innerHTML = answer.html; // sanitised by the server
      for (const link of text.querySelectorAll('a[href^="#cite-"]')) aim(link, number, link.textContent);
      quieten(text);
      part(".sources ol").replaceChildren();
      cite(answer.citations);
      const suggestions = part(".suggestions");
      suggestions.hidden = !answer.suggestions.length;
      suggestions.append(...questionButtons(answer.suggestions));
    },
    fail(sentence) {
      article.dataset.outcome = "error";
      text.textContent = sentence;
      part(".sources").hidden = true;
    },
    end() {
      working.hidden = true;
      article.removeAttribute("aria-busy");
    },
  };
}

// Shows pieces of Markdown as they come: paragraphs, list items, markers. The server's HTML replaces it in the end.
function writer(box, number) {
  let block = null;
  const open = (parent, name) => parent.appendChild(document.createElement(name));
  return (piece) => {
    for (const part of piece.split(/(\n\n|(?:^|\n)- |\[\d+\])/)) {
      if (!part) continue;
      if (part === "\n\n") block = null;
      else if (/^\n?- $/.test(part)) {
        const list = block?.parentElement?.tagName === "UL" ? block.parentElement : open(box, "ul");
        block = open(list, "li");
      } else {
        block ??= open(box, "p");
        if (/^\[\d+\]$/.test(part)) {
          aim(open(open(block, "sup"), "a"), number, part.slice(1, -1));
        } else {
          block.append(part.replace(/\\([!-/:-@[-`{-~])/g, "$1"));
        }
      }
    }
  };
}

// Makes a link the marker of citation `n` of one exchange: several answers on the page have a citation 1.
function aim(link, exchange, n) {
  link.textContent = n;
  link.href = `#cite-${exchange}-${n}`;
  link.setAttribute("aria-label", `${label("sources")} ${n}`);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const details = find(`cite-${exchange}-${n}`)?.querySelector("details");
    if (!details) return;
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
    details.scrollIntoView({ block: "nearest", behavior: "smooth" });
  });
}

// Of markers that repeat within a block, the last speaks for all.
function quieten(text) {
  for (const block of text.querySelectorAll("p, li")) {
    const markers = [...block.querySelectorAll("sup")];
    markers.forEach((marker, at) => {
      marker.hidden = markers[at + 1]?.textContent === marker.textContent;
    });
  }
}

function source(citation, exchange) {
  const item = find("source").content.cloneNode(true).firstElementChild;
  const part = (name) => item.querySelector(name);
  item.id = `cite-${exchange}-${citation.n}`;
  part(".number").textContent = citation.n;
  part(".tag").dataset.language = citation.language;
  part(".tag").textContent = languageName(citation.language);
  part(".title").textContent = citation.title;
  if (citation.heading) part(".heading").textContent = citation.heading;
  else part(".heading").remove();
  part(".place").lang = part("blockquote").lang = citation.language;
  part(".place").dir = "auto";
  part("blockquote").textContent = citation.quote;
  const link = part(".link");
  if (/^https?:\/\//i.test(citation.url)) {
    link.href = citation.url;
    link.textContent = citation.url.replace(/^https?:\/\//i, "");
  } else link.remove();
  return item;
}

// The form

function checkLength() {
  const isTooLong = [...message.value].length > limit;
  const number = new Intl.NumberFormat(pageLanguage()).format(limit);
  problem.textContent = isTooLong ? label("too_long").replace("{limit}", number) : "";
  send.setAttribute("aria-disabled", String(state.busy || isTooLong || !message.value.trim()));
  return !isTooLong;
}

find("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = message.value;
  if (state.busy || !text.trim() || !checkLength()) return;
  message.value = "";
  ask(text);
});

message.addEventListener("input", checkLength);
message.addEventListener("keydown", (event) => {
  const isComposing = event.isComposing || event.keyCode === 229; // Enter that chooses a word of an input method
  if (event.key !== "Enter" || event.shiftKey || isComposing) return;
  event.preventDefault();
  find("ask").requestSubmit();
});

find("language").addEventListener("change", async (event) => {
  const language = event.target.value;
  history.replaceState(null, "", `?language=${encodeURIComponent(language)}`);
  await readLabels(language);
  await readSamples(language);
});

await readLabels(pageLanguage());
await readSamples(pageLanguage());
if (matchMedia("(hover: hover)").matches) message.focus();
