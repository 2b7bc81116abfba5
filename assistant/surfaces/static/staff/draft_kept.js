// What is not saved yet, kept in the tab: it survives a reload even while the server can't be reached.

const name = (id) => `staff-draft:${id}`;

// `letter` is {version, parts}.
export function remember(id, letter) {
  try {
    sessionStorage.setItem(name(id), JSON.stringify(letter));
  } catch {} // storage is blocked or full
}

export function recall(id) {
  try {
    return JSON.parse(sessionStorage.getItem(name(id)));
  } catch {
    return null; // storage is blocked
  }
}

export function forget(id) {
  try {
    sessionStorage.removeItem(name(id));
  } catch {} // storage is blocked
}
