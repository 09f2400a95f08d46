// Sets formulas when the reader comes near them, a few at a time: no task is so long that a key or a
// finger would wait for it. Runs before MathJax, whose own start would look at the whole page at once.
(() => {
  const MARGIN = "600px";
  const SLICE = 8; // milliseconds
  const LONG = 12; // ems
  const PLACES = ".math, .tex2jax_process";
  const BLOCKS = "p, li, td, th, dt, dd, h1, h2, h3, figcaption, label, div.math";
  const TEX = /\\\(|\\\[|\\begin/;
  const waiting = new Map(); // blocks, with the formulas in each
  let queue = [];
  let many = 4;
  let working = null;

  const rest = () =>
    new Promise((go) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = go;
      port2.postMessage(0);
    });

  async function set(formulas) {
    await MathJax.typesetPromise(formulas);
    for (const formula of formulas) {
      // One that may be longer than a phone's line fades at the edge where it goes on (book.css).
      if (parseFloat(formula.style.getPropertyValue("--room")) > LONG) formula.classList.add("long");
      formula.removeAttribute("style"); // the room kept for it
    }
  }

  async function work() {
    await MathJax.startup.promise;
    while (queue.length) {
      const start = performance.now();
      await set(queue.splice(0, many));
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

  function setAll() {
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
    return Promise.resolve();
  }

  window.MathJax.startup = { ...window.MathJax.startup, pageReady };
})();
