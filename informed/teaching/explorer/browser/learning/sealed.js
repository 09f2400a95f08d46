// Compare typed numbers with right ones that do not stand in the page: only hashes of them do.

const ROUNDS = 200; // as in informed.teaching.exercises.sealed

/** First eight hexadecimal digits of SHA-256, applied to a text and then again to what comes out. */
export function seal(text) {
  let bytes = new TextEncoder().encode(text);
  for (let round = 0; round < ROUNDS; round++) bytes = sha256(bytes);
  return Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Fractional parts of the roots of the first primes, as the standard has them. (The browser's own
// SHA-256 is not at hand on a page that is served without encryption.)
const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((prime) => n % prime)) PRIMES.push(n);
const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32) | 0;
const CONSTANTS = Int32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
const START = Int32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

export function sha256(message) {
  const blocks = Math.ceil((message.length + 9) / 64);
  const bytes = new Uint8Array(64 * blocks);
  bytes.set(message);
  bytes[message.length] = 0x80;
  const view = new DataView(bytes.buffer);
  view.setUint32(64 * blocks - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(64 * blocks - 4, (message.length * 8) >>> 0);
  const state = START.slice();
  const w = new Int32Array(64);
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  for (let block = 0; block < blocks; block++) {
    for (let t = 0; t < 16; t++) w[t] = view.getInt32(64 * block + 4 * t);
    for (let t = 16; t < 64; t++) {
      const s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >>> 3);
      const s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >>> 10);
      w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + CONSTANTS[t] + w[t]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((value, k) => (state[k] += value));
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((value, k) => out.setInt32(4 * k, value));
  return new Uint8Array(out.buffer);
}

/** A number rounded to some digits, as text: 3.142e0. */
export function keyOf(value, digits) {
  if (value === 0) return "0";
  return value.toExponential(digits - 1).replace("e+", "e");
}

function fits(value, { salt, digits, keys }) {
  const tried = [keyOf(value, digits)];
  if (Math.abs(value) <= 5e-4) tried.push("0");
  return tried.some((key) => keys.includes(seal(`${salt}|${key}`)));
}

function permutations(list) {
  if (list.length < 2) return [list];
  return list.flatMap((first, k) =>
    permutations([...list.slice(0, k), ...list.slice(k + 1)]).map((rest) => [first, ...rest]),
  );
}

/** What the self-check of the notebook would say, in the same words. */
export function judge(values, sealed) {
  const { answers, titles, free, mistakes } = sealed;
  const orders = permutations(free).map((places) => {
    const result = [...values];
    free.forEach((to, k) => (result[to] = values[places[k]]));
    return result;
  });
  const scored = orders.map((order) => ({
    order,
    right: order.map((value, k) => fits(value, answers[k])),
  }));
  const count = ({ right }) => right.filter(Boolean).length;
  const best = scored.reduce((a, b) => (count(b) > count(a) ? b : a));
  const wrong = best.right.flatMap((right, k) => (right ? [] : [k]));
  if (!wrong.length) {
    return {
      right: true,
      words: values.length === 1 ? "that is the number." : "all the numbers are right.",
    };
  }
  const mistake = mistakes.find(({ fields }) =>
    fields.every((field, k) => field === null || fits(best.order[k], field)),
  );
  if (mistake) return { right: false, words: mistake.hint };
  const which = values.length === 1 ? "" : `${wrong.map((k) => titles[k]).join(", ")}: `;
  // Does one of these changes make each wrong number right?
  const all = (...changes) =>
    wrong.every((k) => changes.some((change) => fits(change(best.order[k]), answers[k])));
  const slip = all((value) => -value)
    ? "look at the sign."
    : all(Math.sqrt, (value) => -Math.sqrt(value))
      ? "this is the square of what is asked."
      : all((value) => value * value)
        ? "this is the square root of what is asked."
        : "not this number.";
  return { right: false, words: `${which}${slip}` };
}
