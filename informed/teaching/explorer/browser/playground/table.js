// Read a table from text as pandas would, and say what was read. Nothing is guessed in silence.

// What pandas takes for a missing value.
const MISSING = new Set(
  "|#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null".split(
    "|",
  ),
);
const NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/;
const DECIMAL_COMMA = /^[-+]?\d*,\d+([eE][-+]?\d+)?$/;
const SEPARATORS = { comma: ",", semicolon: ";", tab: "\t", bar: "|" };
const WORDS = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };
const ID_LIKE =
  /^(id|index|key|nr|no|num|number|row|case|patient|subject|sample|person)s?([ _.-]?(id|nr|no|num|number|name))?$|[ _.-]id$/i;
const TIME_LIKE =
  /^(time|times|duration|durations|months?|days|years|survival[ _.-]?(time|months|days)|(os|dfs|pfs|rfs)[ _.-]?(time|months|days)|follow[ _.-]?up)$/i;
const EVENT_LIKE =
  /^(event|events|status|death|dead|died|(os|dfs|pfs|rfs)[ _.-]?(event|status)|vital[ _.-]?status)$/i;

/** A problem that the reader of the message can mend. */
export class TableError extends Error {}

/** Text of a file, and the name that Python has for its encoding. */
export function decode(bytes) {
  const view = new Uint8Array(bytes);
  if (view[0] === 0x50 && view[1] === 0x4b) {
    throw new TableError(
      "This is a packed file, perhaps a spreadsheet (.xlsx). Save the table as CSV, and give that.",
    );
  }
  for (const [first, second, encoding] of [
    [0xff, 0xfe, "utf-16le"],
    [0xfe, 0xff, "utf-16be"],
  ]) {
    if (view[0] === first && view[1] === second)
      return { text: new TextDecoder(encoding).decode(view), encoding: "utf-16" };
  }
  if (view.subarray(0, 4096).includes(0))
    throw new TableError(
      "This file is not text. A table with commas, semicolons or tabs is needed.",
    );
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(view), encoding: "utf-8" };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(view), encoding: "cp1252" };
  }
}

/** Lines of fields; a field in quotation marks may hold separators, line ends and doubled marks. */
export function splitFields(text, separator) {
  const lines = [];
  let [fields, field, quoted, line] = [[], "", false, 1];
  let started = line;
  const close = () => {
    fields.push(field);
    field = "";
  };
  const finish = () => {
    close();
    if (fields.length > 1 || fields[0].trim() !== "") lines.push({ fields, line: started });
    fields = [];
    started = line;
  };
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "\n") line++;
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[i++];
      else quoted = false;
    } else if (c === '"' && field === "") quoted = true;
    else if (c === separator) close();
    else if (c === "\n" || c === "\r") {
      if (c === "\r" && text[i + 1] === "\n") continue;
      finish();
    } else field += c;
  }
  if (quoted)
    throw new TableError(`A quotation mark that opens on line ${started} is never closed.`);
  if (field !== "" || fields.length) finish();
  return lines;
}

function chooseSeparator(text) {
  const head = text
    .split(/\r?\n/)
    .filter((line) => line.trim())
    .slice(0, 30)
    .join("\n");
  const found = Object.values(SEPARATORS).map((separator) => {
    let lines = [];
    try {
      lines = splitFields(head, separator);
    } catch {
      return { separator, width: 1, even: false, lines };
    }
    const widths = lines.map(({ fields }) => fields.length);
    return {
      separator,
      width: widths[0] ?? 1,
      even: widths.every((width) => width === widths[0]),
      lines,
    };
  });
  const able = found.filter(({ width, even }) => width > 1 && even);
  const semicolon = able.find(({ separator }) => separator === ";");
  // "1,5;2,5" is even under both: a comma inside numbers is a decimal comma then.
  if (semicolon) return ";";
  able.sort((a, b) => b.width - a.width);
  if (able.length) return able[0].separator;
  const uneven = found.filter(({ width }) => width > 1).sort((a, b) => b.width - a.width);
  return uneven.length ? uneven[0].separator : ",";
}

/** A number, or NaN if the field is none. With a decimal comma a point would be ambiguous. */
function parseNumber(raw, comma) {
  const field = raw.trim();
  if (comma && field.includes(".")) return NaN;
  const plain = comma ? field.replace(",", ".") : field;
  return NUMBER.test(plain) ? Number(plain) : NaN;
}

const isMissing = (field) => MISSING.has(field.trim());

/**
 * Read a table.
 *
 * Options that are "auto" are chosen here, and each choice is a sentence among the notes.
 */
