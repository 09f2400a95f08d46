// Runs in a page of the site (tools/epub.py): returns its article as XHTML, formulas as MathML.
({ leftOut, kept, names, site }) => {
  const article = document.querySelector("article");
  const asId = (text) => text.replace(/[^\w.-]/g, "-").replace(/^(?=[^A-Za-z_])/, "n");

  for (const item of window.MathJax?.startup?.document.math ?? []) {
    const math = item.typesetRoot?.querySelector("mjx-assistive-mml > math");
    if (!math) continue;
    math.setAttribute("alttext", item.math.trim());
    if (item.display) math.setAttribute("display", "block");
    item.typesetRoot.replaceWith(math);
  }

  for (const root of article.querySelectorAll("[data-still]")) {
    const image = document.createElement("img");
    image.setAttribute("src", root.dataset.still);
    image.alt = root.querySelector(".words")?.textContent || "A figure that moves on the site";
    root.replaceChildren(image);
  }
  for (const element of article.querySelectorAll(leftOut)) element.remove();

  const known = new Set(kept.split(" "));
  for (const element of article.querySelectorAll("*")) {
    const isMath = element.namespaceURI.endsWith("MathML");
    for (const { name } of [...element.attributes]) {
      const unknown = isMath ? /^(data-|class$|style$)/.test(name) : !known.has(name);
      const size = name === "width" || name === "height";
      if (unknown || (size && !isMath && element.tagName !== "IMG")) element.removeAttribute(name);
    }
    if (element.id) element.id = asId(element.id);
  }

  const images = [];
  for (const image of article.querySelectorAll("img")) {
    const address = new URL(image.getAttribute("src"), location.href).href;
    image.setAttribute("src", address);
    images.push(address);
  }

  const folder = site.replace(/\/?$/, "/");
  for (const link of article.querySelectorAll("a")) {
    const given = link.getAttribute("href");
    if (given === null) continue;
    const address = new URL(given, location.href);
    const page = address.href.split("#")[0].slice(folder.length).replace(/\.html$/, "");
    if (address.href.startsWith(folder) && names.includes(page)) {
      const mark = address.hash ? `#${asId(decodeURIComponent(address.hash.slice(1)))}` : "";
      link.setAttribute("href", `${page.replaceAll("/", "-")}.xhtml${mark}`);
    } else if (!/^(https?|mailto):$/.test(address.protocol)) {
      link.removeAttribute("href"); // a file of the site, which the book does not hold
    }
  }

  const write = new XMLSerializer();
  return {
    title: article.querySelector("h1")?.textContent.trim() ?? document.title,
    body: [...article.childNodes].map((node) => write.serializeToString(node)).join(""),
    images,
  };
}
