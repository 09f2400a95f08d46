// A neighbourhood moved along a bent sheet, seen from its edge: small is noisy, large is bent.
import { Matrix, dot, fixSigns, svd } from "../core/linear.js";
import { center, clusterCoordinates, fromClusterCoordinates, random } from "../core/clusters.js";
import { pcaDirections } from "../core/directions.js";
import { rowsOf } from "../core/distances.js";
import { normal } from "./staircases.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

const COUNT = 60;
const HALF = 10;
const LABELS = [...new Array(HALF).fill(0), ...new Array(HALF).fill(1)];
const SIZES = [3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 26, 32, 40];

// Evenly spaced along the curve; the noise of each feature is drawn once and only scaled.
const draw = random(3);
const PLACES = Array.from({ length: COUNT }, (_, i) => -1 + (2 * i) / (COUNT - 1));
const NOISE = PLACES.map(() => Array.from({ length: 2 * HALF }, () => normal(draw)));

const FINE = 8; // steps of the integration between two samples

/** A curve of length 2 whose slope is bend·(s + s²): straight on the left, ever more bent to the right. */
function makeCurve(bend) {
  const step = 2 / ((COUNT - 1) * FINE);
  const angle = (s) => bend * (s + s * s);
  const curve = [{ point: [0, 0], tangent: [Math.cos(angle(-1)), Math.sin(angle(-1))] }];
  let [x, y] = [0, 0];
  for (let i = 1; i < COUNT; i++) {
    for (let k = 0; k < FINE; k++) {
      const middle = -1 + ((i - 1) * FINE + k + 0.5) * step;
      x += step * Math.cos(angle(middle));
      y += step * Math.sin(angle(middle));
    }
    curve.push({
      point: [x, y],
      tangent: [Math.cos(angle(PLACES[i])), Math.sin(angle(PLACES[i]))],
    });
  }
  const [left, low] = curve[Math.floor(COUNT / 2)].point;
  return curve.map(({ point, tangent }) => ({ point: [point[0] - left, point[1] - low], tangent }));
}

/** Ten features measure the first coordinate, ten the second, each with noise of its own. */
function table(curve, noise) {
  return Matrix.from(
    curve.map(({ point }, i) => NOISE[i].map((error, j) => point[LABELS[j]] + noise * error)),
  );
}

const degrees = (cosine) => (Math.acos(Math.min(1, Math.abs(cosine))) * 180) / Math.PI;

function compute(state) {
  const curve = makeCurve(state.bend);
  const X = table(curve, state.noise);
  const centre = Math.round(((state.place + 1) / 2) * (COUNT - 1));
  const { point, tangent } = curve[centre];
  const lifted = LABELS.map((k) => tangent[k] / Math.sqrt(HALF));
  const order = PLACES.map((_, i) => i).sort(
    (i, j) => Math.abs(i - centre) - Math.abs(j - centre) || i - j,
  );
  const sizes = [...new Set([...SIZES, state.size])].sort((a, b) => a - b);
  const found = sizes.map((size) => {
    const near = rowsOf(X, order.slice(0, size));
    const pca = pcaDirections(near, 1).directions.column(0);
    // The closed form, without the variances of PCA that exactDirections would add.
    const { U } = svd(clusterCoordinates(center(near).transpose(), LABELS));
    const informed = fixSigns(fromClusterCoordinates(U.leading(1), LABELS)).column(0);
    return {
      size,
      pca,
      informed,
      pcaAngle: degrees(dot(pca, lifted)),
      informedAngle: degrees(dot(informed, lifted)),
    };
  });
  return {
    curve,
    X,
    centre,
    point,
    tangent,
    members: order.slice(0, state.size),
    found,
    now: found.find(({ size }) => size === state.size),
  };
}

/** Coordinates in the plane of the curve: the mean over the features that measure it. */
const flatten = (vector) =>
  [0, 1].map((k) => vector.slice(k * HALF, (k + 1) * HALF).reduce((a, b) => a + b, 0) / HALF);

