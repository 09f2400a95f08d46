// Few samples: the Mahalanobis distance of the sample covariance says nothing, however they are dragged.
import { Matrix } from "../core/linear.js";
import { mahalanobisDistances, squaredDistances } from "../core/distances.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

const MOST = 8;
const START = [
  -1.8, -1.2, 1.9, -0.6, 0.2, 1.8, -0.9, 0.5, 1.1, 0.9, -2.2, 1.6, 0.6, -1.9, 2.3, 2.1,
];

function compute({ n, points }) {
  const X = Matrix.from(Array.from({ length: n }, (_, i) => points.slice(2 * i, 2 * i + 2)));
  const [euclidean, mahalanobis] = [squaredDistances(X), mahalanobisDistances(X)];
  const pairs = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++)
      pairs.push({
        i: j,
        j: i,
        euclidean: Math.sqrt(euclidean.at(i, j)),
        mahalanobis: Math.sqrt(mahalanobis.at(i, j)),
      });
  }
  const spread = (key) => [
    Math.min(...pairs.map((pair) => pair[key])),
    Math.max(...pairs.map((pair) => pair[key])),
  ];
  return {
    X,
    pairs,
    euclidean: spread("euclidean"),
    mahalanobis: spread("mahalanobis"),
    constant: Math.sqrt(2 * (n - 1)),
  };
}

function draw(width, state, model) {
  const { boxes, height } = arrange(width, [{ share: 1 }, { share: 1 }]);
  const plane = new Panel(boxes[0], [-3, 3], [-3, 3], { equal: true });
  const pairs = new Panel(boxes[1], [0, 6.5], [0, 4.5]);
  const points = model.X.toLines();
  // A number stands on the far side of its point, away from the middle of all.
  const middle = [0, 1].map((k) => points.reduce((sum, point) => sum + point[k], 0) / points.length);
  const numbered = (point, name) => {
    const [x, y] = [plane.px(point[0]) - plane.px(middle[0]), plane.py(point[1]) - plane.py(middle[1])];
    const length = Math.hypot(x, y) || 1;
    return plane.text(point, name, { anchor: "middle", dx: (15 * x) / length, dy: (15 * y) / length + 4 });
  };
  const picture = [
    plane.axes({ title: "samples", xlabel: "feature 1", ylabel: "feature 2" }),
    ...model.pairs.map(({ i, j }) => plane.line([points[i], points[j]], "grey thin")),
    ...points.map((point, i) => numbered(point, String(i + 1))),
    pairs.axes({
      title: "each pair of samples",
      xlabel: "Euclidean distance",
      ylabel: "Mahalanobis distance",
    }),
    pairs.line(
      [
        [0, model.constant],
        [6.5, model.constant],
      ],
      "dotted",
    ),
    pairs.text([6.4, model.constant], `√(2(n − 1)) = ${fixed(model.constant)}`, {
      anchor: "end",
      dy: -7,
    }),
    ...model.pairs.map(({ euclidean, mahalanobis }) =>
      pairs.dot([Math.min(6.5, euclidean), mahalanobis], "orange", 5),
    ),
  ];
  return {
    height,
    picture: picture.join(""),
    handles: points.map(([x, y], i) => ({
      name: `sample-${i}`,
      label: `Sample ${i + 1}`,
      panel: plane,
      x,
      y,
      style: "blue",
      text: `feature 1: ${fixed(x, 1)}, feature 2: ${fixed(y, 1)}`,
      step: 0.2,
      drag: (a, b, now) => ({
        points: now.points.map((value, k) => (k === 2 * i ? a : k === 2 * i + 1 ? b : value)),
      }),
    })),
  };
}

export const usual = {
  title: "Drag the samples: which distance notices?",
  help: "Two features, few samples. Drag a sample, and watch the distances of all pairs; then add samples.",
  start: { n: 3, points: START },
  controls: [{ name: "n", label: "samples n", min: 2, max: MOST }],
  check: (state) => ({ ...state, n: Math.round(state.n) }),
  compute,
  draw,
  describe: (state, { euclidean, mahalanobis, constant }) =>
    `${state.n} samples, 2 features. Euclidean distances from ${fixed(euclidean[0])} to ${fixed(euclidean[1])}; Mahalanobis distances from ${fixed(mahalanobis[0])} to ${fixed(mahalanobis[1])}. ` +
    (mahalanobis[1] - mahalanobis[0] < 1e-6 * constant
      ? `With n\u00a0−\u00a01 ${state.n - 1 === 2 ? "equal to" : "below"} the number of features, every pair is √(2(n\u00a0−\u00a01)) = ${fixed(constant)} apart, wherever the samples lie.`
      : state.n <= 3
        ? "The samples lie on one line: the rank is 1, and the theorem does not apply."
        : "With more samples than features plus one, the Mahalanobis distance begins to tell pairs apart."),
};
