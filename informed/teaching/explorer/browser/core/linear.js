// Matrices, the symmetric eigenproblem, the thin singular value decomposition.

/** A dense matrix whose numbers stand row by row in one array. */
export class Matrix {
  constructor(rows, columns, data = new Float64Array(rows * columns)) {
    this.rows = rows;
    this.columns = columns;
    this.data = data;
  }

  static from(lines) {
    const made = new Matrix(lines.length, lines.length ? lines[0].length : 0);
    lines.forEach((line, i) => made.row(i).set(line));
    return made;
  }

  at(i, j) {
    return this.data[i * this.columns + j];
  }

  set(i, j, value) {
    this.data[i * this.columns + j] = value;
  }

  /** A row as a view: writing to it changes the matrix. */
  row(i) {
    return this.data.subarray(i * this.columns, (i + 1) * this.columns);
  }

  column(j) {
    return Float64Array.from({ length: this.rows }, (_, i) => this.at(i, j));
  }

  /** The first columns only. */
  leading(count) {
    const cut = new Matrix(this.rows, count);
    for (let i = 0; i < this.rows; i++) cut.row(i).set(this.row(i).subarray(0, count));
    return cut;
  }

  copy() {
    return new Matrix(this.rows, this.columns, this.data.slice());
  }

  transpose() {
    const turned = new Matrix(this.columns, this.rows);
    for (let i = 0; i < this.rows; i++) {
      for (let j = 0; j < this.columns; j++) turned.set(j, i, this.at(i, j));
    }
    return turned;
  }

  times(other) {
    const product = new Matrix(this.rows, other.columns);
    for (let i = 0; i < this.rows; i++) {
      const out = product.row(i);
      // Along the rows of the other matrix: the order in which its numbers lie in memory.
      for (let k = 0; k < this.columns; k++) addMultiple(out, this.at(i, k), other.row(k));
    }
    return product;
  }

  toLines() {
    return Array.from({ length: this.rows }, (_, i) => Array.from(this.row(i)));
  }
}

export const EPSILON = Number.EPSILON;

/** The largest entry in absolute value; 1 if all are zero. */
function largestEntry(A) {
  let largest = 0;
  for (const value of A.data) largest = Math.max(largest, Math.abs(value));
  return largest || 1;
}

function scaled(A, size) {
  return new Matrix(
    A.rows,
    A.columns,
    A.data.map((value) => value / size),
  );
}

export function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

export function addMultiple(target, factor, source) {
  if (factor === 0) return;
  for (let i = 0; i < target.length; i++) target[i] += factor * source[i];
}

/** Replace the vectors a and b by c·a − s·b and s·a + c·b. */
function rotate(a, b, c, s) {
  for (let i = 0; i < a.length; i++) {
    const old = a[i];
    a[i] = c * old - s * b[i];
    b[i] = s * old + c * b[i];
  }
}

/** Cosine and sine of the turn that makes two vectors with these products orthogonal. */
function turnFor(aa, ab, bb) {
  const zeta = (bb - aa) / (2 * ab);
  const t = (zeta >= 0 ? 1 : -1) / (Math.abs(zeta) + Math.hypot(1, zeta));
  const c = 1 / Math.hypot(1, t);
  return [c, c * t];
}

/**
 * Thin singular value decomposition A = U diag(values) Vᵀ, values falling.
 *
 * One-sided Jacobi: rows are turned against each other until all are orthogonal; their lengths are
 * the singular values, small ones to their own relative precision. A matrix that is longer one way
 * is first reduced to its triangular factor, so that the turns cost the cube of the shorter side.
 */
export function svd(A) {
  const size = largestEntry(A);
  // Squares of very large or very small numbers would leave the range of numbers.
  const { U, values, V } = svdOfScaled(scaled(A, size));
  return { U, values: values.map((value) => value * size), V };
}

