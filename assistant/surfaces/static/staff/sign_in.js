// The sign-in form: sends the token, says in the page's language why it was refused, goes where the visitor wanted to.

import { call, labels } from "./staff.js";

const form = document.getElementById("sign-in");
const problem = document.getElementById("problem");
const button = form.querySelector("button");
const SAID = { 401: labels.wrong_token, 422: labels.wrong_token, 429: labels.locked_out };

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.textContent = "";
  button.disabled = true;
  try {
    const { next } = await call("/api/v1/staff/sign-in", { method: "POST", body: { token: form.token.value, next: form.next.value } });
    location.assign(next);
  } catch (error) {
    problem.textContent = SAID[error.status] ?? error.message;
    form.token.setAttribute("aria-invalid", "true");
    form.token.select();
    button.disabled = false;
  }
});
