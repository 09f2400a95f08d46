/** Do a task when the page has been read. */
export function whenRead(task) {
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", task);
  else task();
}
