// A table to try: 60 patients, 24 features in three clusters, survival tied to the first of them.
import { random } from "../core/clusters.js";

export const EXAMPLE_NAME = "example.csv";

function makeExample() {
  const draw = random(8);
  const normal = () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
  const header = [
    "patient",
    ...Array.from({ length: 24 }, (_, j) => `gene_${j + 1}`),
    "months",
    "event",
  ];
  const rows = Array.from({ length: 60 }, (_, i) => {
    const risk = (i % 2 ? 1.3 : -1.3) + 0.4 * normal();
    const levels = [risk, normal(), 0.6 * normal()];
    const genes = Array.from({ length: 24 }, (_, j) =>
      (5 + levels[j % 3] + 0.8 * normal()).toFixed(2),
    );
    const [death, end] = [(-Math.log(1 - draw()) * 40) / Math.exp(0.6 * risk), 20 + 60 * draw()];
    return [
      `P${String(i + 1).padStart(2, "0")}`,
      ...genes,
      Math.min(death, end).toFixed(1),
      Number(death <= end),
    ];
  });
  return [header, ...rows].map((row) => row.join(",")).join("\n") + "\n";
}

export const EXAMPLE = makeExample();
