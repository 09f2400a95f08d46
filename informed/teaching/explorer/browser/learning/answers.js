// Fields below an exercise, in which numbers are typed and checked on the page.
import { make } from "../stage/stage.js";
import { evaluate } from "./expression.js";
import { judge } from "./sealed.js";
import { keep, recall } from "./store.js";

export function openAnswers(form) {
  if ("moving" in form.dataset) return;
  form.dataset.moving = "";
  const sealed = JSON.parse(form.querySelector("script").textContent);
  const inputs = [...form.querySelectorAll("input")];
  const verdict = make("p", { role: "status", class: "verdict" });
  form.append(verdict);
  const say = (right, words) => {
    form.classList.toggle("right", right);
    verdict.replaceChildren();
    if (!words) return;
    const title = make("strong");
    title.textContent = right ? "Right: " : right === false ? "Not yet: " : "";
    verdict.append(title, words);
  };
  const check = () => {
    const values = [];
    for (const [k, input] of inputs.entries()) {
      input.setAttribute("aria-invalid", "false");
      if (!input.value.trim()) return say(false, `a number is still missing: ${sealed.titles[k]}.`);
      try {
        values.push(evaluate(input.value));
      } catch (error) {
        input.setAttribute("aria-invalid", "true");
        return say(false, `${sealed.titles[k]}: ${error.message}.`);
      }
    }
    const { right, words } = judge(values, sealed);
    keep("answers", sealed.name, { right, typed: inputs.map((input) => input.value) });
    return say(right, words);
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    check();
  });
  const kept = recall().answers?.[sealed.name];
  if (kept?.typed?.length === inputs.length) {
    inputs.forEach((input, k) => (input.value = String(kept.typed[k])));
    // Judged anew: the exercise may have changed since.
    check();
  }
  form.hidden = false;
}
