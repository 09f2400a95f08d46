// Features as points in a plane (two samples): do k-means and the sign of the first component agree?
import { Matrix, fixSigns, svd } from "../core/linear.js";
import { averageOverClusters, center, kmeans } from "../core/clusters.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

const SHAPES = {
  groups: [
    -2.2, -1.4, -1.6, -0.6, -2.6, -0.4, -1.2, -1.8, -2.0, -2.3, 1.8, 1.2, 2.4, 0.7, 1.3, 2.0, 2.6,
    1.9, 1.6, 0.4,
  ],
  uneven: [
    -2.6, 0.1, -2.3, -0.5, -2.8, -0.6, -2.4, 0.5, -2.0, 0.0, -2.9, 0.3, -2.2, 0.8, 2.6, 0.2, 0.6,
    0.5, 0.9, -0.5,
  ],
  tall: [
    -0.9, -2.4, -0.8, -0.8, -1.0, 0.9, -0.7, 2.3, -0.9, 0.1, 0.8, -2.2, 0.9, -0.7, 1.0, 0.6, 0.7,
    2.4, 0.9, 1.5,
  ],
};

/** The mean over the points of the sum of their coordinates. */
const mean = (lines) => lines.reduce((sum, [x, y]) => sum + x + y, 0) / lines.length;

function compute({ points }) {
  const lines = Array.from({ length: points.length / 2 }, (_, i) => points.slice(2 * i, 2 * i + 2));
  const D = Matrix.from(lines);
  const centered = center(D); // the mean over the features is taken off: the points' centre
  const { U, values, V } = svd(centered);
  const u = fixSigns(U.leading(1)).column(0);
  const { labels: found, cost } = kmeans(centered, 2, 20);
  // Blue is the cluster farther left and down, so that no drag exchanges the colours of the others.
  const place = lines.reduce((sum, [x, y], i) => sum + (found[i] ? 1 : -1) * (x + y), 0);
  const balance = place - found.reduce((sum, k) => sum + (k ? 1 : -1), 0) * mean(lines);
  const labels = Array.from(found, (k) => (balance < 0 ? 1 - k : k));
  const sides = Array.from(u, (value) => Number(value > 0));
  const same = sides.filter((side, i) => side === labels[i]).length;
  const total = values[0] ** 2 + values[1] ** 2;
  const averaged = averageOverClusters(
    Matrix.from(Array.from(u, (value) => [value])),
    labels,
  ).column(0);
  return {
    lines,
    labels,
    sides,
    cost,
    bound: total - values[0] ** 2,
    total,
    agree: Math.max(same, labels.length - same),
    gap: Math.sqrt(u.reduce((sum, value, i) => sum + (value - averaged[i]) ** 2, 0)),
    axis: [V.at(0, 0), V.at(1, 0)],
    middle: [0, 1].map((k) => lines.reduce((sum, line) => sum + line[k], 0) / lines.length),
    u,
    averaged,
  };
}

const COLORS = ["blue", "red"];

function draw(width, state, model) {
  const { boxes, height } = arrange(width, [{ share: 1.15 }, { share: 1 }]);
  const plane = new Panel(boxes[0], [-3.4, 3.4], [-3.4, 3.4], { equal: true });
  const count = model.lines.length;
  const stairs = new Panel(
    { ...boxes[1], height: Math.min(boxes[1].height, 300) },
    [0, count],
    [-1, 1],
  );
  const [mx, my] = model.middle;
  const [ax, ay] = model.axis;
  // Sorted by cluster and then by entry, so that a staircase shows as one.
  const order = model.lines
    .map((_, i) => i)
    .sort((i, j) => model.labels[i] - model.labels[j] || model.u[i] - model.u[j]);
  const picture = [
    plane.axes({
      title: "features, as points",
      xlabel: "value in sample 1",
      ylabel: "value in sample 2",
    }),
    plane.line(
      [
        [mx - 9 * ax, my - 9 * ay],
        [mx + 9 * ax, my + 9 * ay],
      ].map(clip(plane)),
      "orange",
    ),
    plane.line(
      [
        [mx + 9 * ay, my - 9 * ax],
        [mx - 9 * ay, my + 9 * ax],
      ].map(clip(plane)),
      "dotted",
    ),
    ...[0, 1].map((k) => {
      const members = model.lines.filter((_, i) => model.labels[i] === k);
      if (!members.length) return "";
      const centre = [0, 1].map(
        (c) => members.reduce((sum, line) => sum + line[c], 0) / members.length,
      );
      return (
        members.map((line) => plane.line([centre, line], `${COLORS[k]} thin`)).join("") +
        plane.cross(centre, COLORS[k])
      );
    }),
    stairs.axes({
      title: "entries of u₁",
      xlabel: "feature, by cluster",
      xticks: [],
      yticks: [-1, 0, 1],
    }),
    stairs.line(
      [
        [0, 0],
        [count, 0],
      ],
      "grey thin",
    ),
    ...order.map((i, place) =>
      stairs.bar([place + 0.15, place + 0.85], [0, model.u[i]], COLORS[model.labels[i]], 0.55),
    ),
    ...order.map((i, place) =>
      stairs.line(
        [
          [place, model.averaged[i]],
          [place + 1, model.averaged[i]],
        ],
        "ink",
      ),
    ),
  ];
  return {
    height,
    picture: picture.join(""),
    handles: model.lines.map(([x, y], i) => ({
      name: `feature-${i}`,
      label: `Feature ${i + 1}`,
      panel: plane,
      x,
      y,
      style: COLORS[model.labels[i]],
      text: `${fixed(x, 1)} in sample 1, ${fixed(y, 1)} in sample 2; cluster ${model.labels[i] + 1}, ${model.sides[i] ? "positive" : "negative"} in u₁`,
      step: 0.2,
      drag: (a, b, now) => ({
        points: now.points.map((value, k) => (k === 2 * i ? a : k === 2 * i + 1 ? b : value)),
        shape: "own",
      }),
    })),
  };
}

const clip =
  (panel) =>
  ([x, y]) =>
    [x, y].map((value, k) => {
      const [low, high] = k ? panel.y : panel.x;
      return Math.min(high, Math.max(low, value));
    });

export const features = {
  title: "Drag features: k-means and PCA agree, or disagree",
  help: "Each point is a feature, measured in two samples. The colours are k-means with two clusters; the dotted line separates positive from negative entries of u₁.",
  start: { shape: "groups", points: SHAPES.groups },
  controls: [
    {
      name: "shape",
      label: "features",
      choices: [
        ["groups", "two even groups"],
        ["uneven", "a crowd and a few outside"],
        ["tall", "two long groups side by side"],
        ["own", "as you dragged them"],
      ],
      change: (shape, state) => ({ shape, points: SHAPES[shape] ?? state.points }),
    },
  ],
  compute,
  draw,
  describe: (state, { agree, lines, cost, bound, gap }) =>
    `k-means and the sign of u₁ agree on ${agree} of ${lines.length} features. Cost of k-means ${fixed(cost, 1)}; no clustering can cost less than ${fixed(bound, 1)}, what the first component leaves. ` +
    `Distance of u₁ from its staircase: ${fixed(gap)}.`,
};
