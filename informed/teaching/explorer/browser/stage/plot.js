// Pictures as SVG text: panels with axes, and what is drawn in them, in pixels of the screen.

const FONT = 12;

export function escapeText(text) {
  return String(text).replace(
    /[&<>"]/g,
    (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c],
  );
}

const round = (value) => Math.round(value * 100) / 100;

/** A rectangle of the picture with coordinates of its own. */
export class Panel {
  constructor(box, x, y, { equal = false } = {}) {
    Object.assign(this, box);
    [this.x, this.y] = [x, y];
    if (equal) {
      // The same length for one unit both ways: the range of one of them grows about its middle.
      const unit = Math.max((x[1] - x[0]) / this.width, (y[1] - y[0]) / this.height);
      const widen = ([low, high], size) => [
        (low + high - unit * size) / 2,
        (low + high + unit * size) / 2,
      ];
      this.x = widen(x, this.width);
      this.y = widen(y, this.height);
    }
  }

  px(x) {
    return round(this.left + ((x - this.x[0]) / (this.x[1] - this.x[0])) * this.width);
  }

  py(y) {
    return round(this.top + ((this.y[1] - y) / (this.y[1] - this.y[0])) * this.height);
  }

  /** From pixels back to coordinates, never outside the panel. */
  at(px, py) {
    const inside = (share) => Math.min(1, Math.max(0, share));
    const [x, y] = [inside((px - this.left) / this.width), inside((py - this.top) / this.height)];
    return [this.x[0] + x * (this.x[1] - this.x[0]), this.y[1] - y * (this.y[1] - this.y[0])];
  }

  /** Axes with ticks, title and labels. */
  axes({ title = "", xlabel = "", ylabel = "", xticks = null, yticks = null } = {}) {
    const { left, top, width, height } = this;
    const bottom = top + height;
    const parts = [`<path class="axis" d="M${left} ${top}V${bottom}H${left + width}"/>`];
    for (const tick of ticksOf(xticks, this.x)) {
      const at = this.px(tick.value);
      parts.push(
        `<path class="axis" d="M${at} ${bottom}v4"/>`,
        `<text class="tick" x="${at}" y="${bottom + 16}" text-anchor="middle">${escapeText(tick.text)}</text>`,
      );
    }
    for (const tick of ticksOf(yticks, this.y)) {
      const at = this.py(tick.value);
      parts.push(
        `<path class="axis" d="M${left} ${at}h-4"/>`,
        `<text class="tick" x="${left - 7}" y="${at + 4}" text-anchor="end">${escapeText(tick.text)}</text>`,
      );
    }
    const middle = left + width / 2;
    if (title)
      parts.push(
        `<text class="heading" x="${middle}" y="${top - 9}" text-anchor="middle">${escapeText(title)}</text>`,
      );
    if (xlabel)
      parts.push(
        `<text x="${middle}" y="${bottom + 33}" text-anchor="middle">${escapeText(xlabel)}</text>`,
      );
    if (ylabel) {
      const [x, y] = [left - 36, top + height / 2];
      parts.push(
        `<text x="${x}" y="${y}" text-anchor="middle" transform="rotate(-90 ${x} ${y})">${escapeText(ylabel)}</text>`,
      );
    }
    return parts.join("");
  }

  line(points, style = "") {
    if (!points.length) return "";
    const path = points.map(([x, y], i) => `${i ? "L" : "M"}${this.px(x)} ${this.py(y)}`).join("");
    return `<path class="line ${style}" d="${path}"/>`;
  }

  /** A line that stays at its height until the next point: survival curves. */
  steps(points, style = "") {
    if (!points.length) return "";
    let path = `M${this.px(points[0][0])} ${this.py(points[0][1])}`;
    for (const [x, y] of points.slice(1)) path += `H${this.px(x)}V${this.py(y)}`;
    return `<path class="line ${style}" d="${path}"/>`;
  }

  arrow([x0, y0], [x1, y1], style = "") {
    const [fx, fy, tx, ty] = [this.px(x0), this.py(y0), this.px(x1), this.py(y1)];
    const length = Math.hypot(tx - fx, ty - fy) || 1;
    const [ux, uy] = [(tx - fx) / length, (ty - fy) / length];
    const wing = (side) =>
      `M${tx} ${ty}L${round(tx - 9 * ux + side * 5 * uy)} ${round(ty - 9 * uy - side * 5 * ux)}`;
    return `<path class="line ${style}" d="M${fx} ${fy}L${tx} ${ty}${wing(1)}${wing(-1)}"/>`;
  }

  dot([x, y], style = "", radius = 4) {
    return `<circle class="mark ${style}" cx="${this.px(x)}" cy="${this.py(y)}" r="${radius}"/>`;
  }

  square([x, y], style = "", radius = 4) {
    const side = 2 * radius;
    return `<rect class="mark ${style}" x="${this.px(x) - radius}" y="${this.py(y) - radius}" width="${side}" height="${side}"/>`;
  }

  cross([x, y], style = "", radius = 5) {
    const [px, py] = [this.px(x), this.py(y)];
    return `<path class="line ${style}" d="M${px - radius} ${py - radius}l${2 * radius} ${2 * radius}m0 ${-2 * radius}l${-2 * radius} ${2 * radius}"/>`;
  }

  bar([x0, x1], [y0, y1], style = "", opacity = 1) {
    const [left, right] = [this.px(x0), this.px(x1)].sort((a, b) => a - b);
    const [top, bottom] = [this.py(y0), this.py(y1)].sort((a, b) => a - b);
    return `<rect class="mark ${style}" x="${left}" y="${top}" width="${round(right - left)}" height="${round(bottom - top)}" opacity="${round(opacity)}"/>`;
  }

  text([x, y], words, { anchor = "start", style = "", dx = 0, dy = 0 } = {}) {
    return `<text class="${style}" x="${this.px(x) + dx}" y="${this.py(y) + dy}" text-anchor="${anchor}">${escapeText(words)}</text>`;
  }
}

function ticksOf(given, [low, high]) {
  if (given)
    return given.map((tick) =>
      typeof tick === "object" ? tick : { value: tick, text: shorten(tick) },
    );
  const span = high - low;
  const rough = span / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * span; k++) {
    found.push({ value: k * step, text: shorten(k * step) });
  }
  return found;
}

