// Move patients between two groups, and see what the curves and the log-rank p make of it.
import { kaplanMeier, logRank } from "../core/survival.js";
import { Panel, arrange, fixed, shorten } from "../stage/plot.js";

// Invented follow-up of 24 patients, in months; 1 is a death, 0 the end of observation.
const TIMES = [
  3, 5, 8, 9, 11, 14, 15, 18, 21, 22, 26, 28, 30, 33, 35, 39, 41, 44, 47, 50, 54, 57, 60, 60,
];
const EVENTS = [1, 1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 0];
const START = [0, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1, 0];
const GROUPS = ["blue", "red"];

const only = (values, groups, g) => values.filter((_, i) => groups[i] === g);

function compute({ groups }) {
  const sizes = [0, 1].map((g) => groups.filter((other) => other === g).length);
  const curves = [0, 1].map((g) =>
    sizes[g] ? kaplanMeier(only(TIMES, groups, g), only(EVENTS, groups, g)) : null,
  );
  const test =
    sizes[0] && sizes[1]
      ? logRank(TIMES, EVENTS, groups)
      : { p: 1, statistic: 0, observed: [0, 0], expected: [0, 0] };
  return { times: TIMES, events: EVENTS, sizes, curves, ...test };
}

function draw(width, state, model) {
  const { boxes, height } = arrange(width, [
    { share: 1, height: 336 },
    { share: 1.1, height: 336 },
  ]);
  const lanes = new Panel(boxes[0], [0, 62], [24, 0]);
  const curves = new Panel(boxes[1], [0, 62], [0, 1.02]);
  const lane = lanes.height / 24;
  const picture = [
    lanes.axes({ title: "patients", xlabel: "months: • died, | still observed", yticks: [] }),
    curves.axes({
      title: `log-rank p = ${shorten(model.p, 2)}`,
      xlabel: "months",
      ylabel: "share alive",
    }),
  ];
  model.curves.forEach((curve, g) => {
    if (!curve) return;
    const points = curve.times.map((time, i) => [time, curve.survival[i]]);
    picture.push(curves.steps(points, `${GROUPS[g]}${g ? " dashed" : ""} wide`));
    curve.censored.forEach((count, i) => {
      if (count)
        picture.push(
          curves.text([curve.times[i], curve.survival[i]], "|", {
            anchor: "middle",
            dy: 4,
            style: GROUPS[g],
          }),
        );
    });
    const words = `group ${g + 1}${g ? ", dashed" : ""}`;
    picture.push(curves.text([61, 0.97 - 0.06 * g], words, { anchor: "end", style: GROUPS[g] }));
  });
  const marks = state.groups.map((group, i) => {
    const [from, to, y] = [lanes.px(0), lanes.px(TIMES[i]), lanes.top + (i + 0.5) * lane];
    const end = EVENTS[i]
      ? `<circle class="mark ${GROUPS[group]}" cx="${to}" cy="${y.toFixed(1)}" r="4"/>`
      : `<path class="line ${GROUPS[group]}" d="M${to} ${(y - 5).toFixed(1)}v10"/>`;
    return {
      name: `patient-${i}`,
      label: `Patient ${i + 1}, ${EVENTS[i] ? "died after" : "observed for"} ${TIMES[i]} months, group ${group + 1}`,
      x: lanes.left,
      y: lanes.top + i * lane,
      width: lanes.width,
      height: lane,
      picture: `<path class="line wide ${GROUPS[group]}${group ? " dashed" : ""}" d="M${from} ${y.toFixed(1)}H${to}"/>${end}`,
      press: (now, then) => {
        const groups = now.groups.map((other, j) => (j === i ? 1 - other : other));
        return { groups, least: Math.min(now.least, compute({ groups }).p, then.p) };
      },
    };
  });
  return { height, picture: picture.join(""), marks };
}

export const patients = {
  title: "Move patients between the groups",
  help: "Press a patient to move them to the other group. By keyboard: arrows go from patient to patient, Space moves one.",
  start: { groups: START, least: 1 },
  actions: [
    {
      label: "Split by follow-up time (a fraud)",
      act: (state) => {
        const groups = TIMES.map((time) => Number(time > 24));
        return { groups, least: Math.min(state.least, compute({ groups }).p) };
      },
    },
  ],
  check: (state) => ({
    groups: state.groups.map((group) => Number(group > 0.5)),
    least: Math.min(1, Math.max(0, state.least)),
  }),
  compute,
  draw,
  describe: (state, { sizes, p, observed, expected }) =>
    sizes[0] && sizes[1]
      ? `Group 1: ${sizes[0]} patients, ${observed[0]} deaths where ${fixed(expected[0], 1)} were to be expected; group 2: ${sizes[1]}, ${observed[1]} and ${fixed(expected[1], 1)}. Log-rank p ${shorten(p, 2)}. ` +
        `The smallest p that you have reached is ${shorten(Math.min(state.least, p), 2)}: it means nothing, since you looked at the deaths while choosing.`
      : "One group is empty: there is nothing to compare.",
};