export function readTable(text, { separator = "auto", decimal = "auto", header = "auto" } = {}) {
  const body = text.replace(/^\uFEFF/, "");
  if (!body.trim()) throw new TableError("The file is empty.");
  const notes = [];
  const by = separator === "auto" ? chooseSeparator(body) : SEPARATORS[separator];
  const lines = splitFields(body, by);
  const width = lines[0].fields.length;
  const ragged = lines.find(({ fields }) => fields.length !== width);
  if (ragged) {
    throw new TableError(
      `Line ${ragged.line} has ${ragged.fields.length} fields, the first line has ${width} (separated by ${WORDS[by]}). Is the separator another one, or is a field with a separator inside not quoted?`,
    );
  }
  if (width === 1) {
    throw new TableError(
      `Only one column was found, with fields separated by ${WORDS[by]}. Choose the separator, if it is another one.`,
    );
  }
  const comma =
    decimal === "auto"
      ? by !== "," &&
        lines
          .slice(1)
          .some(({ fields }) => fields.some((field) => DECIMAL_COMMA.test(field.trim())))
      : decimal === "comma";
  const first = lines[0].fields;
  const isNumber = (field) => !Number.isNaN(parseNumber(field, comma));
  const allNumbers =
    first.some(isNumber) && first.every((field) => isNumber(field) || isMissing(field));
  const named = header === "auto" ? !allNumbers : header === "yes";
  if (header === "auto" && allNumbers)
    notes.push(
      "The first line holds only numbers, so it is taken for a sample and the columns have no names. If it holds names, say so.",
    );
  const rows = named ? lines.slice(1) : lines;
  if (!rows.length)
    throw new TableError("The file has a first line with names, and nothing below it.");
  notes.unshift(
    `Fields are separated by ${WORDS[by]}, with a decimal ${comma ? "comma" : "point"}.`,
  );
  const columns = first.map((field, j) => readColumn(named ? field : null, j, rows, comma));
  refuseTwins(columns, named);
  return { columns, nRows: rows.length, notes, separator: by, decimal: comma ? "," : ".", named };
}

function readColumn(name, j, rows, comma) {
  const texts = rows.map(({ fields }) => fields[j]);
  const values = new Float64Array(rows.length);
  const missing = [];
  let wrong = null;
  texts.forEach((raw, i) => {
    values[i] = parseNumber(raw, comma);
    if (isMissing(raw)) missing.push(i);
    else if (Number.isNaN(values[i])) wrong ??= { line: rows[i].line, field: raw.trim() };
  });
  const number = wrong === null && missing.length < rows.length;
  const infinite = number ? values.findIndex((value) => Math.abs(value) === Infinity) : -1;
  return {
    index: j,
    name: name ?? `column ${j + 1}`,
    unnamed: name !== null && (name.trim() === "" || /^Unnamed: \d+$/.test(name)),
    texts,
    values,
    missing,
    number: number && infinite < 0,
    wrong:
      wrong ??
      (infinite >= 0 ? { line: rows[infinite].line, field: texts[infinite].trim() } : null),
  };
}

function refuseTwins(columns, named) {
  if (!named) return;
  const seen = new Set();
  for (const { name } of columns) {
    if (seen.has(name) && name.trim())
      throw new TableError(`Two columns are called “${name}”. Give each a name of its own.`);
    seen.add(name);
  }
}

const isWhole = (values) => values.every((value) => Number.isInteger(value));
const allDifferent = (list) => new Set(list).size === list.length;

/** Whether a column of numbers counts the rows: 0, 1, 2, … or 1, 2, 3, … */
function counts({ number, values, missing }) {
  if (!number || missing.length || values.length < 3) return false;
  const start = values[0];
  return (start === 0 || start === 1) && values.every((value, i) => value === start + i);
}

/**
 * Suggest what each column is: names of the rows, time, event, or left out; all others are features.
 */
export function suggestRoles(table) {
  const { columns } = table;
  const notes = [];
  const roles = { names: null, time: null, event: null, out: [] };
  const [first] = columns;
  const whole = first.number && !first.missing.length && isWhole(first.values);
  if (first.unnamed) {
    roles.names = 0;
    notes.push("The first column has no name: it holds the names of the rows, not a feature.");
  } else if (!first.number && allDifferent(first.texts)) {
    roles.names = 0;
    notes.push(`“${first.name}” holds a different text in each row: it names the rows.`);
  } else if (counts(first)) {
    roles.names = 0;
    notes.push(`“${first.name}” counts the rows: it names them, and is not a feature.`);
  } else if (
    whole &&
    table.named &&
    ID_LIKE.test(first.name) &&
    allDifferent(Array.from(first.values))
  ) {
    roles.names = 0;
    notes.push(
      `“${first.name}” holds a different whole number in each row: it names the rows, and is not a feature.`,
    );
  }
  for (const column of columns) {
    if (column.index === roles.names) continue;
    if (!column.number) {
      roles.out.push(column.index);
      const example = column.wrong
        ? `, for instance “${column.wrong.field}” on line ${column.wrong.line}`
        : ": it is empty";
      notes.push(`“${column.name}” is left out, since it is not all numbers${example}.`);
    } else if (table.named && roles.time === null && TIME_LIKE.test(column.name.trim()))
      roles.time = column.index;
    else if (table.named && roles.event === null && EVENT_LIKE.test(column.name.trim()))
      roles.event = column.index;
    else if (
      counts(column) ||
      (table.named &&
        ID_LIKE.test(column.name.trim()) &&
        isWhole(column.values) &&
        allDifferent(Array.from(column.values)))
    ) {
      roles.out.push(column.index);
      notes.push(
        `“${column.name}” is left out: its whole numbers differ in every row, as those of a list do.`,
      );
    }
  }
  if (roles.time === null || roles.event === null) [roles.time, roles.event] = [null, null];
  else
    notes.push(
      `“${columns[roles.time].name}” is taken for the time and “${columns[roles.event].name}” for the event (1 happened, 0 censored): survival will be compared.`,
    );
  return { roles, notes };
}

