// Hidden points and the axes of A: the circle becomes an ellipse, the Mahalanobis distance stays.
import { Matrix, rankOf, svd } from "../core/linear.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

// A cloud in the hidden plane, spread evenly (a sunflower) so that no draw of luck is in it.
const CLOUD = Array.from({ length: 40 }, (_, i) => {
  const [radius, angle] = [2 * Math.sqrt((i + 0.5) / 40), i * 2.39996];
  return [radius * Math.cos(angle), radius * Math.sin(angle)];
});
const CIRCLE = Array.from({ length: 73 }, (_, i) => [
  Math.cos((i * Math.PI) / 36),
  Math.sin((i * Math.PI) / 36),
]);

const through = ({ first, second }, [x, y]) => [
  first[0] * x + second[0] * y,
  first[1] * x + second[1] * y,
];
const length = ([x, y]) => Math.hypot(x, y);

function compute(state) {
  const A = Matrix.from([
    [state.first[0], state.second[0]],
    [state.first[1], state.second[1]],
  ]);
  const { U, values } = svd(A);
  // Nearly parallel columns are parallel to the eye; exactly parallel ones to the pseudo-inverse.
  const rank = rankOf(values, A);
  const difference = [state.p[0] - state.q[0], state.p[1] - state.q[1]];
  const seen = through(state, difference);
  let mahalanobis = 0;
  for (let k = 0; k < rank; k++)
    mahalanobis += ((U.at(0, k) * seen[0] + U.at(1, k) * seen[1]) / values[k]) ** 2;
  return {
    rank,
    stretch: values[1] ? values[0] / values[1] : Infinity,
    hidden: length(difference),
    euclidean: length(seen),
    mahalanobis: Math.sqrt(mahalanobis),
  };
}

function draw(width, state) {
  const { boxes, height } = arrange(width, [{ share: 1 }, { share: 1 }]);
  const hidden = new Panel(boxes[0], [-3, 3], [-3, 3], { equal: true });
  const seen = new Panel(boxes[1], [-5, 5], [-5, 5], { equal: true });
  const [p, q] = [through(state, state.p), through(state, state.q)];
  // A name stands beyond its point, where the line between the two does not run.
  const named = (panel, point, name, other) => {
    const [x, y] = [panel.px(point[0]) - panel.px(other[0]), panel.py(point[1]) - panel.py(other[1])];
    const length = Math.hypot(x, y) || 1;
    const [dx, dy] = [(16 * x) / length, (16 * y) / length + 4];
    return panel.text(point, name, { anchor: "middle", dx, dy });
  };
  const around = ([x, y], shift) => shift.map(([a, b]) => [x + a, y + b]);
  const picture = [
    hidden.axes({ title: "hidden: x", xlabel: "x₁", ylabel: "x₂" }),
    seen.axes({ title: "observed: c = Ax", xlabel: "c₁", ylabel: "c₂" }),
    ...CLOUD.map(
      (point) => hidden.dot(point, "grey", 2) + seen.dot(through(state, point), "grey", 2),
    ),
    hidden.line(around(state.p, CIRCLE), "orange"),
    seen.line(
      around(
        p,
        CIRCLE.map((point) => through(state, point)),
      ),
      "orange",
    ),
    seen.line(around(p, CIRCLE), "dotted"),
    hidden.line([state.p, state.q], "blue"),
    seen.line([p, q], "blue"),
    seen.dot(p, "blue", 5),
    seen.dot(q, "blue", 5),
    named(hidden, state.p, "P", state.q),
    named(hidden, state.q, "Q", state.p),
    named(seen, p, "P", q),
    named(seen, q, "Q", p),
    seen.arrow([0, 0], state.first, "red"),
    seen.arrow([0, 0], state.second, "green"),
    seen.text(state.first, "a₁", { anchor: "middle", dx: 17, dy: 4, style: "red" }),
    seen.text(state.second, "a₂", { anchor: "middle", dx: -13, dy: -6, style: "green" }),
  ];
  const handle = (name, label, panel, style) => ({
    name,
    label,
    panel,
    style,
    x: state[name][0],
    y: state[name][1],
    text: `${fixed(state[name][0], 1)} across, ${fixed(state[name][1], 1)} up`,
    step: panel === hidden ? 0.1 : 0.2,
    drag: (x, y) => ({ [name]: [x, y] }),
  });
  return {
    height,
    picture: picture.join(""),
    handles: [
      handle("p", "Hidden point P", hidden, "blue"),
      handle("q", "Hidden point Q", hidden, "blue"),
      handle("first", "First column of A", seen, "red"),
      handle("second", "Second column of A", seen, "green"),
    ],
  };
}

export const transformation = {
  title: "Drag the hidden points, and the axes of A",
  help: "Drag P and Q in the hidden plane, or the arrows a₁ and a₂, the columns of A, in the observed one.",
  start: { p: [-1, -0.5], q: [0.8, 1.2], first: [2, 0], second: [0, 1.5] },
  actions: [
    { label: "Stretch and shear", act: () => ({ first: [2, 0.4], second: [1.2, 1.2] }) },
    { label: "Make A lose a dimension", act: () => ({ first: [2, 1], second: [1.2, 0.6] }) },
  ],
  compute,
  draw,
  describe: (state, { rank, hidden, euclidean, mahalanobis, stretch }) =>
    `From P to Q: hidden ${fixed(hidden)}; observed, Euclidean ${fixed(euclidean)}, Mahalanobis ${fixed(mahalanobis)}. ` +
    (rank === 2
      ? `A stretches its longest axis ${stretch < 1000 ? fixed(stretch, 1) : "over a thousand"} times as much as its shortest, and the Mahalanobis distance is still the hidden one.`
      : `The columns of A are parallel: it has rank ${rank}, a dimension is lost, and with it a part of the distance. The theorem needs full column rank.`),
};
