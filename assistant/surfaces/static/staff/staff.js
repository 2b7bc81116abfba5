// What all staff pages share: asking the server for something, its labels, signing out.

const HEADER = "X-Request-Token";

// Texts that the server gave this page's scripts.
export const labels = JSON.parse(document.getElementById("main").dataset.labels);

export class CallFailed extends Error {
  constructor(status, sentence, body) {
    super(sentence);
    this.status = status;
    this.body = body;
  }
}

// The server's response; CallFailed with what is to be shown where it refuses. Whoever is signed out meanwhile keeps the
// page with what was typed, and is told. `keepalive` has the browser finish a small request of a page that is closed.
export async function request(path, { method = "GET", body, signal, keepalive = false } = {}) {
  const headers = { Accept: "application/json", "Content-Type": "application/json" };
  if (method !== "GET") headers[HEADER] = document.querySelector('meta[name="request-token"]').content;
  const sent = method === "GET" ? undefined : JSON.stringify(body ?? {});
  const response = await fetch(path, { method, headers, body: sent, signal, keepalive, credentials: "same-origin" }).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new CallFailed(0, labels.error_network);
  });
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  const sentence = response.status === 401 ? labels.signed_out : answer.error ?? labels.error_generic;
  throw new CallFailed(response.status, sentence, answer);
}

// The JSON that the server answers with; see `request`.
export const call = async (path, options) => (await request(path, options)).json().catch(() => ({}));

const button = document.getElementById("sign-out");
button?.addEventListener("click", async () => {
  button.disabled = true;
  const { next } = await call("/api/v1/staff/sign-out", { method: "POST" }).catch(() => ({ next: "/staff/sign-in" }));
  location.assign(next);
});

document.querySelector(".pages [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