/**
 * The numbers to work on, or a TableError that says what is wrong with them.
 *
 * `missing` is what to do with missing values: "refuse", "columns" or "rows" to leave out.
 */
export function selectNumbers(table, roles, missing = "refuse") {
  const { columns } = table;
  if ((roles.time === null) !== (roles.event === null)) {
    throw new TableError("Time and event go together: choose both, or none.");
  }
  const special = new Set([roles.names, roles.time, roles.event].filter((index) => index !== null));
  const out = new Set(roles.out);
  let features = columns.filter(({ index }) => !special.has(index) && !out.has(index));
  const text = features.find(({ number }) => !number);
  if (text)
    throw new TableError(
      `“${text.name}” is not all numbers${text.wrong ? ` (“${text.wrong.field}” on line ${text.wrong.line})` : ""}: leave it out.`,
    );
  const follow = roles.time === null ? [] : [columns[roles.time], columns[roles.event]];
  const gaps = [...features, ...follow].filter((column) => column.missing.length);
  let kept = Array.from({ length: table.nRows }, (_, i) => i);
  const notes = [];
  const dropped = [];
  if (gaps.length && missing === "refuse") {
    const count = gaps.reduce((sum, column) => sum + column.missing.length, 0);
    throw new TableError(
      `${count} ${count === 1 ? "value is" : "values are"} missing, the first in “${gaps[0].name}”, row ${gaps[0].missing[0] + 1}. Choose below whether to leave out the columns or the rows with gaps.`,
    );
  }
  if (missing === "columns") {
    const gappy = features.filter((column) => column.missing.length);
    features = features.filter((column) => !column.missing.length);
    dropped.push(...gappy.map(({ index }) => index));
    if (gappy.length)
      notes.push(
        `${gappy.length} ${gappy.length === 1 ? "column" : "columns"} with missing values left out.`,
      );
    if (follow.some((column) => column.missing.length))
      throw new TableError(
        "Time or event is missing for some rows: leave out the rows with gaps instead.",
      );
  } else if (missing === "rows" && gaps.length) {
    const gone = new Set(gaps.flatMap((column) => column.missing));
    kept = kept.filter((i) => !gone.has(i));
    notes.push(`${gone.size} ${gone.size === 1 ? "row" : "rows"} with missing values left out.`);
  }
  if (kept.length < 3)
    throw new TableError(`${kept.length} rows are left: at least 3 samples are needed.`);
  if (features.length < 2)
    throw new TableError(
      `${features.length} ${features.length === 1 ? "feature is" : "features are"} left: at least 2 are needed.`,
    );
  const names =
    roles.names === null
      ? kept.map((i) => String(i))
      : kept.map((i) => columns[roles.names].texts[i]);
  const result = {
    features: features.map(({ name }) => name),
    names,
    rows: kept.map((i) => features.map(({ values }) => values[i])),
    notes,
    dropped,
    survival: null,
  };
  if (follow.length) {
    const [times, events] = follow.map(({ values }) => kept.map((i) => values[i]));
    checkFollowUp(times, events, columns[roles.time].name, columns[roles.event].name);
    result.survival = { times, events };
  }
  return result;
}

function checkFollowUp(times, events, timeName, eventName) {
  const negative = times.findIndex((time) => time < 0);
  if (negative >= 0)
    throw new TableError(
      `“${timeName}” is ${times[negative]} in row ${negative + 1}: a time cannot be negative.`,
    );
  const odd = events.findIndex((event) => event !== 0 && event !== 1);
  if (odd >= 0) {
    const swapped = times.every((time) => time === 0 || time === 1)
      ? " “" + timeName + "” holds only 0 and 1: are the two swapped?"
      : "";
    throw new TableError(
      `“${eventName}” is ${events[odd]} in row ${odd + 1}: it must be 1 (happened) or 0 (censored).${swapped}`,
    );
  }
  if (!events.some((event) => event))
    throw new TableError(`“${eventName}” is 0 in all rows: comparing survival needs an event.`);
}
