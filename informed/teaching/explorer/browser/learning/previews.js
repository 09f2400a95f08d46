// What a reference leads to, shown where it stands: by pointing, by the keyboard, by a tap.
import { make } from "../stage/stage.js";

const PATIENCE = 250; // milliseconds before a pointed-at link shows, and after which it closes

let known = null; // by address, once the page's previews are loaded
let waiting = null;

/** Called by the script that the build writes for each page. */
export function addPreviews(previews) {
  known = previews;
}

function load() {
  waiting ??= new Promise((done) => {
    const script = make("script", { src: document.body.dataset.previews });
    script.onload = script.onerror = () => done();
    document.head.append(script);
  });
  return waiting;
}

export function openPreviews() {
  const { body } = document;
  if (!body.dataset.previews || "previewing" in body.dataset) return;
  body.dataset.previewing = "";
  const box = make("div", {
    id: "informed-preview",
    class: "informed-preview tex2jax_process mathjax_process",
    role: "tooltip",
    hidden: "",
  });
  body.append(box);
  let shown = null;
  let clock = 0;

  const close = () => {
    clearTimeout(clock);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  };
  const later = (act) => {
    clearTimeout(clock);
    clock = setTimeout(act, PATIENCE);
  };
  const show = async (link, touched) => {
    await load();
    const content = known?.[link.getAttribute("href")];
    if (!content) return false;
    close();
    shown = link;
    box.innerHTML = content;
    if (touched) {
      const go = make("a", { href: link.href, class: "go" });
      go.textContent = "Go there";
      box.append(go);
    }
    box.hidden = false;
    link.setAttribute("aria-describedby", box.id);
    place(box, link);
    if (window.MathJax?.typesetPromise) {
      await window.MathJax.typesetPromise([box]);
      if (shown === link) place(box, link);
    }
    return true;
  };

  const linkOf = (event) => event.target.closest?.("article a.reference.internal[href*='#']");
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = linkOf(event);
    if (link && link !== shown) later(() => show(link));
    else if (link || box.contains(event.target)) clearTimeout(clock);
    else if (shown && document.activeElement !== shown) later(close);
    else clearTimeout(clock);
  });
  const focused = (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) show(link);
    else if (shown && !box.contains(event.target)) close();
  };
  document.addEventListener("focusin", focused);
  document.addEventListener("click", (event) => {
    const link = linkOf(event);
    const tapped = event.pointerType === "touch";
    if (link && tapped && link !== shown && (!known || known[link.getAttribute("href")])) {
      event.preventDefault();
      show(link, true).then((found) => {
        if (!found) location.assign(link.href);
      });
    } else if (!box.contains(event.target)) close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && shown) close();
  });
  // A quick reader may be on a link before the page listens.
  focused({ target: document.activeElement ?? body });
}

/** Below the link, or above it where there is more room; never outside the window. */
function place(box, link) {
  const [at] = link.getClientRects();
  const { width, height } = box.getBoundingClientRect();
  const left = Math.max(8, Math.min(at.left, document.documentElement.clientWidth - width - 8));
  const below = at.bottom + height + 12 <= innerHeight || at.top < innerHeight - at.bottom;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? at.bottom + 4 : at.top - height - 4) + scrollY}px`;
}
