// The page Gaps: a button begins a draft with its topic's question, and leads there.

import { call, labels } from "./staff.js";

const problem = document.getElementById("problem");

for (const button of document.querySelectorAll("button.draft")) {
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.textContent = "";
    try {
      const body = { message: button.dataset.question, language: button.dataset.language, agent_language: document.documentElement.lang };
      const { id } = await call("/api/v1/staff/drafts", { method: "POST", body });
      location.assign(`/staff/drafts?${new URLSearchParams({ draft: id })}`);
    } catch (error) {
      problem.textContent = `${labels.failed} ${error.message}`;
      problem.scrollIntoView({ block: "nearest" });
      button.disabled = false;
    }
  });
}
