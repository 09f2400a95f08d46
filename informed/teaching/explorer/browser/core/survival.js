// Kaplan–Meier curves, the log-rank test, the chi-squared tail.
import { Matrix, dot, eigenSymmetric } from "./linear.js";

const Z95 = 1.959963984540054;

/** Kaplan–Meier curve of one group: zero and each time at which somebody left. */
export function kaplanMeier(times, events) {
  const order = times.map((_, i) => i).sort((a, b) => times[a] - times[b]);
  const curve = {
    times: [0],
    survival: [1],
    lower: [1],
    upper: [1],
    atRisk: [times.length],
    censored: [0],
  };
  let [survival, hazard, i] = [1, 0, 0];
  while (i < order.length) {
    const time = times[order[i]];
    const atRisk = order.length - i;
    let [deaths, left] = [0, 0];
    while (i < order.length && times[order[i]] === time) {
      if (events[order[i]]) deaths++;
      else left++;
      i++;
    }
    survival *= (atRisk - deaths) / atRisk;
    hazard += deaths / (atRisk * (atRisk - deaths)); // Greenwood's sum, infinite at the end
    const band = limits(survival, hazard);
    const at = time === 0 ? 0 : curve.times.length;
    curve.times[at] = time;
    curve.survival[at] = survival;
    curve.lower[at] = band[0];
    curve.upper[at] = band[1];
    curve.atRisk[at] = atRisk;
    curve.censored[at] = left;
  }
  const half = curve.survival.findIndex((share) => share <= 0.5 + 1e-9);
  return { ...curve, median: half < 0 ? Infinity : curve.times[half] };
}

/** Pointwise 95 % limits on the log(−log) scale. */
function limits(survival, hazard) {
  if (survival === 1 || survival === 0) return [survival, survival];
  const log = Math.log(survival);
  const width = (Z95 * Math.sqrt(hazard)) / log;
  return [Math.exp(log * Math.exp(-width)), Math.exp(log * Math.exp(width))].sort((a, b) => a - b);
}

/** Log-rank statistic UᵀV⁺U of groups 0 … G − 1, its degrees of freedom and p. */
export function logRank(times, events, groups) {
  const first = Math.min(...times.filter((_, i) => events[i]));
  const count = Math.max(...groups) + 1;
  const telling = new Set(groups.filter((_, i) => times[i] >= first));
  const expected = new Array(count).fill(0);
  const observed = new Array(count).fill(0);
  const V = new Matrix(count, count);
  const eventTimes = [...new Set(times.filter((_, i) => events[i]))];
  for (const time of eventTimes) {
    const atRisk = new Array(count).fill(0);
    let deaths = 0;
    times.forEach((other, i) => {
      if (other >= time) atRisk[groups[i]]++;
      if (other === time && events[i]) {
        observed[groups[i]]++;
        deaths++;
      }
    });
    const n = atRisk.reduce((a, b) => a + b, 0);
    const spread = n > 1 ? (deaths * (n - deaths)) / (n - 1) : 0;
    for (let g = 0; g < count; g++) {
      expected[g] += (deaths * atRisk[g]) / n;
      for (let h = 0; h < count; h++) {
        V.set(g, h, V.at(g, h) + (spread * atRisk[g] * ((g === h) * n - atRisk[h])) / (n * n));
      }
    }
  }
  const degrees = telling.size - 1;
  if (degrees === 0) return { statistic: 0, degrees, p: 1, observed, expected };
  const U = observed.map((value, g) => value - expected[g]);
  // V is singular along (1, …, 1), and where a group is in no risk set; U vanishes there too.
  const { values, vectors } = eigenSymmetric(V);
  let statistic = 0;
  values.forEach((value, k) => {
    if (value > 1e-10 * values[0]) statistic += dot(vectors.column(k), U) ** 2 / value;
  });
  return { statistic, degrees, p: chiSquaredTail(statistic, degrees), observed, expected };
}

/** Probability that a chi-squared variable with whole degrees of freedom exceeds x. */
export function chiSquaredTail(x, degrees) {
  if (x <= 0) return 1;
  const half = x / 2;
  // Q(a + 1, y) = Q(a, y) + yᵃ e^(−y)/Γ(a + 1), from a = ½ or 1.
  let a = degrees % 2 ? 0.5 : 1;
  let tail = degrees % 2 ? erfc(Math.sqrt(half)) : Math.exp(-half);
  let term = (degrees % 2 ? Math.sqrt(half) / (0.5 * Math.sqrt(Math.PI)) : half) * Math.exp(-half);
  for (; a < degrees / 2; a++) {
    tail += term;
    term *= half / (a + 1);
  }
  return Math.min(1, tail);
}

/** Complementary error function: a series near zero, a continued fraction beyond. */
export function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) {
    let [term, sum] = [x, x];
    for (let k = 1; Math.abs(term) > 1e-17 * sum && k < 200; k++) {
      term *= (2 * x * x) / (2 * k + 1);
      sum += term;
    }
    return 1 - (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
  }
  let fraction = 0;
  for (let k = 80; k > 0; k--) fraction = k / 2 / (x + fraction);
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * (x + fraction));
}
