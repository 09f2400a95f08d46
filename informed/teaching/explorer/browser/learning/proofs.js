// Proofs to put in order: graded by what each step needs, not by one order.
import { make, makeButton } from "../stage/stage.js";
import { keep, recall } from "./store.js";

export function openProof(root) {
  if ("moving" in root.dataset) return;
  root.dataset.moving = "";
  const { name, steps } = JSON.parse(root.querySelector("script").textContent);
  const list = root.querySelector("ol");
  const status = root.querySelector("[role='status']");
  const items = new Map([...list.children].map((item) => [item.dataset.step, item]));
  const order = () => [...list.children].map((item) => item.dataset.step);
  const letterOf = (item) => item.querySelector(".step").textContent.trim().slice(1, 2);

  const tell = (words) => (status.textContent = words);
  const move = (item, way) => {
    const other = way < 0 ? item.previousElementSibling : item.nextElementSibling;
    if (!other) return;
    if (way < 0) other.before(item);
    else other.after(item);
    settle();
    tell(`Now number ${order().indexOf(item.dataset.step) + 1} of ${items.size}.`);
  };
  const toggle = (item) => {
    const out = item.classList.toggle("out");
    item.querySelector(".leave").setAttribute("aria-pressed", out);
    settle();
    tell(out ? "Left out." : "Back in the proof.");
  };
  const settle = () => {
    root.classList.remove("right");
    keep("proofs", name, {
      right: false,
      order: order(),
      out: [...items].filter(([, item]) => item.classList.contains("out")).map(([key]) => key),
    });
  };

  for (const item of items.values()) {
    const buttons = make("span", { class: "moves" });
    const named = (words, label, act) => {
      const button = makeButton(words, act);
      button.setAttribute("aria-label", `${label} step ${letterOf(item)}`);
      return button;
    };
    const leave = named("leave out", "leave out", () => toggle(item));
    leave.classList.add("leave");
    leave.setAttribute("aria-pressed", "false");
    const up = named("↑", "move up", () => move(item, -1));
    const down = named("↓", "move down", () => move(item, 1));
    buttons.append(up, down, leave);
    item.append(buttons);
    buttons.addEventListener("keydown", (event) => {
      const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const focused = document.activeElement;
      move(item, way);
      focused.focus();
    });
  }

  const grade = () => {
    const inside = order().filter((key) => !items.get(key).classList.contains("out"));
    const wrong = findFault(inside, steps);
    root.classList.toggle("right", !wrong);
    for (const [key, item] of items) item.classList.toggle("fault", key === wrong?.step);
    tell(wrong ? wrong.words : "Right: every step rests on what stands before it.");
    keep("proofs", name, {
      right: !wrong,
      order: order(),
      out: [...items.keys()].filter((key) => !inside.includes(key)),
    });
  };
  root.querySelector(".actions").append(makeButton("Check the order", grade));

  const kept = recall().proofs?.[name];
  if (
    Array.isArray(kept?.order) &&
    kept.order.length === items.size &&
    kept.order.every((key) => items.has(key))
  ) {
    list.append(...kept.order.map((key) => items.get(key)));
    for (const key of kept.out ?? []) {
      items.get(key)?.classList.add("out");
      items.get(key)?.querySelector(".leave").setAttribute("aria-pressed", "true");
    }
    if (kept.right) grade();
  }
}

/** The first step that does not belong, is missing, or stands before what it needs; null if none. */
export function findFault(inside, steps) {
  const known = new Map(steps.map((step) => [step.key, step]));
  for (const key of inside) {
    if (known.get(key).wrong)
      return {
        step: key,
        words: `Number ${inside.indexOf(key) + 1} does not belong here: ${known.get(key).wrong}`,
      };
  }
  for (const [k, key] of inside.entries()) {
    const early = known.get(key).needs.find((need) => !inside.slice(0, k).includes(need));
    if (early !== undefined) {
      const words = inside.includes(early)
        ? `Number ${k + 1} uses something that is only shown later.`
        : `Number ${k + 1} uses something that is left out.`;
      return { step: key, words };
    }
  }
  const missing = steps.find((step) => !step.wrong && !inside.includes(step.key));
  return missing ? { step: missing.key, words: "A step that the proof needs is left out." } : null;
}
