// The playground: a table of the reader's own, worked on in this page and nowhere else.
import { make, makeButton } from "../stage/stage.js";
import { shorten } from "../stage/plot.js";
import { analyse, objection } from "./analyse.js";
import { EXAMPLE, EXAMPLE_NAME } from "./example.js";
import { distanceMap, featureMap, pictureOf } from "./pictures.js";
import { distancesTable, featuresTable, pythonLines, samplesTable } from "./python.js";
import { TableError, decode, readTable, selectNumbers, suggestRoles } from "./table.js";

const LARGEST = 4_000_000; // numbers; beyond, Python is the better place

/** What a worker does when it is asked: compute, and tell how far it is. */
export function answerInWorker({ data: { numbers, options } }) {
  try {
    const report = (share, words) => postMessage({ share, words });
    postMessage({ result: analyse(numbers, options, report) });
  } catch (error) {
    postMessage({ error: error.message });
  }
}

/** Start a worker from the text of this very script, which works from a file too. */
function makeWorker(pack) {
  const source = `(${pack})(self); onmessage = informed.worker.answer;`;
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(address);
  URL.revokeObjectURL(address);
  return worker;
}

export function openPlayground(root, pack) {
  if ("moving" in root.dataset) return;
  root.dataset.moving = "";
  root.playground = new Playground(root, pack);
}

class Playground {
  constructor(root, pack) {
    Object.assign(this, { root, pack, missing: "refuse" });
    this.build();
    // The window may become narrower or wider after the work is done, or a phone be turned.
    new ResizeObserver(() => this.drawSamples()).observe(root);
  }

  build() {
    const { root } = this;
    this.file = make("input", {
      type: "file",
      id: "playground-file",
      accept: ".csv,.tsv,.txt,text/csv,text/plain",
    });
    const label = make("label", { for: "playground-file", class: "drop" });
    label.textContent =
      "Choose a table (CSV), or drop it here: samples in rows, features in columns.";
    label.append(this.file);
    this.file.addEventListener("change", () => this.file.files[0] && this.take(this.file.files[0]));
    for (const kind of ["dragover", "dragleave", "drop"]) {
      label.addEventListener(kind, (event) => {
        event.preventDefault();
        label.classList.toggle("over", kind === "dragover");
        if (kind === "drop" && event.dataTransfer.files[0]) this.take(event.dataTransfer.files[0]);
      });
    }
    const example = makeButton("Use an example", () => this.read(EXAMPLE, "utf-8", EXAMPLE_NAME));
    this.message = make("p", { class: "message", role: "alert" });
    this.notes = make("ul", { class: "notes" });
    this.settings = make("div", { class: "settings", hidden: "" });
    this.progress = make("div", { class: "progress", hidden: "" });
    this.results = make("div", { class: "results", hidden: "" });
    this.status = make("p", { class: "unseen", role: "status", "aria-live": "polite" });
    root.append(
      label,
      example,
      this.message,
      this.notes,
      this.settings,
      this.progress,
      this.results,
      this.status,
    );
  }

  async take(file) {
    this.clear();
    try {
      const { text, encoding } = decode(await file.arrayBuffer());
      this.read(text, encoding, file.name);
    } catch (error) {
      this.refuse(error);
    }
  }

  clear() {
    this.stop();
    this.message.textContent = "";
    this.notes.replaceChildren();
    for (const part of [this.settings, this.results]) part.hidden = true;
  }

  refuse(error) {
    if (!(error instanceof TableError)) throw error;
    this.message.textContent = error.message;
  }

  read(text, encoding, name) {
    Object.assign(this, { text, encoding, name, reading: {}, missing: "refuse" });
    this.interpret();
  }

  /** Read the text with the present choices of separator, decimal and first line. */
  interpret() {
    this.clear();
    try {
      this.table = readTable(this.text, this.reading);
      const { roles, notes } = suggestRoles(this.table);
      Object.assign(this, { roles, said: [...this.table.notes, ...notes] });
      if (this.encoding !== "utf-8")
        this.said.unshift(`The text is not UTF-8; it was read as ${this.encoding}.`);
    } catch (error) {
      this.refuse(error);
      this.table = null;
    }
    this.offer();
    if (this.table) this.choose();
  }

