// Diffusion maps, and the two groups that the sign of the leading coordinate makes.
import { Matrix, eigenSymmetric, fixSigns, median } from "./linear.js";

/**
 * Diffusion map of squared distances: kernel exp(−d²/ε), ε = scale × the median squared distance
 * unless it is given; coordinates λφ without the trivial one, φ of unit length under the stationary
 * distribution.
 */
export function diffusionMap(squared, count, { epsilon = null, scale = 1, alpha = 0 } = {}) {
  const n = squared.rows;
  const between = [];
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) between.push(squared.at(i, j));
  const width = epsilon === null ? scale * median(between) : epsilon;
  if (!(width > 0))
    throw new Error("at least half of the distances are zero: no scale can be chosen");
  const kernel = new Matrix(
    n,
    n,
    squared.data.map((value) => Math.exp(-value / width)),
  );
  for (let i = 0; i < n; i++) kernel.set(i, i, 1);
  const density = rowSums(kernel).map((sum) => sum ** alpha);
  divide(kernel, density);
  const sums = rowSums(kernel);
  const roots = sums.map(Math.sqrt);
  divide(kernel, roots);
  const length = Math.sqrt(sums.reduce((total, sum) => total + sum, 0));
  const trivial = roots.map((root) => root / length);
  // The trivial eigenvalue moves from 1 to −1, below all others.
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) kernel.set(i, j, kernel.at(i, j) - 2 * trivial[i] * trivial[j]);
  }
  const { values, vectors } = eigenSymmetric(kernel);
  const leading = vectors.leading(count);
  for (let i = 0; i < n; i++)
    for (let k = 0; k < count; k++) leading.set(i, k, leading.at(i, k) / trivial[i]);
  const eigenvectors = fixSigns(leading);
  const embedding = eigenvectors.copy();
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < count; k++) embedding.set(i, k, eigenvectors.at(i, k) * values[k]);
  }
  return { embedding, eigenvalues: Array.from(values.slice(0, count)), epsilon: width };
}

function rowSums(kernel) {
  return Float64Array.from({ length: kernel.rows }, (_, i) =>
    kernel.row(i).reduce((a, b) => a + b, 0),
  );
}

/** Divide entry (i, j) by by[i]·by[j]. */
function divide(kernel, by) {
  for (let i = 0; i < kernel.rows; i++) {
    kernel.row(i).forEach((value, j, row) => (row[j] = value / by[j] / by[i]));
  }
}

/** 1 where the leading coordinate is positive, else 0. */
export function bipartition(embedding) {
  return Array.from({ length: embedding.rows }, (_, i) => Number(embedding.at(i, 0) > 0));
}
