// Quizzes answer by themselves; here they get a score and a memory.
import { make } from "../stage/stage.js";
import { keep, recall } from "./store.js";

const isRight = (question) => {
  const choices = [...question.querySelectorAll(".choice")];
  return choices.every(
    (choice) => choice.querySelector("input").checked === choice.classList.contains("right"),
  );
};

export function openQuiz(quiz) {
  if ("moving" in quiz.dataset) return;
  quiz.dataset.moving = "";
  const name = quiz.id.replace(/^quiz-/, "");
  const questions = [...quiz.querySelectorAll("fieldset")];
  const score = make("p", { class: "score", role: "status" });
  quiz.append(score);
  const show = () => {
    const answered = questions.filter((question) => question.querySelector("input:checked"));
    const right = questions.filter(isRight).length;
    score.textContent = answered.length
      ? `${right} of ${questions.length} right${answered.length < questions.length ? `, ${questions.length - answered.length} not answered` : ""}. Kept on this device; see My progress.`
      : "";
    return right;
  };
  const kept = recall().quizzes?.[name];
  for (const id of Array.isArray(kept?.chosen) ? kept.chosen : []) {
    const input = questions
      .map((question) => question.querySelector(`[id="${CSS.escape(String(id))}"]`))
      .find(Boolean);
    if (input) input.checked = true;
  }
  show();
  quiz.addEventListener("change", () => {
    const right = show();
    const chosen = [...quiz.querySelectorAll("input:checked")].map((input) => input.id);
    keep("quizzes", name, { chosen, right, of: questions.length });
  });
}
