// The pictures of the playground: features, distances, embedding and survival.
import { make } from "../stage/stage.js";
import { Panel, arrange, escapeText, fixed, shorten } from "../stage/plot.js";

const GROUPS = ["blue", "red"];

/** A matrix as a picture, one pixel per entry, blue below zero and orange above. */
function canvasOf(rows, columns, shadeAt, words) {
  const canvas = make("canvas", { width: columns, height: rows, role: "img", "aria-label": words });
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const shade = Math.max(-1, Math.min(1, shadeAt(i, j)));
      const end = shade < 0 ? [0, 84, 147] : [196, 78, 0];
      const part = Math.abs(shade);
      const at = 4 * (i * columns + j);
      for (let c = 0; c < 3; c++) image.data[at + c] = 247 + part * (end[c] - 247);
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Features as rows, cluster by cluster, each on its own scale; at most 600 rows are drawn. */
export function featureMap({ rows, features }, { labels, sizes }, order) {
  const sorted = labels.map((_, j) => j).sort((a, b) => labels[a] - labels[b] || a - b);
  const drawn = Math.min(600, sorted.length);
  const picked = Array.from(
    { length: drawn },
    (_, k) => sorted[Math.floor((k * sorted.length) / drawn)],
  );
  const scaled = picked.map((j) => {
    const values = order.map((i) => rows[i][j]);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const spread =
      Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1;
    return values.map((value) => (value - mean) / (2 * spread));
  });
  const canvas = canvasOf(
    drawn,
    order.length,
    (i, j) => scaled[i][j],
    `Heat map of ${features.length} features in ${sizes.length} clusters over ${order.length} samples, sorted by group`,
  );
  const figure = make("div", { class: "heat" });
  const borders = make("div", { class: "borders", "aria-hidden": "true" });
  let below = 0;
  sizes.forEach((size, k) => {
    const part = make("span", {
      style: `top:${(100 * below) / labels.length}%;height:${(100 * size) / labels.length}%`,
    });
    part.textContent = size / labels.length > 0.04 ? String(k) : "";
    borders.append(part);
    below += size;
  });
  figure.append(borders, canvas);
  const list = make("ul", { class: "notes" });
  sizes.forEach((size, k) => {
    const members = features.filter((_, j) => labels[j] === k);
    const item = make("li");
    item.textContent = `cluster ${k}: ${size} ${size === 1 ? "feature" : "features"}: ${members.slice(0, 6).join(", ")}${size > 6 ? ", …" : ""}`;
    list.append(item);
  });
  const both = make("div");
  both.append(figure, list);
  return both;
}

export function distanceMap({ distances }, order) {
  const largest = Math.max(...distances.map((row) => Math.max(...row))) || 1;
  const between = order
    .flatMap((i, k) => order.slice(0, k).map((j) => distances[i][j]))
    .sort((a, b) => a - b);
  const words = `Distances of ${order.length} samples, sorted by group: from ${shorten(between[0])} to ${shorten(largest)}, half of them below ${shorten(between[between.length >> 1])}`;
  const figure = make("div", { class: "heat square" });
  figure.append(
    canvasOf(
      order.length,
      order.length,
      (i, j) => 1 - (2 * distances[order[i]][order[j]]) / largest,
      words,
    ),
  );
  const caption = make("p", { class: "help" });
  caption.textContent = `${words}; orange is near, blue is far.`;
  const both = make("div");
  both.append(figure, caption);
  return both;
}

/** The embedding, and the survival curves if there are any. */
export function pictureOf(width, { names, survival: follow }, { embedding, groups, survival }) {
  const { boxes, height } = arrange(
    Math.min(width, 900),
    survival ? [{ share: 1 }, { share: 1 }] : [{ share: 1, aspect: 0.6, limit: 380 }],
  );
  const range = (values) => {
    const [low, high] = [Math.min(...values), Math.max(...values)];
    const room = 0.06 * (high - low) || 1;
    return [low - room, high + room];
  };
  const second = embedding[0].length > 1 ? 1 : 0;
  const plane = new Panel(
    boxes[0],
    range(embedding.map((row) => row[0])),
    range(embedding.map((row) => row[second])),
  );
  const parts = [
    plane.axes({ title: "diffusion map", xlabel: "first coordinate", ylabel: "second coordinate" }),
    ...embedding.map((row, i) => {
      const mark = groups[i]
        ? plane.square([row[0], row[second]], GROUPS[1])
        : plane.dot([row[0], row[second]], GROUPS[0]);
      return mark.replace(
        "/>",
        `><title>${escapeText(names[i])}</title></${groups[i] ? "rect" : "circle"}>`,
      );
    }),
  ];
  if (survival) {
    const curves = new Panel(boxes[1], [0, Math.max(...follow.times)], [0, 1.02]);
    parts.push(
      curves.axes({
        title: `log-rank p = ${shorten(survival.p, 2)}`,
        xlabel: "time",
        ylabel: "share without event",
      }),
    );
    survival.curves.forEach((curve, g) => {
      parts.push(
        curves.steps(
          curve.times.map((time, i) => [time, curve.survival[i]]),
          `${GROUPS[g]} wide${g ? " dashed" : ""}`,
        ),
      );
      parts.push(
        curves.text([curves.x[1], 0.97 - 0.07 * g], `group ${g}${g ? ", dashed" : ""}`, {
          anchor: "end",
          style: GROUPS[g],
        }),
      );
    });
  }
  const holder = make("div", { class: "figure" });
  const words = `Embedding of ${names.length} samples${survival ? `, and survival of the two groups, log-rank p ${fixed(survival.p, 4)}` : ""}`;
  holder.innerHTML = `<svg role="img" aria-label="${escapeText(words)}" width="${Math.min(width, 900)}" height="${height}" font-size="12">${parts.join("")}</svg>`;
  return holder;
}
