// Pictures: a model of nodes and edges is laid out by dagre once, and drawn as SVG whose parts are found by their ids. Stepping
// sets classes and numbers and moves nothing. All text is set as text.
"use strict";

const Picture = (() => {
  const SVG = "http://www.w3.org/2000/svg", LABEL = 15, SMALL = 14, LOOP = 28, CROWD = 24;
  const FAMILY = "system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', Helvetica, Arial, sans-serif";
  const pen = document.createElement("canvas").getContext("2d");

  const widthOf = (text, size, bold = false) => {
    pen.font = `${bold ? "bold " : ""}${size}px ${FAMILY}`;
    return pen.measureText(text).width;
  };
  function make(name, attributes = {}, ...children) {
    const element = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
  }

  const layouts = new WeakMap();
  /** Lay a model out in one direction, LR or TB; once. */
  function lay(model, direction) {
    const known = layouts.get(model) ?? {};
    layouts.set(model, known);
    return (known[direction] ??= layout(model, direction));
  }
  function layout(model, direction) {
    const graph = new dagre.graphlib.Graph({ multigraph: true });
    graph.setGraph({ rankdir: direction, nodesep: direction === "LR" ? 16 : 22, ranksep: direction === "LR" ? 20 : 22, edgesep: 12, marginx: 8, marginy: 8 });
    // A loop is drawn beside its node, for which the layout leaves room on both sides: above it, or on its right. A state that both some
    // literal and any other word leave where it is has two, and the second is on the other side.
    const loops = new Map();
    for (const edge of model.edges) if (edge.from === edge.to) loops.set(edge.from, [...(loops.get(edge.from) ?? []), edge]);
    // All lines are measured as bold ones, which they are where the key is.
    const sizes = new Map(model.nodes.map((node) => [node.id, node.entry ? { width: 4, height: 4 } : {
      width: Math.max(24, ...node.lines.map((line, index) => widthOf(line, index ? SMALL : LABEL, true))) + 14, height: 12 + 18 * node.lines.length,
    }]));
    for (const [id, { width, height }] of sizes) {
      const beside = loops.get(id) ?? [], across = beside.length ? 2 * (Math.max(...beside.map((edge) => widthOf(textOf(edge), SMALL))) + LOOP) : 0;
      graph.setNode(id, direction === "LR" ? { width, height: height + (beside.length ? 2 * (LOOP + 10) : 0) } : { width: width + across, height });
    }
    const bussed = crowdedOut(model.edges);
    for (const edge of model.edges) {
      const text = textOf(edge);
      if (edge.from !== edge.to && !bussed.has(edge)) graph.setEdge(edge.from, edge.to, { width: text ? widthOf(text, SMALL) + 8 : 0, height: text ? 18 : 0, labelpos: "c" }, edge.id);
    }
    dagre.layout(graph);
    const { width, height } = graph.graph(), places = new Map(model.nodes.map(({ id }) => [id, { ...graph.node(id), ...sizes.get(id) }]));
    const routeOf = (edge) => {
      const from = places.get(edge.from), to = places.get(edge.to);
      if (edge.from === edge.to) return loopOf(from, textOf(edge), direction, loops.get(edge.from)[0] === edge ? 1 : -1);
      return route(bussed.has(edge) ? bus(from, to, direction) : graph.edge(edge.from, edge.to, edge.id), from, to);
    };
    const routes = new Map(model.edges.map((edge) => [edge.id, routeOf(edge)]));
    return { places, routes, width: Math.max(60, width), height: Math.max(40, height) };
  }

  const textOf = (edge) => edge.parts.map((part) => part.text).join(", ");

  /** The edges into crowded nodes but for the first into each. An edge has a place in every rank that it crosses, so that those of
   *  all states of a long chain to its dead state would make the layout take the square of the chain's length. */
  function crowdedOut(edges) {
    const into = new Map(edges.map(({ to }) => [to, []]));
    for (const edge of edges) if (edge.from !== edge.to) into.get(edge.to).push(edge);
    return new Set([...into.values()].filter((all) => all.length > CROWD).flatMap((all) => all.slice(1)));
  }
  /** The way of such an edge: across to the line of the node, and along it. */
  function bus(from, to, direction) {
    const corner = direction === "LR" ? { x: from.x, y: to.y } : { x: to.x, y: from.y };
    return { points: [from, corner, to], x: (from.x + corner.x) / 2, y: (from.y + corner.y) / 2 };
  }

  /** An edge from border to border of its nodes, which may be smaller than the room that the layout has left for them. */
  function route({ points, x, y }, from, to) {
    const inner = points.slice(1, -1);
    const first = inner[0] ?? to, last = inner.at(-1) ?? from;
    const path = [border(from, first), ...(inner.length ? inner : [{ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 }]), border(to, last)];
    return { d: curve(path), tip: arrow(path), x, y };
  }
  function border(node, towards) {
    const dx = towards.x - node.x, dy = towards.y - node.y;
    const scale = Math.min(node.width / 2 / Math.max(Math.abs(dx), 1e-9), node.height / 2 / Math.max(Math.abs(dy), 1e-9));
    return { x: node.x + dx * Math.min(scale, 1), y: node.y + dy * Math.min(scale, 1) };
  }
  /** A loop above its node or on its right where `side` is 1, and below it or on its left where it is -1. */
  function loopOf({ x, y, width, height }, text, direction, side) {
    if (direction === "LR") {
      const edge = y - side * height / 2, far = edge - side * LOOP;
      return { d: `M${x - 12} ${edge} C${x - 22} ${far} ${x + 22} ${far} ${x + 12} ${edge}`, tip: arrow([{ x: x + 17, y: edge - side * 12 }, { x: x + 12, y: edge }]), x, y: far };
    }
    const edge = x + side * width / 2, far = edge + side * LOOP;
    return { d: `M${edge} ${y - 10} C${far} ${y - 20} ${far} ${y + 20} ${edge} ${y + 10}`, tip: arrow([{ x: edge + side * 12, y: y + 14 }, { x: edge, y: y + 10 }]), x: far + side * (widthOf(text, SMALL) / 2 - 4), y };
  }

  /** Lay a model out in the direction in which it is larger in a box. */
  function bestOf(model, box) {
    const across = lay(model, "LR"), scale = (way) => Math.min(box.width / way.width, box.height / way.height);
    if (scale(across) >= 1) return across;
    const down = lay(model, "TB");
    return scale(down) > 1.15 * scale(across) ? down : across;
  }

  /** A smooth path through the points of an edge. */
  function curve(points) {
    const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
    const middle = (a, b) => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
    const inner = points.slice(1, -1).map((point, index) => `Q${at(point)} ${at(index === points.length - 3 ? points.at(-1) : middle(point, points[index + 2]))}`);
    return `M${at(points[0])} ${inner.length ? inner.join(" ") : `L${at(points.at(-1))}`}`;
  }
  function arrow(points) {
    const end = points.at(-1);
    const from = [...points].reverse().find((point) => Math.hypot(end.x - point.x, end.y - point.y) > 3) ?? { x: end.x - 1, y: end.y };
    const angle = Math.atan2(end.y - from.y, end.x - from.x);
    const corner = (turn) => `${(end.x - 9 * Math.cos(angle + turn)).toFixed(1)},${(end.y - 9 * Math.sin(angle + turn)).toFixed(1)}`;
    return `${end.x.toFixed(1)},${end.y.toFixed(1)} ${corner(0.42)} ${corner(-0.42)}`;
  }

  /** Lay a model out for a box in advance. */
  const prepare = (model, box) => { bestOf(model, box); wide(model); };

  const drawn = new WeakMap();
  /** Draw a model into a canvas, unless it stands there already; `box` is what it should fit into. */
  function show(canvas, model, box) {
    const way = bestOf(model, box);
    if (drawn.get(canvas) === way) return;
    drawn.set(canvas, way);
    canvas.replaceChildren(draw(model, way));
  }
  function draw(model, { places, routes, width, height }) {
    const svg = make("svg", { viewBox: `0 0 ${width.toFixed(0)} ${height.toFixed(0)}`, role: "group", "data-width": width, "data-height": height, "font-family": FAMILY });
    svg.append(make("title", {}, model.title));
    for (const edge of model.edges) {
      const { d, tip, x, y } = routes.get(edge.id);
      const group = make("g", { id: edge.id, class: `edge ${edge.class ?? ""}` }, make("path", { d }), make("polygon", { points: tip }));
      if (edge.title) group.prepend(make("title", {}, edge.title));
      if (edge.parts.length) group.append(label(edge.parts, x, y));
      svg.append(group);
    }
    for (const node of model.nodes) svg.append(drawnNode(node, places.get(node.id)));
    parts.set(svg, new Map([...svg.querySelectorAll("[id]")].map((element) => [element.id, element])));
    return svg;
  }
  const parts = new WeakMap();
  /** A part of the picture in a box, by its id; asking the document for it would take as long as the picture is large. */
  const partOf = (canvas, id) => parts.get(canvas.firstElementChild)?.get(id) ?? null;
  function label(parts, x, y) {
    const text = make("text", { x: x.toFixed(1), y: (y + 4.5).toFixed(1), "text-anchor": "middle", "font-size": SMALL });
    parts.forEach((part, index) => {
      if (index) text.append(", ");
      text.append(make("tspan", { ...(part.id && { id: part.id }), class: part.class ?? "" }, Text.isolated(part.text)));
    });
    return text;
  }
  function drawnNode(node, { x, y, width, height }) {
    if (node.entry) return make("g", { id: node.id, class: "node entry" }, make("circle", { cx: x, cy: y, r: 3.5 }));
    const place = (inset) => ({ x: (x - width / 2 + inset).toFixed(1), y: (y - height / 2 + inset).toFixed(1), width: (width - 2 * inset).toFixed(1), height: (height - 2 * inset).toFixed(1), rx: 9 - inset });
    const group = make("g", { id: node.id, class: `node ${node.class ?? ""}`, tabindex: "-1", role: "img", "aria-label": node.title });
    group.append(make("title", {}, node.title), make("rect", place(0)));
    if (node.double) group.append(make("rect", { ...place(3), class: "inner" }));
    node.lines.forEach((line, index) => {
      const top = y - 9 * node.lines.length + 18 * index + 14;
      group.append(make("text", { x: x.toFixed(1), y: top.toFixed(1), "text-anchor": "middle", "font-size": index ? SMALL : LABEL, class: index ? "more" : "number" }, Text.isolated(line)));
    });
    return group;
  }

  /** Size a drawn picture: as large as fits into its box, at most twice its size, or zoomed from that. */
  function fit(canvas, zoom, least = 0) {
    const svg = canvas.querySelector("svg");
    if (!svg) return;
    const width = Number(svg.dataset.width), height = Number(svg.dataset.height);
    const scale = Math.max(zoom * Math.min((canvas.clientWidth - 8) / width, (canvas.clientHeight - 8) / height, 2), least / SMALL);
    svg.setAttribute("width", Math.floor(width * scale));
    svg.setAttribute("height", Math.floor(height * scale));
  }

  /** Scroll a box so that some parts of its picture are in view, or the first of them where they do not fit; else leave it alone. */
  function reveal(canvas, elements) {
    if (!elements.length || (canvas.scrollWidth <= canvas.clientWidth && canvas.scrollHeight <= canvas.clientHeight)) return;
    const outer = canvas.getBoundingClientRect(), inner = elements.map((element) => element.getBoundingClientRect());
    for (const [low, high, scroll] of [["left", "right", "scrollLeft"], ["top", "bottom", "scrollTop"]]) {
      const first = Math.min(...inner.map((one) => one[low])), last = Math.max(...inner.map((one) => one[high]));
      if (first >= outer[low] && last <= outer[high]) continue;
      const room = outer[high] - outer[low], whole = last - first <= room - 16;
      canvas[scroll] += whole ? (first + last) / 2 - (outer[low] + outer[high]) / 2 : inner[0][low] - outer[low] - 8;
    }
  }

  /** How wide a model is when it is laid out from left to right. */
  const wide = (model) => lay(model, "LR").width;

  return { widthOf: wide, prepare, partOf, show, fit, reveal, make, SMALL };
})();
