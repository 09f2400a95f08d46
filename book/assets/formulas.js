// Sets formulas when the reader comes near them, a few at a time: no task is so long that a key or a
// finger would wait for it. Runs before MathJax, whose own start would look at the whole page at once.
(() => {
  const MARGIN = "600px";
  const SLICE = 8; // milliseconds
  const LONG = 12; // ems
  const LEAST = 0.8; // of the size of the text: a phone shows no smaller formula
  const PHONE = window.matchMedia("(max-width: 576px)");
  const PLACES = ".math, .tex2jax_process";
  const BLOCKS = "p, li, td, th, dt, dd, h1, h2, h3, figcaption, label, div.math";
  const TEX = /\\\(|\\\[|\\begin/;
  const waiting = new Map(); // blocks, with the formulas in each
  let queue = [];
  let many = 4;
  let working = null;
  let hurried = false;

  const rest = () =>
    new Promise((go) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = go;
      port2.postMessage(0);
    });

  // How wide a formula is as it is set; its box may also count the MathML, which nobody sees.
  const widthOf = (box) =>
    (box.querySelector("mjx-math") ?? box).getBoundingClientRect().width || 1;

  // On a phone a display that is too wide for its line becomes smaller, and its number goes below it
  // before it would become too small. What is wider still scrolls, and fades at the edge (book.css).
  function fit(display) {
    const box = display.querySelector("mjx-container[display]");
    if (!box) return;
    display.classList.remove("number-below");
    display.style.removeProperty("font-size");
    if (!PHONE.matches || !box.clientWidth) return;
    let share = box.clientWidth / widthOf(box);
    if (share < LEAST && display.querySelector(".eqno")) {
      display.classList.add("number-below");
      share = box.clientWidth / widthOf(box);
    }
    if (share < 1) display.style.fontSize = `${Math.max(LEAST, 0.99 * share)}em`;
  }

  // An inline formula that is longer than a phone's line scrolls in it, and fades likewise; one that
  // has room there is shown to the last stroke. In a folded part none has a width yet.
  function mark(boxes) {
    for (const box of boxes) box.classList.remove("fits");
    if (!PHONE.matches) return;
    const fitting = boxes.filter((box) => {
      const room = box.getBoundingClientRect().width;
      return room && widthOf(box) <= room + 1;
    });
    for (const box of fitting) box.classList.add("fits");
  }

  async function set(formulas) {
    await MathJax.typesetPromise(formulas);
    const long = [];
    for (const formula of formulas) {
      const room = parseFloat(formula.style.getPropertyValue("--room"));
      formula.removeAttribute("style"); // the room kept for it
      if (room <= LONG) continue;
      long.push(...formula.querySelectorAll("mjx-container:not([display])"));
    }
    for (const box of long) box.classList.add("long");
    for (const formula of formulas) fit(formula);
    mark(long);
  }

  async function work() {
    await MathJax.startup.promise;
    while (queue.length) {
      const start = performance.now();
      await set(queue.splice(0, hurried ? queue.length : many));
      const spent = performance.now() - start;
      many = Math.max(1, Math.min(24, Math.round((many * SLICE) / Math.max(spent, 1))));
      await rest();
    }
    working = null;
  }

  function take(block) {
    queue.push(...(waiting.get(block) ?? []));
    waiting.delete(block);
  }

  // Those that are near, and whatever else is asked for; ready when nothing waits any more.
  function setWaiting() {
    if (queue.length && !working) working = work();
    return working ?? Promise.resolve();
  }

  // For a printer: nobody scrolls meanwhile, and in one go the page is laid out once.
  function setAll() {
    hurried = true;
    for (const block of [...waiting.keys()]) take(block);
    return setWaiting();
  }

  function pageReady() {
    const places = [...document.querySelectorAll(PLACES)];
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          observer.unobserve(target);
          take(target);
        }
        setWaiting();
      },
      { rootMargin: MARGIN },
    );
    for (const place of places) {
      if (!TEX.test(place.textContent)) continue;
      if (place.parentElement.closest(PLACES)) continue;
      const block = place.closest(BLOCKS) ?? place;
      if (!waiting.has(block)) waiting.set(block, []);
      waiting.get(block).push(place);
    }
    for (const block of waiting.keys()) observer.observe(block);
    // By the name that MathJax's own part for this has: printers and binders call it.
    MathJax.startup.document.lazyTypesetAll = setAll;
    window.addEventListener("beforeprint", setAll);
    const again = (part) => {
      part.querySelectorAll("div.math").forEach(fit);
      mark([...part.querySelectorAll("mjx-container.long")]);
    };
    // A folded part that opens; the event does not rise, but it comes down.
    document.addEventListener("toggle", (event) => PHONE.matches && again(event.target), true);
    let width = window.innerWidth;
    let settled;
    window.addEventListener("resize", () => {
      if (window.innerWidth === width) return; // a bar of the phone came or went
      width = window.innerWidth;
      again(document);
      // Once more at rest: parts that were far away, or fonts on their way, had another width.
      clearTimeout(settled);
      settled = setTimeout(again, 200, document);
    });
    document.fonts.addEventListener("loadingdone", () => PHONE.matches && again(document));
    return Promise.resolve();
  }

  window.MathJax.startup = { ...window.MathJax.startup, pageReady };
})();
