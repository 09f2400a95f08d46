// Clusters of features: k-means from given partitions, the orthonormal indicator, averaging.
import { Matrix, dot } from "./linear.js";

// As in informed.clusters.kmeans: rounds after which starts are compared, and how many go on.
const TRIAL_ROUNDS = 4;
const GO_ON = 5;
const MAX_ROUNDS = 300;

/** Subtract the mean of each column; the first row first, so that constants become exactly zero. */
export function center(X) {
  const centered = X.copy();
  const means = new Float64Array(X.columns);
  for (let i = 0; i < X.rows; i++) {
    const row = centered.row(i);
    for (let j = 0; j < X.columns; j++) {
      row[j] -= X.at(0, j);
      means[j] += row[j] / X.rows;
    }
  }
  for (let i = 0; i < X.rows; i++) {
    const row = centered.row(i);
    for (let j = 0; j < X.columns; j++) row[j] -= means[j];
  }
  return centered;
}

export function columnMeans(X) {
  const means = new Float64Array(X.columns);
  for (let i = 0; i < X.rows; i++) for (let j = 0; j < X.columns; j++) means[j] += X.at(i, j);
  return means.map((sum) => sum / X.rows);
}

/** Renumber labels so that they appear as 0, 1, 2, … when read from the start. */
export function relabel(labels) {
  const numbers = new Map();
  return Array.from(labels, (label) => {
    if (!numbers.has(label)) numbers.set(label, numbers.size);
    return numbers.get(label);
  });
}

export function sizesOf(labels, count = Math.max(...labels) + 1) {
  const sizes = new Array(count).fill(0);
  for (const label of labels) sizes[label]++;
  return sizes;
}

/** Sums of the rows of U within each cluster. */
function clusterSums(U, labels, count) {
  const sums = new Matrix(count, U.columns);
  labels.forEach((label, i) => {
    const [sum, row] = [sums.row(label), U.row(i)];
    for (let j = 0; j < sum.length; j++) sum[j] += row[j];
  });
  return sums;
}

/** HHᵀU: each row of U becomes the mean over its cluster. */
export function averageOverClusters(U, labels) {
  const sizes = sizesOf(labels);
  const sums = clusterSums(U, labels, sizes.length);
  const averaged = new Matrix(U.rows, U.columns);
  labels.forEach((label, i) => {
    averaged.row(i).set(sums.row(label).map((sum) => sum / sizes[label]));
  });
  return averaged;
}

/** Coordinates HᵀU of the columns of U in the span of the indicators. */
export function clusterCoordinates(U, labels) {
  const sizes = sizesOf(labels);
  const sums = clusterSums(U, labels, sizes.length);
  sizes.forEach((size, k) =>
    sums.row(k).forEach((sum, j, row) => (row[j] = sum / Math.sqrt(size))),
  );
  return sums;
}

/** Vectors HT of feature space with the coordinates T. */
export function fromClusterCoordinates(T, labels) {
  const sizes = sizesOf(labels);
  const U = new Matrix(labels.length, T.columns);
  labels.forEach((label, i) => {
    U.row(i).set(T.row(label).map((value) => value / Math.sqrt(sizes[label])));
  });
  return U;
}

/** The orthonormal indicator matrix H. */
export function indicator(labels) {
  const sizes = sizesOf(labels);
  const H = new Matrix(labels.length, sizes.length);
  labels.forEach((label, i) => H.set(i, label, 1 / Math.sqrt(sizes[label])));
  return H;
}

/**
 * Lloyd's algorithm from several partitions of the rows of a matrix; the best partition and its cost.
 *
 * After a few rounds only the most promising starts go on. An empty cluster takes the point that is
 * farthest from its centre.
 */