  /** Take the numbers that the roles leave, and say what they are. */
  choose() {
    this.results.hidden = true;
    this.message.textContent = "";
    this.numbers = null;
    const notes = [...this.said];
    try {
      const numbers = selectNumbers(this.table, this.roles, this.missing);
      notes.push(...numbers.notes);
      const [n, p] = [numbers.names.length, numbers.features.length];
      if (n * p > LARGEST)
        throw new TableError(
          `${n} × ${p} numbers are more than a page should work on: use the command line or Python.`,
        );
      const constant = numbers.features.filter((_, j) =>
        numbers.rows.every((row) => row[j] === numbers.rows[0][j]),
      );
      if (constant.length)
        notes.push(
          `${constant.length} constant ${constant.length === 1 ? "feature" : "features"} (“${constant[0]}”): no information, and one cluster for all of them.`,
        );
      notes.unshift(
        `Read ${this.name}: ${n} samples with ${p} features, from “${numbers.features[0]}” to “${numbers.features.at(-1)}”.`,
      );
      this.numbers = numbers;
      this.check();
    } catch (error) {
      this.refuse(error);
    }
    this.notes.replaceChildren(
      ...notes.map((words) => {
        const item = make("li");
        item.textContent = words;
        return item;
      }),
    );
    this.run.disabled = !this.numbers;
  }

  /** The controls, for this table. */
  offer() {
    this.settings.replaceChildren();
    this.settings.hidden = false;
    const reading = this.group("How to read it");
    const again = (key) => (value) => {
      this.reading[key] = value;
      this.interpret();
    };
    this.select(
      reading,
      "separator",
      "separator",
      { auto: "found out", comma: "comma", semicolon: "semicolon", tab: "tab", bar: "bar |" },
      this.reading.separator ?? "auto",
      again("separator"),
    );
    this.select(
      reading,
      "decimal",
      "decimal sign",
      { auto: "found out", point: "point", comma: "comma" },
      this.reading.decimal ?? "auto",
      again("decimal"),
    );
    this.select(
      reading,
      "header",
      "first line",
      { auto: "found out", yes: "names", no: "a sample" },
      this.reading.header ?? "auto",
      again("header"),
    );
    if (!this.table) return;
    const columns = this.group("What the columns are");
    const names = Object.fromEntries([
      ["", "none"],
      ...this.table.columns.map(({ index, name }) => [index, name.trim() || "(no name)"]),
    ]);
    const role = (key) => (value) => {
      this.roles[key] = value === "" ? null : Number(value);
      this.roles.out = this.roles.out.filter((index) => index !== this.roles[key]);
      this.choose();
    };
    this.select(
      columns,
      "names",
      "names of the rows",
      names,
      this.roles.names ?? "",
      role("names"),
    );
    this.select(columns, "time", "time", names, this.roles.time ?? "", role("time"));
    this.select(columns, "event", "event (1 or 0)", names, this.roles.event ?? "", role("event"));
    const out = this.select(columns, "out", "leave out", names, null, () => {
      this.roles.out = Array.from(out.selectedOptions, (option) => Number(option.value)).filter(
        (index) => index !== this.roles.names,
      );
      this.choose();
    });
    out.multiple = true;
    out.size = 4;
    out.options[0].remove();
    for (const option of out.options)
      option.selected = this.roles.out.includes(Number(option.value));
    this.select(
      columns,
      "missing",
      "missing values",
      { refuse: "refuse", columns: "leave out the columns", rows: "leave out the rows" },
      this.missing,
      (value) => {
        this.missing = value;
        this.choose();
      },
    );
    this.offerMetric();
  }

  offerMetric() {
    const metric = this.group("The metric");
    const check = () => this.numbers && this.check();
    this.number(metric, "count", "directions d", 2, 1, check);
    this.number(metric, "clusters", "clusters K", 3, 1, check);
    this.select(
      metric,
      "kind",
      "directions",
      { exact: "exact", averaged: "averaged", penalized: "penalised", pca: "PCA (no clusters)" },
      "exact",
      check,
    );
    this.number(metric, "weight", "weight η, if penalised", 1, 0, check);
    this.select(
      metric,
      "variances",
      "variances",
      { pca: "PCA's", own: "along the directions" },
      "pca",
      check,
    );
    this.number(metric, "seed", "seed of k-means", 0, 0, check);
    this.objection = make("p", { class: "message", role: "alert" });
    this.run = makeButton("Compute", () => this.compute());
    this.run.classList.add("run");
    this.settings.append(this.objection, this.run);
  }

  group(title) {
    const group = make("fieldset");
    const legend = make("legend");
    legend.textContent = title;
    group.append(legend);
    this.settings.append(group);
    return group;
  }

  field(group, name, label, input) {
    const row = make("div", { class: "control" });
    const words = make("label", { for: `playground-${name}` });
    words.textContent = label;
    input.id = `playground-${name}`;
    row.append(words, input);
    group.append(row);
    return input;
  }

  select(group, name, label, choices, value, change) {
    const input = make("select", { autocomplete: "off" });
    for (const [key, text] of Object.entries(choices)) {
      const option = make("option", { value: key });
      option.textContent = text;
      // Object keys that look like numbers come first; "none" belongs at the top.
      if (key === "") input.prepend(option);
      else input.append(option);
    }
    if (value !== null) input.value = value;
    input.addEventListener("change", () => change(input.value));
    return this.field(group, name, label, input);
  }