/** A number in a few characters, with a true minus. */
export function shorten(value, digits = 3) {
  if (value === Infinity) return "∞";
  const size = Math.abs(value);
  const text =
    size && (size < 1e-3 || size >= 1e5)
      ? value.toExponential(1)
      : String(Number(value.toPrecision(digits)));
  return text.replace("-", "−");
}

export const fixed = (value, digits = 2) => value.toFixed(digits).replace("-", "−");

/**
 * Boxes for panels: side by side where there is room, else below each other.
 *
 * Each shape has a share of the width and a height for its share; `margin` leaves room for labels.
 */
export function arrange(width, shapes, { margin = {} } = {}) {
  const room = { left: 50, right: 14, top: 26, bottom: 40, ...margin };
  const wide = width >= 540;
  const total = shapes.reduce((sum, shape) => sum + shape.share, 0);
  const boxes = [];
  let [left, top, height] = [0, 0, 0];
  for (const shape of shapes) {
    const outer = wide ? (width * shape.share) / total : width;
    const inner = outer - room.left - room.right;
    const tall = shape.height ?? Math.min(inner * (shape.aspect ?? 1), shape.limit ?? 420);
    boxes.push({ left: left + room.left, top: top + room.top, width: inner, height: tall });
    const full = tall + room.top + room.bottom;
    if (wide) {
      left += outer;
      height = Math.max(height, full);
    } else {
      top += full;
      height = top;
    }
  }
  return { boxes, height };
}

export const fontSize = FONT;
