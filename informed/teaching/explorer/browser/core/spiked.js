// What PCA sees of one direction of extra variance, when features and samples grow together.

/** Squared cosine between the leading sample direction and the true one, noise of variance 1. */
export function squaredCosine(strength, aspect) {
  if (strength <= Math.sqrt(aspect)) return 0;
  return (1 - aspect / strength ** 2) / (1 + aspect / strength);
}

/** Where the leading eigenvalue of the sample covariance ends; the edge of the noise if unseen. */
export function leadingEigenvalue(strength, aspect) {
  if (strength <= Math.sqrt(aspect)) return (1 + Math.sqrt(aspect)) ** 2;
  return (1 + strength) * (1 + aspect / strength);
}
