// Two agents' letters made one, paragraph by paragraph, where they don't touch the same words.

// `base` maps part ids to the text both began with; `mine` and `theirs` are [{id, text}]. Gives the merged parts in
// their order, and the clashes {id, mine, theirs} for which `texts` still holds theirs; "" stands for a removed part.
export function merge(base, mine, theirs) {
  const own = new Map(mine.map(({ id, text }) => [id, text]));
  const clashes = [];
  const parts = [];
  for (const { id, text } of theirs) {
    const kept = own.get(id) ?? "";
    const isMine = kept !== base.get(id);
    if (isMine && text !== base.get(id) && kept !== text) clashes.push({ id, mine: kept, theirs: text });
    if (!isMine || text !== base.get(id) || own.has(id)) parts.push({ id, text: isMine && text === base.get(id) ? kept : text });
  }
  const theirIds = new Set(theirs.map(({ id }) => id));
  for (const { id, text } of mine) {
    if (!theirIds.has(id) && text !== base.get(id)) clashes.push({ id, mine: text, theirs: "" });
  }
  return { parts, clashes };
}