export function bestPartition(points, starts, count, onRound = () => {}) {
  const squared = Array.from({ length: points.rows }, (_, i) => dot(points.row(i), points.row(i)));
  let current = starts.map((start) => Array.from(start));
  let best = current[0];
  let bestCost = Infinity;
  for (let trial = 1; trial <= MAX_ROUNDS && current.length; trial++) {
    onRound(trial);
    const rounds = current.map((partition) => lloydStep(points, partition, count, squared));
    rounds.forEach(({ moved, cost }) => {
      if (cost < bestCost) [best, bestCost] = [moved, cost];
    });
    const limit =
      trial === TRIAL_ROUNDS && rounds.length > GO_ON
        ? rounds.map(({ cost }) => cost).sort((a, b) => a - b)[GO_ON - 1]
        : Infinity;
    current = rounds
      .filter(
        ({ moved, cost }, i) => cost <= limit && moved.some((label, j) => label !== current[i][j]),
      )
      .map(({ moved }) => moved);
  }
  return { labels: best, cost: bestCost };
}

function lloydStep(points, partition, count, squared) {
  const sizes = sizesOf(partition, count);
  const centers = clusterSums(points, partition, count);
  sizes.forEach((size, k) => {
    if (size > 1) centers.row(k).forEach((sum, j, row) => (row[j] = sum / size));
  });
  const norms = sizes.map((size, k) => (size ? dot(centers.row(k), centers.row(k)) : Infinity));
  const nearest = new Float64Array(points.rows);
  const moved = Array.from({ length: points.rows }, (_, i) => {
    const point = points.row(i);
    let [least, winner] = [Infinity, 0];
    for (let k = 0; k < count; k++) {
      if (norms[k] === Infinity) continue; // an empty cluster attracts nothing
      const gap = norms[k] - 2 * dot(centers.row(k), point);
      if (gap < least) [least, winner] = [gap, k];
    }
    nearest[i] = least;
    return winner;
  });
  const cost = nearest.reduce((sum, gap, i) => sum + gap + squared[i], 0);
  fillEmptyClusters(moved, nearest, squared, sizesOf(moved, count));
  return { moved, cost };
}

function fillEmptyClusters(moved, nearest, squared, sizes) {
  const distances = nearest.map((gap, i) => gap + squared[i]);
  sizes.forEach((size, k) => {
    if (size) return;
    let far = 0;
    distances.forEach((distance, i) => {
      if (distance > distances[far]) far = i;
    });
    sizes[moved[far]]--;
    moved[far] = k;
    sizes[k] = 1;
    distances[far] = -Infinity;
  });
}

/** Random numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Starting partitions by k-means++: centres with probability proportional to the squared distance. */
export function spreadPartitions(points, count, nStarts, draw) {
  const squared = Array.from({ length: points.rows }, (_, i) => dot(points.row(i), points.row(i)));
  const distancesTo = (chosen) =>
    squared.map((own, i) =>
      Math.max(0, own + squared[chosen] - 2 * dot(points.row(i), points.row(chosen))),
    );
  return Array.from({ length: nStarts }, () => {
    let distances = distancesTo(Math.floor(draw() * points.rows));
    const partition = new Array(points.rows).fill(0);
    for (let k = 1; k < count; k++) {
      let left = draw() * distances.reduce((sum, distance) => sum + distance, 0);
      let chosen = 0;
      while (chosen < points.rows - 1 && left >= distances[chosen]) left -= distances[chosen++];
      distancesTo(chosen).forEach((distance, i) => {
        if (distance < distances[i]) [partition[i], distances[i]] = [k, distance];
      });
      [partition[chosen], distances[chosen]] = [k, 0];
    }
    return partition;
  });
}

/** K-means of the rows of a matrix with fixed seed: labels by first occurrence, and the cost. */
export function kmeans(points, count, nStarts = 10, seed = 0, onRound = () => {}) {
  const { labels, cost } = bestPartition(
    points,
    spreadPartitions(points, count, nStarts, random(seed)),
    count,
    onRound,
  );
  return { labels: relabel(labels), cost };
}

/** Number of rows that differ from all others before them. */
export function countDistinctRows(points) {
  const seen = new Set();
  for (let i = 0; i < points.rows; i++) seen.add(points.row(i).join());
  return seen.size;
}