function svdOfScaled(A) {
  if (A.rows > A.columns) {
    const { U, values, V } = svdOfScaled(A.transpose());
    return { U: V, values, V: U };
  }
  const m = A.rows;
  if (A.columns > m) {
    const { Q, R } = qr(A.transpose()); // Aᵀ = QR, so A = RᵀQᵀ
    const { U, values, V } = svdOfScaled(R.transpose());
    return { U, values, V: Q.times(V) };
  }
  const W = A.copy();
  const turns = identity(m);
  for (let sweep = 0, moved = true; moved && sweep < 60; sweep++) {
    moved = false;
    for (let p = 0; p < m - 1; p++) {
      for (let q = p + 1; q < m; q++) {
        const [a, b] = [W.row(p), W.row(q)];
        const [aa, bb, ab] = [dot(a, a), dot(b, b), dot(a, b)];
        if (ab === 0 || Math.abs(ab) <= m * EPSILON * Math.sqrt(aa * bb)) continue;
        moved = true;
        const [c, s] = turnFor(aa, ab, bb);
        rotate(a, b, c, s);
        rotate(turns.row(p), turns.row(q), c, s);
      }
    }
  }
  // W = turns · A has orthogonal rows, so A = turnsᵀ diag(lengths) (W / lengths).
  const lengths = Array.from({ length: m }, (_, i) => Math.hypot(...chunk(W.row(i))));
  const order = lengths.map((_, i) => i).sort((i, j) => lengths[j] - lengths[i]);
  const U = new Matrix(m, m);
  const V = new Matrix(m, m);
  const values = Float64Array.from(order, (i) => lengths[i]);
  order.forEach((i, k) => {
    const scale = lengths[i] > 0 ? 1 / lengths[i] : 0;
    for (let j = 0; j < m; j++) {
      U.set(j, k, turns.at(i, j));
      V.set(j, k, W.at(i, j) * scale);
    }
  });
  return { U, values, V };
}

/** The length of a vector in a few numbers: Math.hypot takes only so many arguments at once. */
function chunk(vector) {
  if (vector.length <= 1000) return vector;
  const parts = [];
  for (let i = 0; i < vector.length; i += 1000)
    parts.push(Math.hypot(...vector.subarray(i, i + 1000)));
  return parts;
}

/** A = QR with orthonormal columns of Q, by Householder reflections; A must not be wide. */
export function qr(A) {
  const [m, n] = [A.rows, A.columns];
  // Columns as rows, where they lie together in memory.
  const work = A.transpose();
  const mirrors = [];
  const R = new Matrix(n, n);
  for (let k = 0; k < n; k++) {
    const v = work.row(k).slice(k);
    const length = Math.hypot(...chunk(v));
    const head = v[0] > 0 ? -length : length;
    v[0] -= head;
    const squared = dot(v, v);
    mirrors.push(squared > 0 ? { v, squared } : null);
    R.set(k, k, length > 0 ? head : 0);
    for (let j = k + 1; j < n; j++) {
      const rest = work.row(j).subarray(k);
      if (squared > 0) addMultiple(rest, (-2 * dot(v, rest)) / squared, v);
      R.set(k, j, rest[0]);
    }
  }
  const Q = new Matrix(n, m);
  for (let j = 0; j < n; j++) Q.set(j, j, 1);
  for (let k = n - 1; k >= 0; k--) {
    if (!mirrors[k]) continue;
    const { v, squared } = mirrors[k];
    for (let j = k; j < n; j++) {
      const rest = Q.row(j).subarray(k);
      addMultiple(rest, (-2 * dot(v, rest)) / squared, v);
    }
  }
  return { Q: Q.transpose(), R };
}

export function identity(n) {
  const made = new Matrix(n, n);
  for (let i = 0; i < n; i++) made.set(i, i, 1);
  return made;
}

/**
 * Eigenvalues of a symmetric matrix, falling, and orthonormal eigenvectors as columns.
 *
 * Householder reflections make it tridiagonal, then implicit QL steps with Wilkinson's shift make
 * it diagonal.
 */
