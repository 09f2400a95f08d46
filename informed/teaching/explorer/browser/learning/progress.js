// The page "My progress": what was answered, chapter by chapter, from what this device has kept.
import { make, makeButton } from "../stage/stage.js";
import { forget, recall } from "./store.js";

export function openProgress(root) {
  if ("moving" in root.dataset) return;
  root.dataset.moving = "";
  const chapters = JSON.parse(root.querySelector("script").textContent);
  const holder = make("div");
  const button = makeButton("Forget everything", () => {
    if (button.dataset.sure === undefined) {
      button.dataset.sure = "";
      button.textContent = "Press again to forget everything";
      return;
    }
    forget();
    delete button.dataset.sure;
    button.textContent = "Forget everything";
    show();
  });
  const show = () => holder.replaceChildren(...table(chapters, recall()));
  show();
  root.append(holder, button);
  // What is answered in another window shows here, too.
  addEventListener("storage", show);
}

function table(chapters, { quizzes = {}, answers = {}, proofs = {} }) {
  const [body, total] = [make("tbody"), [0, 0, 0, 0, 0, 0]];
  for (const chapter of chapters) {
    const right = (names, kept) => names.filter((name) => kept[name]?.right).length;
    const counts = [
      Math.min(quizzes[chapter.name]?.right ?? 0, chapter.questions),
      chapter.questions,
      right(chapter.exercises, answers),
      chapter.exercises.length,
      right(chapter.proofs, proofs),
      chapter.proofs.length,
    ];
    counts.forEach((count, k) => (total[k] += count));
    const row = make("tr");
    const name = make("th", { scope: "row" });
    const link = make("a", { href: chapter.page });
    link.textContent = chapter.title;
    name.append(link);
    row.append(name, ...cells(counts));
    body.append(row);
  }
  const words = make("p", { role: "status" });
  words.textContent = `${total[0]} of ${total[1]} questions, ${total[2]} of ${total[3]} exercises with numbers, and ${total[4]} of ${total[5]} proofs are right.`;
  const made = make("table", { class: "table" });
  made.innerHTML =
    '<thead><tr><th scope="col">Chapter</th><th scope="col">Quiz</th><th scope="col">Numbers</th><th scope="col">Proofs</th></tr></thead>';
  made.append(body);
  return [words, made];
}

function cells(counts) {
  return [0, 2, 4].map((k) => {
    const cell = make("td");
    cell.textContent = counts[k + 1] ? `${counts[k]} of ${counts[k + 1]}` : "–";
    return cell;
  });
}
