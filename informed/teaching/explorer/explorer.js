(() => {
  const root = document.currentScript.closest(".informed-explorer");
  // A notebook may run the script again when it shows the same output again.
  if (!root || "moving" in root.dataset) return;
  const { frames, shown, words, texts } = JSON.parse(
    root.querySelector("script[type='application/json']").textContent
  );
  const controls = [...root.querySelectorAll("[data-values]")];
  const status = root.querySelector("[role='status']");
  const button = root.querySelector("button");

  // The default frame stays as it is, for print; a copy of it moves.
  const still = root.querySelector(".still");
  const moving = still.cloneNode(true);
  moving.className = "moving";
  still.after(moving);
  const picture = moving.querySelector("img");
  const caption = moving.querySelector("figcaption");
  frames[frames.indexOf(null)] = picture.getAttribute("src");
  picture.loading = "eager";

  const position = (control) => {
    if (control.type === "checkbox") return Number(control.checked);
    return control.type === "range" ? control.valueAsNumber : control.selectedIndex;
  };

  let clock = 0;
  let announcement = 0;
  const show = () => {
    let combination = 0;
    controls.forEach((control, k) => {
      const at = position(control);
      combination = combination * Number(control.dataset.values) + at;
      if (control.type === "range") {
        control.setAttribute("aria-valuetext", texts[k][at]);
        control.parentElement.querySelector(".value").textContent = texts[k][at];
      }
    });
    const source = frames[shown[combination]];
    if (picture.getAttribute("src") !== source) picture.src = source;
    picture.alt = words[combination];
    caption.textContent = words[combination];
    // A screen reader hears where a move ends, not each step on the way.
    clearTimeout(announcement);
    announcement = setTimeout(() => {
      if (!clock) status.textContent = picture.alt;
    }, 300);
  };

  const stop = () => {
    clearInterval(clock);
    clock = 0;
    if (button) button.textContent = "Play";
  };
  const step = () => {
    const [slider] = controls;
    slider.value = slider.valueAsNumber + 1;
    if (slider.value === slider.max) stop();
    show();
  };
  // What the reader should have seen is folded until then (learning/unfold.js).
  const tell = () => root.dispatchEvent(new CustomEvent("informed-moved"));
  if (button) {
    button.addEventListener("click", () => {
      tell();
      if (clock) {
        stop();
        show();
        return;
      }
      const [slider] = controls;
      button.textContent = "Pause";
      clock = setInterval(step, 500);
      if (slider.value === slider.max) {
        slider.value = 0;
        show();
      } else {
        step();
      }
    });
  }
  for (const control of controls) {
    control.addEventListener("input", () => {
      tell();
      stop();
      show();
    });
  }

  // Where frames are files, fetch them when a hand comes near, so that a move never waits.
  const fetchAll = () => {
    for (const source of frames) new Image().src = source;
  };
  for (const sign of ["pointerenter", "focusin"]) {
    root.addEventListener(sign, fetchAll, { once: true });
  }

  root.dataset.moving = "";
  root.querySelector(".controls").hidden = false;
  // A browser may have kept the positions from before a reload.
  if (controls.some((control) => position(control) !== Number(control.dataset.start))) show();
})();
