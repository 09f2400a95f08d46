(async () => {
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  const deck = document.querySelector(".reveal");
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0.02, center: false, hash: true, hashOneBasedIndex: true,
    transition: "none", backgroundTransition: "none", pdfSeparateFragments: false, pdfMaxPagesPerSlide: 1,
    scrollActivationWidth: null, plugins: [RevealNotes],
  });
  deck.classList.add("ready");
  Reveal.layout();
  Reveal.addKeyBinding({keyCode: 80, key: "P", description: "Print, one slide a page"},
    () => window.open(`${location.pathname}?print-pdf`));
  if (document.documentElement.classList.contains("reveal-print") && opener) {
    Reveal.on("pdf-ready", () => print());
  } else if (!document.documentElement.classList.contains("reveal-print")) {
    const paper = document.createElement("style");
    paper.textContent = "@page { size: 1280px 720px; margin: 0; }";
    document.head.append(paper);
  }
})();
