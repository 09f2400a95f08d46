// Numbers as people type them: 0.667, 2/3, sqrt(2), √2, 3·10^-2, 2π.

const FUNCTIONS = { sqrt: Math.sqrt, exp: Math.exp, log: Math.log, ln: Math.log, abs: Math.abs };
const NAMES = { pi: Math.PI, e: Math.E };

/** The value of what was typed, or an Error that says what is wrong with it. */
export function evaluate(typed) {
  const text = typed.trim();
  if (/^-?\d+,\d+$/.test(text)) throw new Error("write a point for the decimal comma");
  const plain = text
    .replaceAll("−", "-")
    .replaceAll("^", "**")
    .replace(/[·×]/g, "*")
    .replace(/√\s*(\d+(?:\.\d+)?|π|pi)/g, "sqrt($1)")
    .replaceAll("√", "sqrt")
    .replaceAll("π", "pi")
    .replace(/([\d)])\s*(?=sqrt|pi)/g, "$1*");
  const tokens =
    plain.match(/\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|[a-z]+|\*\*|[-+*/()]|\S/g) ?? [];
  let at = 0;
  const fail = () => {
    throw new Error(`“${text}” is not a number`);
  };
  const take = (token) => tokens[at] === token && ++at > 0;
  const sum = () => {
    let value = product();
    while (tokens[at] === "+" || tokens[at] === "-")
      value = tokens[at++] === "+" ? value + product() : value - product();
    return value;
  };
  const product = () => {
    let value = signed();
    while (tokens[at] === "*" || tokens[at] === "/")
      value = tokens[at++] === "*" ? value * signed() : value / signed();
    return value;
  };
  const signed = () => (take("-") ? -signed() : take("+") ? signed() : power());
  const power = () => {
    const base = atom();
    return take("**") ? base ** signed() : base;
  };
  const atom = () => {
    const token = tokens[at++];
    if (token === undefined) return fail();
    if (/^[\d.]/.test(token)) return Number(token);
    if (token === "(") {
      const value = sum();
      return take(")") ? value : fail();
    }
    if (Object.hasOwn(FUNCTIONS, token) && take("(")) {
      const value = FUNCTIONS[token](sum());
      return take(")") ? value : fail();
    }
    return Object.hasOwn(NAMES, token) ? NAMES[token] : fail();
  };
  if (!tokens.length || text.length > 100) fail();
  const value = sum();
  if (at < tokens.length || Number.isNaN(value)) fail();
  if (!Number.isFinite(value)) throw new Error(`“${text}” is not finite`);
  return value;
}
