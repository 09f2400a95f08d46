// What every explorer that computes has in common: a state, handles to drag, controls, words, a link.
//
// A definition holds
//   title, help      what it is, and what can be done
//   start            the state at first: numbers, texts or lists of numbers
//   controls         sliders, choices and buttons beside the picture
//   compute(state)   the numbers; done once a change, not once a drawing
//   draw(width, state, model) → { height, picture, handles, marks }
//   describe(state, model)    → what is to be seen, in words
// A handle is dragged or moved by the arrow keys; a mark is pressed, and painted over if it says so.
import { escapeText, fontSize } from "./plot.js";

const SVG = "http://www.w3.org/2000/svg";
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
// The reader hears where a move ends, not each step on the way.
const PAUSE = 400;
const STILL_WIDTH = 640;

export function mount(root, definition) {
  if ("moving" in root.dataset) return;
  root.dataset.moving = "";
  new Stage(root, definition);
}

class Stage {
  constructor(root, definition) {
    this.root = root;
    this.definition = definition;
    this.state = { ...definition.start };
    this.build();
    this.readAddress();
    // For those who want the numbers: tests, and a curious reader at the console.
    root.explorer = this;
    this.change({});
    new ResizeObserver(() => this.schedule()).observe(this.figure);
    addEventListener("hashchange", () => this.readAddress() && this.change({}));
    const print = matchMedia("print");
    print.addEventListener("change", () => this.drawStill());
    addEventListener("beforeprint", () => this.drawStill());
  }

  build() {
    const { root, definition } = this;
    this.controls = make("div", { class: "controls" });
    this.shown = [];
    for (const control of definition.controls ?? []) this.addControl(control);
    // Not "figure": the book's theme gives those a margin, which would push the picture out of its box.
    this.figure = make("div", { class: "drawing" });
    this.svg = document.createElementNS(SVG, "svg");
    setAttributes(this.svg, {
      role: "group",
      "aria-label": definition.title,
      "font-size": fontSize,
    });
    this.back = document.createElementNS(SVG, "g");
    this.back.setAttribute("aria-hidden", "true"); // the words below say what it shows
    this.front = document.createElementNS(SVG, "g");
    this.svg.append(this.back, this.front);
    this.figure.append(this.svg);
    this.words = make("p", { class: "words" });
    this.status = make("span", { class: "unseen", role: "status", "aria-live": "polite" });
    const actions = make("div", { class: "actions" });
    for (const action of definition.actions ?? []) {
      actions.append(makeButton(action.label, () => this.act(action.act(this.state, this.model))));
    }
    actions.append(
      makeButton("Reset", () => this.act({ ...definition.start })),
      makeButton("Link to this state", () => this.link()),
    );
    this.still = make("div", { class: "still" });
    root.append(this.controls, this.figure, this.words, actions, this.status, this.still);
    this.pieces = new Map();
    this.listen();
  }

  addControl(control) {
    const id = `${this.root.id}-${control.name}`;
    const row = make("div", { class: "control" });
    const label = make("label", { for: id });
    label.textContent = control.label;
    let input;
    if (control.choices) {
      input = make("select", { id });
      for (const [value, text] of control.choices) {
        const option = make("option", { value });
        option.textContent = text;
        input.append(option);
      }
    } else {
      input = make("input", {
        id,
        type: "range",
        min: control.min,
        max: control.max,
        step: control.step ?? 1,
      });
    }
    input.autocomplete = "off";
    const value = make("span", { class: "value", "aria-hidden": "true" });
    input.addEventListener("input", () => {
      const chosen =
        typeof this.definition.start[control.name] === "string" ? input.value : Number(input.value);
      this.act(control.change ? control.change(chosen, this.state) : { [control.name]: chosen });
    });
    row.append(label, input, value);
    this.controls.append(row);
    this.shown.push((state) => {
      const now = state[control.name];
      const text = control.text ? control.text(now, state) : String(now);
      input.value = now;
      if (!control.choices) {
        value.textContent = text;
        input.setAttribute("aria-valuetext", text);
      }
    });
  }

