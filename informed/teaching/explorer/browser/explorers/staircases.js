// Paint the clusters of the features, and the averaged direction becomes a staircase.
import { Matrix } from "../core/linear.js";
import { averageOverClusters, center, kmeans, random, relabel } from "../core/clusters.js";
import {
  exactDirections,
  pcaDirections,
  reconstructionError,
  unitColumns,
} from "../core/directions.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

export const COLORS = ["blue", "red", "green", "pink"];
const NAMES = ["u₁", "u₂"];
const TRUE = [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2];

/** Normal numbers by Box and Muller. */
export function normal(draw) {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

// Fourteen samples of three hidden levels, one per cluster of features, with noise on each feature.
function makeTable() {
  const draw = random(11);
  return Matrix.from(
    Array.from({ length: 14 }, () => {
      const levels = [1.6, 1.1, 0.7].map((scale) => scale * normal(draw));
      return TRUE.map((cluster) => levels[cluster] + 0.9 * normal(draw));
    }),
  );
}

const X = makeTable();
const PCA = pcaDirections(X, 2);
const KMEANS = kmeans(center(X).transpose(), 3, 20).labels;
const TOTAL = reconstructionError(X, new Matrix(X.columns, 1));

function compute({ labels, direction }) {
  const clusters = relabel(labels);
  const k = Number(direction);
  const u = Matrix.from(Array.from(PCA.directions.column(k), (value) => [value]));
  const averaged = averageOverClusters(u, clusters);
  const kept = averaged.column(0).reduce((sum, value) => sum + value * value, 0);
  const share = (directions) => 1 - reconstructionError(X, directions) / TOTAL;
  return {
    u: u.column(0),
    averaged: averaged.column(0),
    kept,
    lost: 1 - kept,
    clusters: Math.max(...clusters) + 1,
    explained: share(u),
    explainedAveraged: kept > 1e-12 ? share(unitColumns(averaged)) : 0,
    explainedExact: k === 0 ? share(exactDirections(X, clusters, 1).directions) : null,
  };
}

function draw(width, state, model) {
  // Where a finger would not fit, the features stand in two rows, each twice as wide.
  const rows = width < 660 ? 2 : 1;
  const { boxes, height } = arrange(width, [{ share: 1, height: 250 }], {
    margin: { bottom: 46 + 32 * rows },
  });
  const panel = new Panel(boxes[0], [0, 24], [-0.6, 0.6]);
  const cell = panel.width / 24;
  const top = boxes[0].top + boxes[0].height + 18;
  const picture = [
    panel.axes({
      title: `${NAMES[state.direction]}: PCA (bars), averaged (line)`,
      xticks: [],
      ylabel: "entry",
    }),
    panel.line(
      [
        [0, 0],
        [24, 0],
      ],
      "grey thin",
    ),
    ...Array.from(model.u, (value, i) =>
      panel.bar([i + 0.2, i + 0.8], [0, value], COLORS[state.labels[i]], 0.5),
    ),
    panel.line(
      Array.from(model.averaged).flatMap((value, i) => [
        [i, value],
        [i + 1, value],
      ]),
      "ink",
    ),
    `<text x="${panel.left + panel.width / 2}" y="${top + 32 * rows + 18}" text-anchor="middle">features: press or paint over them</text>`,
  ];
  const brush = Number(state.brush);
  const marks = state.labels.map((label, i) => {
    const [wide, high] = [rows * cell, 30];
    const [x, y] = [panel.left + (i + 0.5) * cell - wide / 2, top + (i % rows) * (high + 2)];
    return {
      name: `feature-${i}`,
      label: `Feature ${i + 1}, cluster ${label + 1}`,
      x,
      y,
      width: wide,
      height: high,
      paint: true,
      picture:
        `<rect class="mark ${COLORS[label]}" x="${(x + 0.04 * wide).toFixed(1)}" y="${y}" ` +
        `width="${(0.92 * wide).toFixed(1)}" height="${high}" rx="2"/>` +
        `<text class="on" x="${(x + wide / 2).toFixed(1)}" y="${y + 20}" text-anchor="middle">${label + 1}</text>`,
      press: (now) => ({ labels: now.labels.map((other, j) => (j === i ? brush : other)) }),
      digit: (number, now) =>
        number <= COLORS.length
          ? { labels: now.labels.map((other, j) => (j === i ? number - 1 : other)) }
          : null,
    };
  });
  return { height, picture: picture.join(""), marks };
}

export const staircases = {
  title: "Paint the clusters, and see the staircase",
  help: "Choose a cluster and paint features with it. By keyboard: arrows go from feature to feature, Space paints, and 1 to 4 paint with that cluster.",
  start: { labels: TRUE.map((_, i) => i % 2), brush: "0", direction: "0" },
  controls: [
    {
      name: "brush",
      label: "paint with",
      choices: COLORS.map((color, k) => [String(k), `cluster ${k + 1} (${color})`]),
    },
    {
      name: "direction",
      label: "direction",
      choices: [
        ["0", "u₁"],
        ["1", "u₂"],
      ],
    },
  ],
  actions: [
    { label: "All one cluster", act: () => ({ labels: TRUE.map(() => 0) }) },
    { label: "As k-means has them", act: () => ({ labels: KMEANS }) },
  ],
  check: (state) => ({
    ...state,
    labels: state.labels.map((label) => Math.min(3, Math.max(0, Math.round(label)))),
  }),
  table: X,
  compute,
  draw,
  describe: (state, { kept, clusters, explained, explainedAveraged, explainedExact }) =>
    `${clusters} ${clusters === 1 ? "cluster" : "clusters"}: averaging keeps ${fixed(100 * kept, 0)} % of the squared length of the direction. ` +
    `Variance explained by PCA's direction ${fixed(100 * explained, 0)} %, by the averaged one ${fixed(100 * explainedAveraged, 0)} %` +
    (explainedExact === null
      ? "."
      : `, by the best staircase on these clusters ${fixed(100 * explainedExact, 0)} %.`),
};