  number(group, name, label, value, min, change) {
    const input = make("input", {
      type: "number",
      min,
      step: name === "weight" ? "any" : 1,
      autocomplete: "off",
    });
    input.value = value;
    input.addEventListener("input", change);
    return this.field(group, name, label, input);
  }

  get options() {
    const value = (name) => this.settings.querySelector(`#playground-${name}`).value;
    return {
      count: Number(value("count")),
      clusters: Number(value("clusters")),
      kind: value("kind"),
      weight: value("weight") === "" ? NaN : Number(value("weight")),
      variances: value("variances"),
      seed: Math.abs(Math.floor(Number(value("seed")))) || 0,
    };
  }

  check() {
    const words = objection(this.numbers, this.options);
    this.objection.textContent = words ?? "";
    this.run.disabled = words !== null;
  }

  compute() {
    this.stop();
    const { numbers, options } = this;
    const bar = make("progress", { max: 1, value: 0, "aria-label": "progress" });
    const words = make("span");
    words.textContent = "starting";
    // The words change their length: after them the button would move away under the hand.
    this.progress.replaceChildren(
      bar,
      makeButton("Cancel", () => this.stop("Cancelled.")),
      words,
    );
    this.progress.hidden = false;
    this.results.hidden = true;
    this.message.textContent = "";
    this.worker = makeWorker(this.pack);
    this.worker.onmessage = ({ data }) => {
      if (data.words) {
        bar.value = data.share;
        words.textContent = `${data.words} …`;
        return;
      }
      this.stop();
      if (data.error) this.message.textContent = data.error;
      else this.show(numbers, options, data.result);
    };
    this.worker.onerror = (event) => {
      this.stop();
      this.message.textContent = `Something went wrong: ${event.message}`;
    };
    this.worker.postMessage({ numbers, options });
  }

  stop(words = "") {
    this.worker?.terminate();
    this.worker = null;
    this.progress.hidden = true;
    this.status.textContent = words;
  }

  show(numbers, options, result) {
    Object.assign(this, { result, shown: numbers, samples: make("div") });
    const order = numbers.names
      .map((_, i) => i)
      .sort(
        (i, j) =>
          result.groups[i] - result.groups[j] || result.embedding[i][0] - result.embedding[j][0],
      );
    const survival = result.survival;
    const sizes = [0, 1].map((g) => result.groups.filter((group) => group === g).length);
    const words =
      `${numbers.names.length} samples in two groups of ${sizes[0]} and ${sizes[1]}. ` +
      (options.kind === "pca"
        ? "No clusters are used. "
        : `Clusters of features: ${result.sizes.join(", ")}. `) +
      `Variances along the directions: ${result.variances.map((value) => shorten(value)).join(", ")}.` +
      (survival ? ` Log-rank p of the two groups: ${shorten(survival.p, 2)}.` : "");
    const summary = make("p", { class: "words" });
    summary.textContent = words;
    const lines = make("pre", { class: "python", tabindex: 0, "aria-label": "The same in Python" });
    lines.textContent = pythonLines({
      ...this,
      file: this.name,
      dropped: numbers.dropped,
      options,
      result,
      survival: Boolean(survival),
    });
    this.results.replaceChildren(
      heading("Result"),
      summary,
      heading("Features by cluster"),
      featureMap(numbers, result, order),
      heading("Samples"),
      this.samples,
      heading("Distances"),
      distanceMap(result, order),
      heading("Take it along"),
      this.downloads(numbers, result),
      heading("The same in Python"),
      lines,
      makeButton("Copy", () => navigator.clipboard?.writeText(lines.textContent)),
    );
    this.results.hidden = false;
    this.drawSamples();
    this.status.textContent = words;
  }

  /** The picture of the samples, as wide as there is room. */
  drawSamples() {
    if (!this.result) return;
    const width = Math.max(280, this.root.clientWidth);
    if (width === this.samples.drawnAt) return;
    this.samples.drawnAt = width;
    this.samples.replaceChildren(pictureOf(width, this.shown, this.result));
  }

  downloads(numbers, result) {
    const list = make("p", { class: "actions" });
    for (const [name, content] of [
      ["samples.csv", samplesTable(numbers, result)],
      ["features.csv", featuresTable(numbers, result)],
      ["distances.csv", distancesTable(numbers, result)],
    ]) {
      const link = make("a", {
        download: name,
        href: URL.createObjectURL(new Blob([content], { type: "text/csv" })),
      });
      link.textContent = name;
      list.append(link);
    }
    return list;
  }
}

function heading(words) {
  const made = make("p", { class: "title" });
  made.textContent = words;
  return made;
}
