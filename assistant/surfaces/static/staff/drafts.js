// The drafts page: the list with the box to paste into, or one draft, as the address says.

import { get, pageOf } from "./draft_api.js";
import { DraftView } from "./draft_view.js";
import { Start } from "./draft_start.js";
import { own, word } from "./draft_words.js";
import { make } from "./markup.js";

const root = document.getElementById("drafts");
const heading = document.querySelector("main > h1");
const title = heading.textContent;
const KEY = "staff-reads";

// The language the agent reads, remembered in this browser where it may be.
const agent = {
  get language() {
    try {
      return localStorage.getItem(KEY) ?? own;
    } catch {
      return own;
    }
  },
  set language(code) {
    try {
      localStorage.setItem(KEY, code);
    } catch {} // storage is blocked
  },
};

let view = null;
heading.tabIndex = -1;

function go(id) {
  history.pushState(null, "", pageOf(id));
  show(true);
}

async function show(isMoved) {
  const id = new URLSearchParams(location.search).get("draft");
  await view?.close();
  view = null;
  try {
    if (id) {
      const draft = await get(`drafts/${encodeURIComponent(id)}?${new URLSearchParams({ agent_language: agent.language })}`);
      view = new DraftView(draft, heading, agent, () => go(""));
      root.replaceChildren(view.element);
    } else {
      const start = new Start(go, agent);
      heading.textContent = title;
      root.replaceChildren(start.element);
      await start.load();
    }
  } catch (error) {
    const again = make("a.back", { href: pageOf("") }, word("all_drafts"));
    const problem = make("p.problem", { role: "alert" }, error.message);
    if (id) root.replaceChildren(again, problem);
    else root.append(problem);
  }
  if (isMoved) heading.focus();
}

addEventListener("popstate", () => show(true));
show(false);
