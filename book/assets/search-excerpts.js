// Excerpts of what was found show prose: no code, no TeX, no controls.
Search.htmlToText = (source, anchor) => {
  const page = new DOMParser().parseFromString(source, "text/html");
  const main = page.querySelector("[role='main']");
  if (!main) return "";
  const noise =
    ".headerlink, script, style, pre, details, .cell_input, .informed-explorer, .informed-quiz, nav, " +
    "h1, .bd-header-article";
  for (const element of main.querySelectorAll(noise)) element.remove();
  for (const formula of main.querySelectorAll(".math")) formula.textContent = "\u2026";
  const part = (anchor && main.querySelector(anchor)) || main;
  return part.textContent.replace(/\s+/g, " ").replace(/(\u2026\s*)+/g, "\u2026 ");
};
