// The same numbers by the library: the lines of Python that make them, and tables to take along.

const text = (name) => JSON.stringify(name);

/** Four lines, and a fifth if survival is compared. */
export function pythonLines({
  file,
  table,
  encoding,
  roles,
  dropped,
  missing,
  options,
  result,
  survival,
}) {
  const { columns } = table;
  // Without a first line of names, pandas numbers the columns.
  const called = (index) => (table.named ? text(columns[index].name) : String(index));
  const reading = [text(file)];
  if (table.separator !== ",") reading.push(`sep=${text(table.separator)}`);
  if (table.decimal !== ".") reading.push(`decimal=${text(table.decimal)}`);
  if (encoding !== "utf-8") reading.push(`encoding=${text(encoding)}`);
  if (!table.named) reading.push("header=None");
  if (roles.names !== null) reading.push(`index_col=${roles.names}`);
  const gone = [...roles.out, ...dropped].map(called);
  let read = `pd.read_csv(${reading.join(", ")})`;
  if (gone.length) read += `.drop(columns=[${gone.join(", ")}])`;
  if (missing === "rows") read += ".dropna()";
  const follow = roles.time === null ? [] : [called(roles.time), called(roles.event)];
  const features = follow.length ? `X := table.drop(columns=[${follow.join(", ")}])` : "X := table";
  const settings = [
    String(options.count),
    `directions=${text(options.kind)}`,
    `variances=${text(options.variances)}`,
  ];
  if (options.kind === "penalized") settings.push(`penalty=${options.weight}`);
  if (options.kind !== "pca") {
    const digits = result.labels.map((label) => label.toString(36)).join("");
    settings.push(`feature_labels=[int(c, 36) for c in ${text(digits)}]`);
  }
  const lines = [
    "import pandas as pd, informed",
    `table = ${read}`,
    `metric = informed.InformedMahalanobis(${settings.join(", ")}).fit(${features})`,
    `embedding = informed.DiffusionMap(${result.embedding[0].length}, metric="precomputed").fit_transform(metric.pairwise_distances(X))`,
  ];
  if (survival) {
    lines.push(
      `p = informed.survival.compare_survival(table[${follow[0]}], table[${follow[1]}], informed.groups.bipartition(embedding)).p_value`,
    );
  }
  return lines.join("\n");
}

const quote = (field) => (/[",\n\r]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field);
const csv = (rows) =>
  rows.map((row) => row.map((field) => quote(String(field))).join(",")).join("\r\n") + "\r\n";
const numbered = (name, count) => Array.from({ length: count }, (_, k) => `${name}_${k + 1}`);

export function samplesTable(data, result) {
  const header = [
    "sample",
    "group",
    ...numbered("embedding", result.embedding[0].length),
    ...numbered("coordinate", result.coordinates[0].length),
  ];
  return csv([
    header,
    ...data.names.map((name, i) => [
      name,
      result.groups[i],
      ...result.embedding[i],
      ...result.coordinates[i],
    ]),
  ]);
}

export function featuresTable(data, result) {
  const header = ["feature", "cluster", ...numbered("direction", result.directions[0].length)];
  return csv([
    header,
    ...data.features.map((name, j) => [name, result.labels[j], ...result.directions[j]]),
  ]);
}

export function distancesTable(data, result) {
  return csv([
    ["sample", ...data.names],
    ...data.names.map((name, i) => [name, ...result.distances[i]]),
  ]);
}
