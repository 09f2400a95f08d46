// Distances between samples: Euclidean, informed (one model for all), local (one model per sample).
import { Matrix, dot, rankOf, svd } from "./linear.js";
import { center, columnMeans } from "./clusters.js";
import { factorOf, findDirections } from "./directions.js";

/** Squared Euclidean distances between the rows of a matrix. */
export function squaredDistances(points) {
  const found = new Matrix(points.rows, points.rows);
  for (let i = 0; i < points.rows; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [points.row(i), points.row(j)];
      let sum = 0;
      for (let k = 0; k < a.length; k++) sum += (a[k] - b[k]) ** 2;
      found.set(i, j, sum);
      found.set(j, i, sum);
    }
  }
  return found;
}

/** Coordinates in which the Euclidean distance is the metric of a factor: F(x − mean). */
export function transform(X, factor, mean = columnMeans(X)) {
  const shifted = X.copy();
  for (let i = 0; i < X.rows; i++)
    shifted.row(i).forEach((value, j, row) => (row[j] = value - mean[j]));
  return shifted.times(factor.transpose());
}

/** Squared informed distances between all samples, with what they rest on. */
export function informedDistances(
  X,
  labels,
  { count, kind = "exact", variances = "pca", weight = 1 },
) {
  const found = findDirections(kind, X, labels, count, weight);
  const coordinates = transform(X, factorOf(found, variances));
  return { found, coordinates, squared: squaredDistances(coordinates) };
}

/** Indices of the nearest samples of each sample by Euclidean distance, itself first. */
export function neighborsOf(X, size) {
  const squared = squaredDistances(X);
  return Array.from({ length: X.rows }, (_, i) =>
    Array.from({ length: X.rows }, (_, j) => j)
      .sort((a, b) => (b === i) - (a === i) || squared.at(i, a) - squared.at(i, b) || a - b)
      .slice(0, size),
  );
}

export function rowsOf(X, indices) {
  const picked = new Matrix(indices.length, X.columns);
  indices.forEach((index, i) => picked.row(i).set(X.row(index)));
  return picked;
}

/**
 * Squared local distances: half of what each of the two samples' own models says.
 *
 * `labels` holds the clusters of the features for each neighbourhood; it is not used for "pca".
 */
export function localDistances(
  X,
  neighbors,
  labels,
  { count, kind = "exact", variances = "pca", weight = 1 },
) {
  const factors = neighbors.map((near, i) =>
    factorOf(findDirections(kind, rowsOf(X, near), labels && labels[i], count, weight), variances),
  );
  const squared = new Matrix(X.rows, X.rows);
  const difference = new Float64Array(X.columns);
  for (let i = 0; i < X.rows; i++) {
    for (let j = 0; j < X.rows; j++) {
      if (i === j) continue;
      for (let k = 0; k < X.columns; k++) difference[k] = X.at(i, k) - X.at(j, k);
      let half = 0;
      for (let d = 0; d < count; d++) half += 0.5 * dot(factors[i].row(d), difference) ** 2;
      squared.set(i, j, squared.at(i, j) + half);
      squared.set(j, i, squared.at(j, i) + half);
    }
  }
  return { factors, squared };
}

/**
 * Mahalanobis distances with the pseudo-inverse of the samples' own covariance.
 *
 * With X_c = U diag(s) Vᵀ the distance of samples i and j is √(n−1) |u_i − u_j| over the columns
 * of U that carry variance.
 */
export function mahalanobisDistances(X) {
  const centered = center(X);
  const { U, values } = svd(centered);
  const kept = U.leading(rankOf(values, centered));
  const squared = squaredDistances(kept);
  squared.data.forEach((value, i, data) => (data[i] = value * (X.rows - 1)));
  return squared;
}
