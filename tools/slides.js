(() => {
  const stage = document.getElementById("stage");
  const notes = document.getElementById("notes");
  const slides = [...document.querySelectorAll("section")];
  let at = Math.min(Math.max(Number(location.hash.slice(1)) - 1 || 0, 0), slides.length - 1);
  const show = (number) => {
    at = Math.min(Math.max(number, 0), slides.length - 1);
    slides.forEach((slide, k) => {
      slide.classList.toggle("shown", k === at);
      slide.setAttribute("aria-hidden", String(k !== at));
    });
    notes.innerHTML = slides[at].querySelector("aside")?.innerHTML ?? "";
    history.replaceState(null, "", `#${at + 1}`);
  };
  const fit = () => {
    const scale = Math.min(innerWidth / 1280, innerHeight / 720);
    const left = (innerWidth - 1280 * scale) / 2;
    const top = (innerHeight - 720 * scale) / 2;
    stage.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
  };
  const moves = {
    ArrowRight: () => show(at + 1), ArrowDown: () => show(at + 1), PageDown: () => show(at + 1),
    " ": () => show(at + 1), ArrowLeft: () => show(at - 1), ArrowUp: () => show(at - 1),
    PageUp: () => show(at - 1), Home: () => show(0), End: () => show(slides.length - 1),
    n: () => notes.classList.toggle("shown"),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in moves)) return;
    event.preventDefault();
    moves[event.key]();
  });
  stage.addEventListener("click", (event) => {
    if (!event.target.closest("a")) show(at + 1);
  });
  addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1 || 0));
  addEventListener("resize", fit);
  fit();
  show(at);
})();
