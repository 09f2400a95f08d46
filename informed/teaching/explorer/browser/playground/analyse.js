// From numbers to the answer, in steps that tell how far they are; runs in a worker.
import { Matrix } from "../core/linear.js";
import { center, countDistinctRows, kmeans, sizesOf } from "../core/clusters.js";
import { informedDistances } from "../core/distances.js";
import { bipartition, diffusionMap } from "../core/diffusion.js";
import { kaplanMeier, logRank } from "../core/survival.js";

export const MOST_CLUSTERS = 36; // one character each in the lines of Python

/** What stands in the way of these choices for this table, in words; null if nothing does. */
export function objection({ rows, features }, { count, clusters, kind, weight }) {
  const limit = Math.min(rows.length - 1, features.length);
  if (!Number.isInteger(count) || count < 1 || count > limit) {
    return `d must be a whole number from 1 to ${limit}: ${rows.length} centred samples with ${features.length} features span no more directions.`;
  }
  if (kind === "pca") return null;
  const most = Math.min(features.length, MOST_CLUSTERS);
  if (!Number.isInteger(clusters) || clusters < count || clusters > most) {
    return `K must be a whole number from d = ${count} to ${most}.`;
  }
  if (kind === "penalized" && !(weight >= 0))
    return "The weight must be a number that is not negative.";
  return null;
}

/** The whole path of the book; `report(share, words)` is called on the way. */
export function analyse(data, options, report = () => {}) {
  const X = Matrix.from(data.rows);
  const { count, clusters, kind, variances, weight, seed } = options;
  let labels = new Array(X.columns).fill(0);
  if (kind !== "pca") {
    report(0.05, "clustering the features");
    const points = center(X).transpose();
    const distinct = countDistinctRows(points);
    if (distinct < clusters) {
      throw new Error(
        `K = ${clusters} is too large: after centring the features take only ${distinct} distinct profiles.`,
      );
    }
    labels = kmeans(points, clusters, 10, seed, (round) => {
      report(0.05 + 0.4 * (1 - 0.8 ** round), "clustering the features");
    }).labels;
  }
  report(0.5, "finding the directions");
  const { found, coordinates, squared } = informedDistances(X, labels, {
    count,
    kind,
    variances,
    weight,
  });
  report(0.8, "embedding the samples");
  const { embedding, eigenvalues, epsilon } = diffusionMap(squared, Math.min(2, X.rows - 1));
  const groups = bipartition(embedding);
  report(0.95, "comparing the groups");
  return {
    labels,
    sizes: sizesOf(labels),
    directions: found.directions.toLines(),
    variances: variances === "own" ? found.variances : found.pcaVariances,
    coordinates: coordinates.toLines(),
    distances: squared.toLines().map((row) => row.map(Math.sqrt)),
    embedding: embedding.toLines(),
    eigenvalues,
    epsilon,
    groups,
    survival:
      data.survival && groups.includes(0) && groups.includes(1)
        ? compareGroups(data.survival, groups)
        : null,
  };
}

function compareGroups({ times, events }, groups) {
  const only = (values, g) => values.filter((_, i) => groups[i] === g);
  const test = logRank(times, events, groups);
  return { ...test, curves: [0, 1].map((g) => kaplanMeier(only(times, g), only(events, g))) };
}
