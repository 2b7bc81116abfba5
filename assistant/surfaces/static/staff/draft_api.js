// The drafts' API.

import { call, request } from "./staff.js";

const BASE = "/api/v1/staff/";
const LONGEST_KEPT = 60_000; // bytes that browsers still send for a page that is being closed

export const address = (path) => `${BASE}${path}`;

// The page's own address for a draft, or for the list.
export function pageOf(id) {
  const query = new URLSearchParams(location.search);
  if (id) query.set("draft", id);
  else query.delete("draft");
  return `${location.pathname}?${query}`;
}

export const get = (path) => call(address(path));

export function send(method, path, body) {
  const keepalive = new Blob([JSON.stringify(body)]).size < LONGEST_KEPT;
  return call(address(path), { method, body, keepalive });
}

// Has the browser keep what the server answers as a file.
export async function download(path, body) {
  const response = await request(address(path), { method: "POST", body });
  const [, name] = /filename="?([^";]+)/.exec(response.headers.get("Content-Disposition") ?? "") ?? [];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name ?? "case.yaml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
