// Turn a direction by hand within the span of three clusters, and try to beat the closed form.
import { Matrix } from "../core/linear.js";
import { center, clusterCoordinates, fromClusterCoordinates, random } from "../core/clusters.js";
import { exactDirections, pcaDirections, reconstructionError } from "../core/directions.js";
import { COLORS, normal } from "./staircases.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

const LABELS = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2];

function makeTable() {
  const draw = random(5);
  return Matrix.from(
    Array.from({ length: 20 }, () => {
      const hidden = normal(draw);
      const levels = [
        1.3 * hidden + 0.5 * normal(draw),
        -0.9 * hidden + 0.6 * normal(draw),
        0.5 * normal(draw),
      ];
      return LABELS.map((cluster) => levels[cluster] + 0.7 * normal(draw));
    }),
  );
}

const X = makeTable();
const B = clusterCoordinates(center(X).transpose(), LABELS);
const TOTAL = reconstructionError(X, new Matrix(X.columns, 1));
const EXACT = exactDirections(X, LABELS, 1);
const LEAST = reconstructionError(X, EXACT.directions);
const PCA = reconstructionError(X, pcaDirections(X, 1).directions);

/** The third coordinate makes the length one; t and −t are the same direction. */
function onSphere([x, y]) {
  const length = Math.hypot(x, y);
  const [a, b] = length > 1 ? [x / length, y / length] : [x, y];
  return [a, b, Math.sqrt(Math.max(0, 1 - a * a - b * b))];
}

/** R(Ht) = tr Σ − tᵀ HᵀΣH t, without going through the features. */
function errorAt(t) {
  let kept = 0;
  for (let i = 0; i < B.columns; i++)
    kept += (t[0] * B.at(0, i) + t[1] * B.at(1, i) + t[2] * B.at(2, i)) ** 2;
  return TOTAL - kept / (X.rows - 1);
}

function compute(state) {
  const t = onSphere(state.t);
  const direction = fromClusterCoordinates(Matrix.from(t.map((value) => [value])), LABELS).column(
    0,
  );
  return { t, direction, error: errorAt(t), least: LEAST, pca: PCA, total: TOTAL };
}

// The error on a grid over the disc, once: it does not depend on what the reader does.
const CELLS = 30;
const FIELD = Array.from({ length: CELLS * CELLS }, (_, i) => {
  const [x, y] = [i % CELLS, Math.floor(i / CELLS)].map((k) => -1 + (2 * (k + 0.5)) / CELLS);
  return Math.hypot(x, y) > 1
    ? null
    : { x, y, excess: (errorAt(onSphere([x, y])) - LEAST) / (TOTAL - LEAST) };
}).filter(Boolean);

function draw(width, state, model) {
  const { boxes, height } = arrange(width, [{ share: 1 }, { share: 1 }]);
  const disc = new Panel(boxes[0], [-1.1, 1.1], [-1.1, 1.1], { equal: true });
  const half = Math.min(boxes[1].height * 0.5, 170);
  const stairs = new Panel({ ...boxes[1], height: half }, [0, 12], [-0.7, 0.7]);
  const ladder = new Panel(
    {
      ...boxes[1],
      top: boxes[1].top + half + 60,
      height: Math.max(40, boxes[1].height - half - 60),
    },
    [PCA - 0.04 * (TOTAL - PCA), TOTAL],
    [0, 1],
  );
  const side = 1 / CELLS;
  const circle = Array.from({ length: 61 }, (_, i) => [
    Math.cos((i * Math.PI) / 30),
    Math.sin((i * Math.PI) / 30),
  ]);
  const tick = (value, style) =>
    ladder.line(
      [
        [value, 0],
        [value, 1],
      ],
      style,
    );
  const picture = [
    disc.axes({ title: "the direction: shares of clusters 1 and 2", xlabel: "t₁", ylabel: "t₂" }),
    ...FIELD.map(({ x, y, excess }) =>
      disc.bar([x - side, x + side], [y - side, y + side], "field", 0.05 + 0.75 * excess),
    ),
    disc.line(circle, "ink thin"),
    stairs.axes({
      title: "your direction, feature by feature",
      xticks: [],
      yticks: [-0.5, 0, 0.5],
    }),
    stairs.line(
      [
        [0, 0],
        [12, 0],
      ],
      "grey thin",
    ),
    ...Array.from(model.direction, (value, i) =>
      stairs.bar([i + 0.1, i + 0.9], [0, value], COLORS[LABELS[i]], 0.8),
    ),
    ladder.axes({
      title: "reconstruction error",
      yticks: [],
      xlabel: "PCA (orange), closed form (green), you (blue)",
    }),
    tick(PCA, "orange"),
    tick(LEAST, "green"),
    tick(model.error, "blue wide"),
    state.best < Infinity ? tick(state.best, "dotted") : "",
  ];
  const move = (x, y, now) => {
    const t = onSphere([x, y]);
    return { t: [t[0], t[1]], best: Math.min(now.best, errorAt(t)) };
  };
  return {
    height,
    picture: picture.join(""),
    handles: [
      {
        name: "direction",
        label: "Direction within the span of the clusters",
        panel: disc,
        x: model.t[0],
        y: model.t[1],
        style: "blue",
        text: `t = (${model.t.map((value) => fixed(value)).join(", ")}), error ${fixed(model.error, 3)}`,
        step: 0.04,
        drag: move,
      },
    ],
  };
}

export const turning = {
  title: "Turn the direction: can you beat the closed form?",
  help: "Every unit direction that is constant on the three clusters is a point of the disc. Drag it to where the error is least; the stronger the colour, the worse.",
  start: { t: [0.2, 0.3], best: Infinity },
  actions: [
    {
      label: "Show the closed form",
      act: () => {
        const T = clusterCoordinates(EXACT.directions, LABELS).column(0);
        const sign = T[2] < 0 ? -1 : 1;
        return { t: [sign * T[0], sign * T[1]] };
      },
    },
  ],
  check: (state) => ({ ...state, best: state.best > 0 ? state.best : Infinity }),
  table: X,
  labels: LABELS,
  compute,
  draw,
  describe: (state, { error, least, pca }) =>
    `Error of your direction ${fixed(error, 3)}; the closed form has ${fixed(least, 3)}, PCA without the constraint ${fixed(pca, 3)}. ` +
    (state.best < Infinity
      ? `Your best so far is ${fixed(state.best, 3)}, ${fixed(100 * (state.best / least - 1), 2)} % above the closed form. Nothing you can reach is below it.`
      : "Drag the point."),
};
