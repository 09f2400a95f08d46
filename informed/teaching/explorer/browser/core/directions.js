// Directions of the samples: principal, averaged over clusters, exact within them, penalised.
import { EPSILON, Matrix, fixSigns, rankOf, svd } from "./linear.js";
import {
  averageOverClusters,
  center,
  clusterCoordinates,
  fromClusterCoordinates,
  indicator,
} from "./clusters.js";

function checkRank(values, matrix, count, what) {
  const rank = rankOf(values, matrix);
  if (count > rank) {
    throw new Error(
      `d = ${count} is out of range: the rank of ${what} is ${rank}, and a direction without ` +
        "variance has no Mahalanobis scale",
    );
  }
}

const toVariances = (values, count, n) =>
  Array.from(values.slice(0, count), (value) => (value * value) / (n - 1));

/** Leading principal directions, one per column, and the variances along them. */
export function pcaDirections(X, count) {
  const centered = center(X);
  const { values, V } = svd(centered);
  checkRank(values, centered, count, "the centred data");
  const variances = toVariances(values, count, X.rows);
  return { directions: fixSigns(V.leading(count)), variances, pcaVariances: variances };
}

/** HHᵀU for the principal directions U. */
export function averagedDirections(X, labels, count) {
  const pca = pcaDirections(X, count);
  const directions = averageOverClusters(pca.directions, labels);
  return {
    directions,
    variances: variancesAlong(center(X), directions),
    pcaVariances: pca.variances,
  };
}

/** The closed form: PCA of the cluster means, each times the root of the cluster's size. */
export function exactDirections(X, labels, count) {
  const centered = center(X);
  const B = clusterCoordinates(centered.transpose(), labels);
  const { U, values } = svd(B);
  checkRank(values, B, count, "the cluster means");
  return {
    directions: fixSigns(fromClusterCoordinates(U.leading(count), labels)),
    variances: toVariances(values, count, X.rows),
    pcaVariances: pcaVariances(centered, count),
  };
}

/** Leading left singular vectors of [X_cᵀ/√(n−1) | √η H]; η = 0 is PCA, η → ∞ the exact ones. */
export function penalizedDirections(X, labels, count, weight) {
  const centered = center(X);
  const largest = pcaVariances(centered, count);
  if (weight * Math.sqrt(EPSILON) >= largest[0]) {
    return { ...exactDirections(X, labels, count), pcaVariances: largest };
  }
  const H = indicator(labels);
  const stacked = new Matrix(X.rows + H.columns, X.columns);
  for (let i = 0; i < X.rows; i++) {
    stacked.row(i).set(centered.row(i).map((value) => value / Math.sqrt(X.rows - 1)));
  }
  for (let k = 0; k < H.columns; k++) {
    stacked.row(X.rows + k).set(H.column(k).map((value) => value * Math.sqrt(weight)));
  }
  const directions = fixSigns(svd(stacked).V.leading(count));
  return { directions, variances: variancesAlong(centered, directions), pcaVariances: largest };
}

/** The largest eigenvalues of the sample covariance. */
export function pcaVariances(centered, count) {
  const { values } = svd(centered);
  checkRank(values, centered, count, "the centred data");
  return toVariances(values, count, centered.rows);
}

export function variancesAlong(centered, U) {
  const scores = centered.times(U);
  return Array.from({ length: U.columns }, (_, k) => {
    const squares = (M) => M.column(k).reduce((sum, value) => sum + value * value, 0);
    return squares(scores) / (squares(U) || 1) / (centered.rows - 1);
  });
}

/** tr[(I − UUᵀ) Σ (I − UUᵀ)]: the mean squared error of replacing each sample c by UUᵀc. */
export function reconstructionError(X, U) {
  const centered = center(X);
  const kept = centered.times(U).times(U.transpose());
  let sum = 0;
  centered.data.forEach((value, i) => (sum += (value - kept.data[i]) ** 2));
  return sum / (X.rows - 1);
}

export function unitColumns(U) {
  const scaled = U.copy();
  for (let k = 0; k < U.columns; k++) {
    const length = Math.sqrt(U.column(k).reduce((sum, value) => sum + value * value, 0));
    if (length <= EPSILON) throw new Error(`direction ${k + 1} averages to zero over the clusters`);
    for (let i = 0; i < U.rows; i++) scaled.set(i, k, U.at(i, k) / length);
  }
  return scaled;
}

/** The factor Λ^(−1/2) Ũᵀ of the metric, d × p. */
export function factorOf(found, variances) {
  const lambda = variances === "own" ? found.variances : found.pcaVariances;
  const factor = unitColumns(found.directions).transpose();
  lambda.forEach((variance, k) =>
    factor.row(k).forEach((value, j, row) => (row[j] = value / Math.sqrt(variance))),
  );
  return factor;
}

/** Directions of the named kind. */
export function findDirections(kind, X, labels, count, weight) {
  if (kind === "pca") return pcaDirections(X, count);
  if (kind === "averaged") return averagedDirections(X, labels, count);
  if (kind === "penalized") return penalizedDirections(X, labels, count, weight);
  return exactDirections(X, labels, count);
}