  /** Take over new values, compute, and draw before the next frame. */
  change(values) {
    Object.assign(this.state, values);
    this.model = this.definition.compute(this.state);
    this.schedule();
    clearTimeout(this.pause);
    this.pause = setTimeout(() => {
      if (this.moved) this.status.textContent = this.words.textContent;
    }, PAUSE);
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      this.show();
    });
  }

  show() {
    const width = Math.floor(this.figure.clientWidth);
    if (!width) return;
    const {
      height,
      picture,
      handles = [],
      marks = [],
    } = this.definition.draw(width, this.state, this.model);
    setAttributes(this.svg, { width, height });
    this.back.innerHTML = picture;
    this.place(handles, marks);
    for (const show of this.shown) show(this.state);
    this.words.textContent = this.definition.describe(this.state, this.model);
  }

  /** Update the things to take hold of; they stay the same elements, so that none loses the focus. */
  place(handles, marks) {
    const kept = new Set();
    for (const piece of [
      ...handles.map((h) => ({ ...h, kind: "handle" })),
      ...marks.map((m) => ({ ...m, kind: "mark" })),
    ]) {
      kept.add(piece.name);
      let element = this.pieces.get(piece.name)?.element;
      if (!element) {
        element = document.createElementNS(SVG, "g");
        element.dataset.name = piece.name;
        element.setAttribute(
          "class",
          piece.kind === "handle" ? "handle" : piece.paint ? "press paint" : "press",
        );
        this.front.append(element);
      }
      this.pieces.set(piece.name, { ...piece, element });
      if (piece.kind === "handle") this.placeHandle(element, piece);
      else this.placeMark(element, piece, marks);
    }
    for (const [name, { element }] of this.pieces) {
      if (kept.has(name)) continue;
      element.remove();
      this.pieces.delete(name);
    }
  }

  placeHandle(element, { panel, x, y, label, text, style = "", range = panel.x, now = x }) {
    setAttributes(element, {
      role: "slider",
      tabindex: 0,
      transform: `translate(${panel.px(x)} ${panel.py(y)})`,
      "aria-label": label,
      "aria-valuemin": range[0],
      "aria-valuemax": range[1],
      "aria-valuenow": now,
      "aria-valuetext": text,
    });
    // Room for a finger around a small dot.
    const content = `<circle class="reach" r="18"/><circle class="knob ${style}" r="7"/>`;
    if (element.dataset.content !== content) {
      element.dataset.content = content;
      element.innerHTML = content;
    }
  }

  placeMark(element, mark, marks) {
    const { x, y, width, height, label, picture, pressed } = mark;
    // One stop for the tabulator; the arrows go from mark to mark.
    const current = marks.some((other) => other.name === this.current)
      ? this.current
      : marks[0].name;
    setAttributes(element, {
      role: "button",
      tabindex: mark.name === current ? 0 : -1,
      "aria-label": label,
    });
    if (pressed !== undefined) element.setAttribute("aria-pressed", pressed);
    const content = `<rect class="reach" x="${x}" y="${y}" width="${width}" height="${height}"/>${picture}`;
    if (element.dataset.content !== content) {
      element.dataset.content = content;
      element.innerHTML = content;
    }
  }

  listen() {
    const { svg } = this;
    const pieceOf = (target) => this.pieces.get(target.closest?.("[data-name]")?.dataset.name);
    const place = (event) => {
      const box = svg.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    let held = null;
    let painted = null;
    svg.addEventListener("pointerdown", (event) => {
      const piece = pieceOf(event.target);
      if (!piece || event.button) return;
      event.preventDefault();
      this.current = piece.kind === "mark" ? piece.name : this.current;
      piece.element.focus({ preventScroll: true });
      svg.setPointerCapture(event.pointerId);
      if (piece.kind === "handle") {
        const [px, py] = place(event);
        held = {
          name: piece.name,
          dx: piece.panel.px(piece.x) - px,
          dy: piece.panel.py(piece.y) - py,
        };
      } else {
        painted = new Set([piece.name]);
        this.act(piece.press(this.state, this.model));
      }
    });
    svg.addEventListener("pointermove", (event) => {
      const [px, py] = place(event);
      if (held) {
        const piece = this.pieces.get(held.name);
        this.act(piece.drag(...piece.panel.at(px + held.dx, py + held.dy), this.state));
      } else if (painted) {
        for (const piece of this.pieces.values()) {
          const inside =
            piece.paint &&
            px >= piece.x &&
            px <= piece.x + piece.width &&
            py >= piece.y &&
            py <= piece.y + piece.height;
          if (!inside || painted.has(piece.name)) continue;
          painted.add(piece.name);
          this.act(piece.press(this.state, this.model));
        }
      }
    });
    for (const end of ["pointerup", "pointercancel"]) {
      svg.addEventListener(end, () => ([held, painted] = [null, null]));
    }
    svg.addEventListener("keydown", (event) => {
      const piece = pieceOf(event.target);
      if (!piece || event.ctrlKey || event.metaKey || event.altKey) return;
      const done = piece.kind === "handle" ? this.nudge(piece, event) : this.press(piece, event);
      if (done) event.preventDefault();
    });
  }

  act(values) {
    this.moved = true;
    this.root.dispatchEvent(new CustomEvent("informed-moved"));
    this.change(values);
  }

  /** The arrow keys move a handle, with Shift five steps at once. */
  nudge(piece, event) {
    const way = KEYS[event.key];
    if (!way) return false;
    const size =
      (piece.step ?? (piece.panel.x[1] - piece.panel.x[0]) / 60) * (event.shiftKey ? 5 : 1);
    const [x, y] = [piece.x + way[0] * size, piece.y + way[1] * size];
    this.act(
      piece.keys
        ? piece.keys(way[0] || way[1], this.state, event.shiftKey ? 5 : 1)
        : piece.drag(...piece.panel.at(piece.panel.px(x), piece.panel.py(y)), this.state),
    );
    return true;
  }

  press(piece, event) {
    if (event.key === "Enter" || event.key === " ") {
      this.act(piece.press(this.state, this.model));
      return true;
    }
    if (piece.digit && /^[1-9]$/.test(event.key)) {
      const values = piece.digit(Number(event.key), this.state);
      if (values) this.act(values);
      return Boolean(values);
    }
    const names = [...this.pieces.values()]
      .filter((other) => other.kind === "mark")
      .map((other) => other.name);
    const way = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    let next = names.indexOf(piece.name) + (way ?? 0);
    if (event.key === "Home") next = 0;
    else if (event.key === "End") next = names.length - 1;
    else if (!way) return false;
    this.current = names[Math.min(names.length - 1, Math.max(0, next))];
    for (const name of names)
      this.pieces.get(name).element.setAttribute("tabindex", name === this.current ? 0 : -1);
    this.pieces.get(this.current).element.focus();
    return true;
  }

  /** The state as the end of an address: #name&a=4&s=2, without what is as at the start. */
  get fragment() {
    const changed = Object.entries(this.state).filter(
      ([key, value]) => String(value) !== String(this.definition.start[key]),
    );
    const parts = changed.map(([key, value]) => {
      const text = [value]
        .flat()
        .map((entry) => (typeof entry === "number" ? Number(entry.toPrecision(9)) : entry));
      return `${key}=${encodeURIComponent(text.join())}`;
    });
    return `#${[this.root.dataset.explorer, ...parts].join("&")}`;
  }

  link() {
    history.replaceState(null, "", this.fragment);
    const say = (words) => (this.status.textContent = this.words.textContent = words);
    const there = "The address of this page now leads to what you see";
    const copied = navigator.clipboard?.writeText(location.href) ?? Promise.reject(new Error());
    copied.then(
      () => say(`${there}; it is copied.`),
      () => say(`${there}.`),
    );
  }

  /** Take the state from the address, if it is meant for this explorer; unknown parts are ignored. */
  readAddress() {
    const [name, ...parts] = location.hash.slice(1).split("&");
    if (name !== this.root.dataset.explorer) return false;
    const { start, controls = [] } = this.definition;
    const values = { ...start };
    for (const part of parts) {
      const [key, text = ""] = part.split("=");
      if (!(key in start)) continue;
      const read = decoded(text);
      const list = Array.isArray(start[key]);
      const numbers = read.split(",").map(Number);
      if (typeof start[key] === "string") {
        const control = controls.find((other) => other.name === key);
        if (!control?.choices || control.choices.some(([value]) => value === read))
          values[key] = read;
      } else if (
        numbers.every(Number.isFinite) &&
        numbers.length === (list ? start[key].length : 1)
      ) {
        values[key] = list
          ? numbers
          : within(
              numbers[0],
              controls.find((other) => other.name === key),
            );
      }
    }
    this.state = this.definition.check ? this.definition.check(values) : values;
    this.root.scrollIntoView({ block: "center" });
    return true;
  }

  /** For print: the picture as it was at the start. */
  drawStill() {
    if (this.still.childElementCount) return;
    const state = { ...this.definition.start };
    const model = this.definition.compute(state);
    const {
      height,
      picture,
      handles = [],
      marks = [],
    } = this.definition.draw(STILL_WIDTH, state, model);
    const knobs = handles.map(
      ({ panel, x, y, style = "" }) =>
        `<circle class="knob ${style}" cx="${panel.px(x)}" cy="${panel.py(y)}" r="7"/>`,
    );
    this.still.innerHTML =
      `<svg viewBox="0 0 ${STILL_WIDTH} ${height}" font-size="${fontSize}" role="img" aria-label="${escapeText(this.definition.title)}">` +
      `${picture}${marks.map((mark) => mark.picture).join("")}${knobs.join("")}</svg>` +
      `<p class="words">${escapeText(this.definition.describe(state, model))}</p>`;
  }
}

/** Text of an address; what is not well formed stays as it is. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function within(value, control) {
  return control && "min" in control ? Math.min(control.max, Math.max(control.min, value)) : value;
}

export function make(tag, attributes = {}) {
  return setAttributes(document.createElement(tag), attributes);
}

export function makeButton(text, act) {
  const button = make("button", { type: "button" });
  button.textContent = text;
  button.addEventListener("click", act);
  return button;
}

export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
  return element;
}
