// What the reader should have seen stays folded until the explorer above it has been moved.
const EXPLORERS = ".informed-explorer, .informed-computed[data-explorer]";

/** Open a folded answer at the first move of the last explorer that stands before it. */
export function unfoldWhenMoved(answer) {
  const before = [...document.querySelectorAll(EXPLORERS)].filter(
    (each) => each.compareDocumentPosition(answer) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  before.at(-1)?.addEventListener("informed-moved", () => (answer.open = true), { once: true });
}
