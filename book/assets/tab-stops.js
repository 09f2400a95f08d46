// A box that scrolls can be reached by keyboard, one that does not is no stop. In the place of what
// the theme does for this (tools/lighten.py), which measures all boxes of a page at once, and again
// after every change: here each box is measured when its size is known anyhow, the others at leisure.
(() => {
  const BOXES = "pre, .cell_output > .output";
  const known = new WeakSet();
  const later = window.requestIdleCallback ?? ((task) => setTimeout(task, 50));
  const scrolls = (box) =>
    box.scrollWidth > box.clientWidth || box.scrollHeight > box.clientHeight;

  function mark(boxes) {
    const stops = boxes.map(scrolls); // all are read before the first is written
    boxes.forEach((box, number) => {
      const stop = stops[number] ? 0 : -1;
      if (box.tabIndex !== stop || !box.hasAttribute("tabindex")) box.tabIndex = stop;
    });
  }

  const watch = new ResizeObserver((entries) => mark(entries.map(({ target }) => target)));
  let waiting = [];

  function sweep() {
    mark(waiting.splice(0, 1));
    if (waiting.length) later(sweep);
  }

  function find() {
    const found = [...document.querySelectorAll(BOXES)].filter((box) => !known.has(box));
    for (const box of found) {
      known.add(box);
      watch.observe(box);
    }
    if (!waiting.length && found.length) later(sweep);
    waiting.push(...found);
  }

  let timer = null;
  new MutationObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(find, 300);
  }).observe(document.getElementById("main-content") ?? document.body, {
    childList: true,
    subtree: true,
  });
  find();
})();