function drawSheet(width, state, model) {
  const { boxes, height } = arrange(width, [
    { share: 1.2, aspect: 0.85 },
    { share: 1, aspect: 1 },
  ]);
  const plane = new Panel(boxes[0], [-1.1, 1.1], [-0.6, 0.9], { equal: true });
  const curve = new Panel(boxes[1], [0, 42], [0, 50]);
  const members = new Set(model.members);
  const through = (vector, style) => {
    // Drawn to its true length in this plane: a direction that leaves the plane looks shorter.
    const flat = flatten(Array.from(vector)).map((value) => value * Math.sqrt(HALF));
    const sign = flat[0] * model.tangent[0] + flat[1] * model.tangent[1] < 0 ? -0.5 : 0.5;
    const [x, y] = model.point;
    return plane.line(
      [
        [x - sign * flat[0], y - sign * flat[1]],
        [x + sign * flat[0], y + sign * flat[1]],
      ],
      style,
    );
  };
  const path = (key) => model.found.map((entry) => [entry.size, Math.min(50, entry[key])]);
  const picture = [
    plane.axes({
      title: "the sheet, seen from its edge",
      xlabel: "first coordinate",
      ylabel: "second coordinate",
    }),
    plane.line(
      model.curve.map(({ point }) => point),
      "grey wide",
    ),
    ...model.X.toLines().map((row, i) =>
      plane.dot(flatten(row), members.has(i) ? "ink" : "grey", members.has(i) ? 3.5 : 2),
    ),
    through(model.now.informed, "blue wide"),
    through(model.now.pca, "orange"),
    curve.axes({ title: "angle to the true tangent, degrees", xlabel: "neighbours" }),
    curve.line(path("pcaAngle"), "orange"),
    curve.line(path("informedAngle"), "blue"),
    curve.square([model.now.size, Math.min(50, model.now.pcaAngle)], "orange", 5),
    curve.dot([model.now.size, Math.min(50, model.now.informedAngle)], "blue", 6),
    curve.text([41, 47], "local PCA", { anchor: "end", style: "orange" }),
    curve.text([41, 43], "informed", { anchor: "end", style: "blue" }),
  ];
  const nearest = (x, y) => {
    const far = model.curve.map(({ point }) => Math.hypot(point[0] - x, point[1] - y));
    return { place: PLACES[far.indexOf(Math.min(...far))] };
  };
  return {
    height,
    picture: picture.join(""),
    handles: [
      {
        name: "place",
        label: "Centre of the neighbourhood",
        panel: plane,
        x: model.point[0],
        y: model.point[1],
        style: "red",
        range: [-1, 1],
        now: PLACES[model.centre],
        text: `at ${fixed(PLACES[model.centre])} along the sheet; local PCA off by ${fixed(model.now.pcaAngle, 0)} degrees, informed by ${fixed(model.now.informedAngle, 0)}`,
        drag: nearest,
        keys: (way, now, steps) => ({
          place: PLACES[Math.min(COUNT - 1, Math.max(0, model.centre + way * steps))],
        }),
      },
    ],
  };
}

export const sheet = {
  title: "Drag a neighbourhood along the bent sheet",
  help: "Twenty features see the sheet, ten for each of its two coordinates, with noise. Drag the point on the sheet; change the size of the neighbourhood, the noise and the bend.",
  start: { place: -0.4915254, size: 12, noise: 0.1, bend: 2 },
  controls: [
    { name: "size", label: "neighbours", min: 3, max: 40 },
    { name: "noise", label: "noise", min: 0, max: 0.6, step: 0.05, text: (value) => fixed(value) },
    { name: "bend", label: "bend", min: 0, max: 2.5, step: 0.1, text: (value) => fixed(value, 1) },
  ],
  check: (state) => ({
    ...state,
    size: Math.round(state.size),
    place: Math.min(1, Math.max(-1, state.place)),
  }),
  labels: LABELS,
  compute,
  draw: drawSheet,
  describe: (state, { now, found }) => {
    const best = (key) => found.reduce((a, b) => (b[key] < a[key] ? b : a)).size;
    return (
      `${state.size} neighbours, noise ${fixed(state.noise)}, bend ${fixed(state.bend, 1)}: local PCA is off the tangent by ${fixed(now.pcaAngle, 0)} degrees, the informed direction by ${fixed(now.informedAngle, 0)}. ` +
      `Of the sizes drawn, ${best("pcaAngle")} would be best for local PCA here, ${best("informedAngle")} for the informed one.`
    );
  },
};
