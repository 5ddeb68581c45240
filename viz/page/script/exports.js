// Pictures as files and as pages to print: the colours that the page's style gives are written into the elements.
"use strict";

const Exports = (() => {
  const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-weight", "font-style", "text-decoration", "visibility"];

  /** A copy of a picture that needs no style sheet. */
  function standalone(svg) {
    const copy = svg.cloneNode(true), from = [...svg.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((element, index) => {
      const style = getComputedStyle(from[index]);
      for (const property of PROPERTIES) element.setAttribute(property, style.getPropertyValue(property));
    });
    copy.querySelectorAll(".edge > text").forEach(haloed);
    for (const element of copy.querySelectorAll("*")) for (const attribute of ["class", "tabindex"]) element.removeAttribute(attribute);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", svg.dataset.width);
    copy.setAttribute("height", svg.dataset.height);
    return copy;
  }

  /** Put what keeps a label apart from its line beneath it, as a text of its own: few programs but browsers know paint-order. */
  function haloed(text) {
    const halo = text.cloneNode(true);
    halo.setAttribute("aria-hidden", "true");
    for (const element of halo.querySelectorAll("*")) element.removeAttribute("id");
    text.before(halo);
    for (const element of [text, ...text.querySelectorAll("*")]) element.setAttribute("stroke", "none");
  }

  /** Do some work while nothing moves: of what moves, a style says where it is on its way, and a state that is new cannot be seen yet. */
  function still(work) {
    document.body.classList.add("still");
    try { return work(); } finally { document.body.classList.remove("still"); }
  }

  function save(canvases, step) {
    for (const [name, canvas] of Object.entries(canvases)) {
      const svg = still(() => standalone(canvas.querySelector("svg"))), paper = Picture.make("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).getPropertyValue("--card") });
      svg.querySelector("title").after(paper);
      const text = new XMLSerializer().serializeToString(svg);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = `${name}-step-${step}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
  }

  /** Fill a section with a page for each step, in the colours of paper; `shown(index)` shows a step and returns the elements to copy. */
  function pages(section, count, shown) {
    const root = document.documentElement, { theme } = root.dataset;
    root.dataset.theme = "light";
    try { still(() => fill(section, count, shown)); } finally { root.dataset.theme = theme; }
  }
  function fill(section, count, shown) {
    section.replaceChildren(...Array.from({ length: count }, (_, index) => {
      const page = document.createElement("section");
      page.className = "sheet";
      for (const element of shown(index)) {
        const svg = element.querySelector?.("svg");
        page.append(svg ? standalone(svg) : element.cloneNode(true));
      }
      for (const element of page.querySelectorAll("[id]")) element.removeAttribute("id");
      page.firstChild.removeAttribute("id");
      return page;
    }));
  }

  return { save, pages };
})();
