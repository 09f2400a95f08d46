// What the first page that a visitor opens needs: its one figure, in a third of the whole weight.
import { mount } from "./stage/stage.js";
import { whenRead } from "./stage/ready.js";
import { usual } from "./explorers/usual.js";

export const explorers = { usual };

/** Bring the figures to life that are not alive yet. */
export function start() {
  document
    .querySelectorAll(".informed-computed[data-explorer]")
    .forEach((root) => mount(root, explorers[root.dataset.explorer]));
}

/** Start when the page has been read. */
export function begin() {
  whenRead(start);
}
