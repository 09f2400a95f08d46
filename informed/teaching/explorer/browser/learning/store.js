// What the reader did, kept on this device and nowhere else.

const KEY = "informed-progress";

/** All that is kept; nothing, if the browser keeps nothing for this page. */
export function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return kept && typeof kept === "object" ? kept : {};
  } catch {
    return {};
  }
}

/** Keep a value under a kind ("answers", "quizzes", "proofs") and a name; undefined forgets it. */
export function keep(kind, name, value) {
  const all = recall();
  all[kind] = { ...all[kind], [name]: value };
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // A browser that keeps nothing: the page works all the same, and forgets.
  }
}

export function forget() {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
}
