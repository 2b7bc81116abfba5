// The page's words, and how its language writes names of languages, times and shares.

import { labels } from "./staff.js";

const { dataset } = document.getElementById("drafts");
const STEPS = [["minute", 60], ["hour", 3600], ["day", 86_400]];

// {code: its own name} of every language that staff may read.
export const languages = JSON.parse(dataset.languages);
export const own = document.documentElement.lang;
export const isEditor = dataset.role === "editor";

export const word = (name, values = {}) => labels[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);

export function languageName(code) {
  try {
    return new Intl.DisplayNames([own], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

export const share = (value) => new Intl.NumberFormat(own, { style: "percent" }).format(value);

// `seconds` since 1970.
export function ago(seconds) {
  const since = Math.max(0, Date.now() / 1000 - seconds);
  const [unit, length] = STEPS.findLast(([, least]) => since >= least) ?? ["minute", 60];
  if (since >= 7 * 86_400) return new Intl.DateTimeFormat(own, { dateStyle: "medium" }).format(seconds * 1000);
  return new Intl.RelativeTimeFormat(own, { numeric: "auto" }).format(-Math.floor(since / length), unit);
}

export const moment = (seconds) => new Intl.DateTimeFormat(own, { dateStyle: "medium", timeStyle: "short" }).format(seconds * 1000);
