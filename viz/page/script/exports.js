// Pictures as files and as pages to print: the colours that the page's style gives are written into the elements.
"use strict";

const Exports = (() => {
  const PROPERTIES = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-weight", "font-style", "visibility"];

  /** A copy of a picture that needs no style sheet. */
  function standalone(svg) {
    const copy = svg.cloneNode(true), from = [...svg.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((element, index) => {
      const style = getComputedStyle(from[index]);
      for (const property of PROPERTIES) element.setAttribute(property, style.getPropertyValue(property));
      for (const attribute of ["class", "tabindex"]) element.removeAttribute(attribute);
    });
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", svg.dataset.width);
    copy.setAttribute("height", svg.dataset.height);
    return copy;
  }

  function save(canvases, step) {
    for (const [name, canvas] of Object.entries(canvases)) {
      const text = new XMLSerializer().serializeToString(standalone(canvas.querySelector("svg")));
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = `${name}-step-${step}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
  }

  /** Fill a section with a page for each step; `shown(index)` shows a step and returns the elements to copy. */
  function pages(section, count, shown) {
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
