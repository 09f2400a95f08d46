// The phase diagram of PCA: how strong a direction must be, for so many features per sample, to be seen.
import { Matrix, dot, eigenSymmetric } from "../core/linear.js";
import { random } from "../core/clusters.js";
import { leadingEigenvalue, squaredCosine } from "../core/spiked.js";
import { normal } from "./staircases.js";
import { Panel, arrange, fixed } from "../stage/plot.js";

const SAMPLES = 60;
const WIDEST = 4 * SAMPLES;
const source = random(2);
const NOISE = Array.from({ length: SAMPLES }, () =>
  Array.from({ length: WIDEST }, () => normal(source)),
);

// The hidden variable has its true variance in the draw too: chance is left to the noise.
const scale = Math.sqrt(NOISE.reduce((sum, row) => sum + row[0] ** 2, 0) / SAMPLES);
const HIDDEN = NOISE.map((row) => row[0] / scale);

/** One sample of the model: noise of variance 1, the first feature of variance 1 + strength. */
function simulate(strength, p) {
  const X = new Matrix(SAMPLES, p);
  for (let i = 0; i < SAMPLES; i++) {
    X.row(i).set(NOISE[i].slice(0, p));
    X.set(i, 0, HIDDEN[i] * Math.sqrt(1 + strength));
  }
  // Through the smaller side: u is an eigenvector of XXᵀ, and the direction is Xᵀu over its length.
  const { values, vectors } = eigenSymmetric(X.times(X.transpose()));
  const along = dot(X.column(0), vectors.column(0)) ** 2 / values[0];
  return { eigenvalues: Array.from(values, (value) => value / SAMPLES), cosine: along };
}

function compute({ aspect, strength }) {
  const p = Math.max(2, Math.round(aspect * SAMPLES));
  const exact = p / SAMPLES;
  return {
    p,
    seen: strength > Math.sqrt(exact),
    predicted: squaredCosine(strength, exact),
    leading: leadingEigenvalue(strength, exact),
    edges: [Math.max(0, 1 - Math.sqrt(exact)) ** 2, (1 + Math.sqrt(exact)) ** 2],
    ...simulate(strength, p),
  };
}

const FIELD = [];
for (let i = 0; i < 24; i++) {
  for (let j = 0; j < 24; j++) {
    const [aspect, strength] = [((i + 0.5) * 4) / 24, ((j + 0.5) * 6) / 24];
    const cosine = squaredCosine(strength, aspect);
    if (cosine) FIELD.push({ aspect, strength, cosine });
  }
}

function draw(width, state, model) {
  const { boxes, height } = arrange(width, [
    { share: 1.1, aspect: 0.9 },
    { share: 1, aspect: 1 },
  ]);
  const plane = new Panel(boxes[0], [0, 4], [0, 6]);
  const most = Math.max(12, Math.ceil(model.eigenvalues[0] + 1));
  const spectrum = new Panel(boxes[1], [0, SAMPLES + 1], [0, most]);
  const border = Array.from({ length: 81 }, (_, i) => [i / 20, Math.sqrt(i / 20)]);
  const picture = [
    ...FIELD.map(({ aspect, strength, cosine }) =>
      plane.bar(
        [aspect - 1 / 12, aspect + 1 / 12],
        [strength - 1 / 8, strength + 1 / 8],
        "sky",
        0.08 + 0.8 * cosine,
      ),
    ),
    plane.axes({
      title: "squared cosine (stronger colour: nearer 1)",
      xlabel: "features per sample, γ",
      ylabel: "strength of the direction, ℓ",
    }),
    plane.line(border, "ink"),
    plane.text([3.95, 0.4], "below the line: not seen at all", { anchor: "end" }),
    plane.text([3.95, Math.sqrt(3.2) + 0.55], "ℓ = √γ", { anchor: "end" }),
    spectrum.axes({ title: "eigenvalues of one draw", xlabel: "number", yticks: null }),
    spectrum.bar([0.3, SAMPLES + 0.7], model.edges, "grey", 0.25),
    spectrum.line(
      [
        [0, model.leading],
        [SAMPLES + 1, model.leading],
      ],
      "orange",
    ),
    ...model.eigenvalues.map((value, i) =>
      spectrum.dot([i + 1, value], i ? "ink" : "blue", i ? 2.5 : 5),
    ),
    spectrum.text([SAMPLES, model.leading], "predicted", {
      anchor: "end",
      dy: -5,
      style: "orange",
    }),
    spectrum.text([SAMPLES, model.edges[1]], "noise alone", { anchor: "end", dy: 14 }),
  ];
  return {
    height,
    picture: picture.join(""),
    handles: [
      {
        name: "place",
        label: "Place in the phase diagram",
        panel: plane,
        x: state.aspect,
        y: state.strength,
        style: "blue",
        text: `γ = ${fixed(state.aspect)}, ℓ = ${fixed(state.strength)}; squared cosine ${fixed(model.predicted)} predicted, ${fixed(model.cosine)} in this draw`,
        step: 0.1,
        drag: (x, y) => ({ aspect: Math.max(0.05, x), strength: y }),
      },
    ],
  };
}

export const phase = {
  title: "Move along the phase diagram of PCA",
  help: "Drag the point: to the right for more features per sample, up for a stronger direction. A draw of 60 samples is made at each place, from the same noise.",
  start: { aspect: 1, strength: 3 },
  check: (state) => ({
    aspect: Math.min(4, Math.max(0.05, state.aspect)),
    strength: Math.min(6, Math.max(0, state.strength)),
  }),
  compute,
  draw,
  describe: (state, { p, seen, predicted, cosine, leading, eigenvalues }) =>
    `${SAMPLES} samples, ${p} features, a direction ${fixed(state.strength, 1)} above noise of variance 1. ` +
    (seen
      ? `PCA's leading direction is expected to have squared cosine ${fixed(predicted)} with the true one; `
      : "Below the line PCA's leading direction is expected to say nothing about the true one; ") +
    `this draw has ${fixed(cosine)}. Leading eigenvalue: true ${fixed(1 + state.strength, 1)}, predicted ${fixed(leading, 1)}, in this draw ${fixed(eigenvalues[0], 1)}.`,
};