export function eigenSymmetric(A) {
  const n = A.rows;
  const size = largestEntry(A);
  const { diagonal, off, rows } = tridiagonal(scaled(A, size));
  for (let l = 0; l < n; l++) {
    for (let round = 0; ; round++) {
      let m = l;
      while (m < n - 1) {
        const scale = Math.abs(diagonal[m]) + Math.abs(diagonal[m + 1]);
        if (Math.abs(off[m]) <= EPSILON * scale) break;
        m++;
      }
      if (m === l) break;
      if (round > 80) throw new Error("the eigenvalues did not settle");
      const half = (diagonal[l + 1] - diagonal[l]) / (2 * off[l]);
      const root = Math.hypot(half, 1);
      let bulge = diagonal[m] - diagonal[l] + off[l] / (half + (half >= 0 ? root : -root));
      let [s, c, p] = [1, 1, 0];
      let broken = false;
      for (let i = m - 1; i >= l; i--) {
        const f = s * off[i];
        const b = c * off[i];
        const r = Math.hypot(f, bulge);
        off[i + 1] = r;
        if (r === 0) {
          // The matrix fell apart on the way: go on with the parts.
          diagonal[i + 1] -= p;
          off[m] = 0;
          broken = true;
          break;
        }
        s = f / r;
        c = bulge / r;
        const g = diagonal[i + 1] - p;
        const t = (diagonal[i] - g) * s + 2 * c * b;
        p = s * t;
        diagonal[i + 1] = g + p;
        bulge = c * t - b;
        rotate(rows.row(i), rows.row(i + 1), c, s);
      }
      if (broken) continue;
      diagonal[l] -= p;
      off[l] = bulge;
      off[m] = 0;
    }
  }
  const order = Array.from(diagonal.keys()).sort((i, j) => diagonal[j] - diagonal[i]);
  const vectors = new Matrix(n, n);
  order.forEach((i, k) => {
    for (let j = 0; j < n; j++) vectors.set(j, k, rows.at(i, j));
  });
  return { values: Float64Array.from(order, (i) => diagonal[i] * size), vectors };
}

/** QᵀAQ tridiagonal: its diagonal, what stands beside it, and Qᵀ. */
function tridiagonal(A) {
  const n = A.rows;
  const work = A.copy();
  const mirrors = [];
  const off = new Float64Array(n);
  for (let k = 0; k < n - 2; k++) {
    const v = work.row(k).slice(k + 1);
    const length = Math.hypot(...chunk(v));
    const head = v[0] > 0 ? -length : length;
    off[k] = head;
    v[0] -= head;
    const squared = dot(v, v);
    if (!(squared > 0)) {
      mirrors.push(null);
      continue;
    }
    mirrors.push({ v, squared });
    // The rest B becomes (I − 2vvᵀ/|v|²) B (I − 2vvᵀ/|v|²) = B − vwᵀ − wvᵀ.
    const size = n - k - 1;
    const w = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      w[i] = (2 * dot(work.row(k + 1 + i).subarray(k + 1), v)) / squared;
    }
    addMultiple(w, -dot(v, w) / squared, v);
    for (let i = 0; i < size; i++) {
      const row = work.row(k + 1 + i).subarray(k + 1);
      addMultiple(row, -v[i], w);
      addMultiple(row, -w[i], v);
    }
  }
  if (n > 1) off[n - 2] = work.at(n - 1, n - 2);
  const rows = identity(n);
  // Qᵀ = M_{n−3} … M_0, built from the last mirror so that only a corner is ever touched.
  const Q = identity(n);
  for (let k = n - 3; k >= 0; k--) {
    if (!mirrors[k]) continue;
    const { v, squared } = mirrors[k];
    const along = new Float64Array(n - k - 1);
    for (let i = 0; i < v.length; i++) addMultiple(along, v[i], Q.row(k + 1 + i).subarray(k + 1));
    for (let i = 0; i < v.length; i++) {
      addMultiple(Q.row(k + 1 + i).subarray(k + 1), (-2 * v[i]) / squared, along);
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) rows.set(j, i, Q.at(i, j));
  const diagonal = Float64Array.from({ length: n }, (_, i) => work.at(i, i));
  return { diagonal, off, rows };
}

/** Flip columns so that the largest entry of each is positive (the first among near ties). */
export function fixSigns(U) {
  const fixed = U.copy();
  for (let k = 0; k < U.columns; k++) {
    let largest = 0;
    for (let i = 0; i < U.rows; i++) largest = Math.max(largest, Math.abs(U.at(i, k)));
    let first = 0;
    while (Math.abs(U.at(first, k)) < (1 - 1e-6) * largest) first++;
    if (U.at(first, k) < 0) for (let i = 0; i < U.rows; i++) fixed.set(i, k, -U.at(i, k));
  }
  return fixed;
}

/** Number of singular values that stand out of rounding, as numpy.linalg.matrix_rank counts. */
export function rankOf(values, A) {
  const tolerance = (values[0] || 0) * Math.max(A.rows, A.columns) * EPSILON;
  return values.filter((value) => value > tolerance).length;
}

/** Median of numbers: the mean of the two in the middle if their count is even. */
export function median(numbers) {
  const sorted = Float64Array.from(numbers).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
