// One question on its way: sent once, its events read, taken up again where the line broke off.
// The server knows a question by its id, so asking again after a break never asks twice.

const SILENCE_MS = 16_000; // the server sends a sign of life every five seconds
const PATIENCE_MS = 90_000; // without any progress
const LONGEST_DELAY_MS = 8_000;

export class Refused extends Error {
  constructor(status, sentence, seconds = 0) {
    super(sentence);
    Object.assign(this, { status, seconds });
  }
}

export async function readJson(url, options) {
  const response = await fetch(url, { credentials: "omit", ...options });
  const data = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, data.error, Number(response.headers.get("Retry-After")));
  return data;
}

export const sendJson = (url, body) =>
  readJson(url, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

// Yields [id, name, data]; an id of 1 begins the reply anew. `notice` gets "", "reconnecting" or "offline".
export async function* ask(url, body, signal, notice) {
  let seen = 0, pause = 500, progress = performance.now();
  for (;;) {
    try {
      const response = await send(url, body, seen, signal);
      for await (const [id, name, data] of events(response.body, signal)) {
        [pause, progress] = [500, performance.now()];
        notice("");
        if (name === "moved") break; // this server process ends; another goes on
        if (id > 1 && id <= seen) continue;
        seen = id;
        yield [id, name, data];
        if (name === "answer" || name === "error") return;
      }
    } catch (error) {
      const isLoading = error.status === 503 && error.seconds;
      if (signal.aborted || (error instanceof Refused && !isLoading)) throw error;
      if (isLoading) pause = error.seconds * 1000;
      else notice(navigator.onLine ? "reconnecting" : "offline");
    }
    if (performance.now() - progress > PATIENCE_MS && navigator.onLine) throw new TypeError("the server can't be reached");
    await calm(pause, signal);
    pause = Math.min(pause * 2, LONGEST_DELAY_MS);
  }
}

async function send(url, body, seen, signal) {
  const headers = { "Content-Type": "application/json", Accept: "text/event-stream" };
  if (seen) headers["Last-Event-ID"] = String(seen);
  const response = await fetch(url, { method: "POST", credentials: "omit", headers, body: JSON.stringify(body), signal });
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new Refused(response.status, error, Number(response.headers.get("Retry-After")));
}

// Waits, and no longer than until the line is back.
function calm(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    addEventListener("online", resolve, { once: true, signal });
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason)), { once: true });
  });
}

// One decoder for the whole stream: a character may arrive in two pieces.
export async function* events(stream, signal) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let waiting = "";
  try {
    for (;;) {
      const { value, done } = await soon(reader.read());
      if (done) return;
      const frames = (waiting + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
      waiting = frames.pop();
      for (const frame of frames) {
        const fields = Object.fromEntries(frame.split(/\r?\n/).map((line) => line.split(/: ?(.*)/s)));
        if (fields.event && fields.data) yield [Number(fields.id), fields.event, JSON.parse(fields.data)];
      }
    }
  } finally {
    if (!signal.aborted) reader.cancel().catch(() => {});
  }
}

function soon(promise) {
  let timer;
  const silence = new Promise((_, reject) => (timer = setTimeout(() => reject(new TypeError("silence")), SILENCE_MS)));
  return Promise.race([promise, silence]).finally(() => clearTimeout(timer));
}
