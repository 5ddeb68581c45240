// The page: it shows a lesson (pictures, an NFA as arrays, numbers of states) at one step of the match of a key.
// All text that comes from patterns and keys is set as text, never as markup.
// It is one long file, because every function reads or sets the state that is declared first.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const { shown, visible } = Engine;
  const empty = () => ({ states: new Map(), transitions: new Map() });
  let lesson, nfa, numbers, key, result, failed, walk, base = empty(), step = 0, timer = 0;

  /** Make an element of a name, attributes and children; children that are strings become text. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
  }
  const wordElement = (word, limit) => make("bdi", { class: "word", title: visible(word) }, shown(word, limit));
  const setOf = (state) => `{${Engine.members(nfa, state).join(",")}}`;
  const patternElement = (tag) => make("bdi", { class: "pattern", title: visible(lesson.patterns[tag]) }, visible(lesson.patterns[tag]) || '""');

  /** The number and the id of a state in the picture; a state that is not in it gets the next free number and no id. */
  function numberOf(name) {
    if (!numbers.has(name)) numbers.set(name, { number: numbers.size, id: null });
    return numbers.get(name);
  }

  function load(data) {
    lesson = data;
    nfa = Engine.readNfa(data.nfa);
    numbers = new Map(data.states.map((state) => [`${state.positions.join(",")}|${state.tags.join(",")}`, { number: state.number, id: state.id }]));
    base = empty();
    for (const [id, svg] of [["nfa-canvas", data.nfaSvg], ["dfa-canvas", data.dfaSvg]]) if (svg) $(id).innerHTML = svg; // markup, but made by the server of this page
    const widths = ["nfa-canvas", "dfa-canvas"].map((id) => {
      const svg = $(id).querySelector("svg"), width = parseFloat(svg.getAttribute("width")) * 4 / 3;
      svg.style.setProperty("--natural", `${width}px`);
      return width;
    });
    // The wider picture gets the wider column, so that the texts of both are large enough for a projector.
    document.querySelector(".pictures").style.setProperty("--wider", `${Math.min(2.4, Math.max(0.6, widths[1] / widths[0]))}fr`);
    const dfaSize = data.complete ? `complete DFA: ${data.states.length} states` : data.note;
    $("summary").textContent = `${data.patterns.length} ${data.patterns.length === 1 ? "pattern" : "patterns"} · NFA: ${nfa.size} positions · ${dfaSize}`;
    $("dfa-note").textContent = data.complete ? "" : data.note;
  }

  function setKey(text, at = 0) {
    key = text;
    if ($("key").value !== text) $("key").value = text;
    compute();
    go(at);
  }

  function compute() {
    result = Engine.run(nfa, key, base);
    failed = Engine.failures(nfa, result.frames);
    walk = Engine.trieWalk(nfa, Engine.wordsOf(key));
    for (const frame of result.frames) numberOf(frame.name);
    $("slider").max = result.frames.length - 1;
    const chip = (frame, index) => {
      const button = make("button", { type: "button" }, ...(index ? [wordElement(frame.word, 40)] : ["start"]));
      button.setAttribute("aria-label", index ? `Word ${index}: ${shown(frame.word, 60)}` : "Before the first word");
      button.addEventListener("click", () => go(index));
      return make("li", index ? {} : { class: "begin" }, button);
    };
    $("words").replaceChildren(...result.frames.map(chip));
  }

  function go(to) {
    const last = result.frames.length - 1;
    step = Math.max(0, Math.min(last, to));
    const frame = result.frames[step];
    $("slider").value = step;
    $("slider").setAttribute("aria-valuetext", step ? `after word ${step} of ${last}, ${shown(frame.word)}` : "before the first word");
    $("position").textContent = `Step ${step} of ${last}`;
    $("first").disabled = $("back").disabled = step === 0;
    $("next").disabled = $("last").disabled = step === last;
    [...$("words").children].forEach((item, index) => {
      item.classList.toggle("read", index < step);
      item.classList.toggle("current", index === step);
      if (index === step) { item.firstChild.setAttribute("aria-current", "step"); reveal($("words"), item); } else item.firstChild.removeAttribute("aria-current");
    });
    if (step === last) pause();
    drawNfa(frame);
    drawDfa(frame);
    tell(frame, last);
    showFacts(frame);
    showBindings(last);
    showTrie();
    showSubsets(frame);
    remember();
  }

  /** The states and transitions in the cache at this step. */
  function known() {
    const states = new Map(base.states), transitions = new Map(base.transitions);
    for (const frame of result.frames.slice(0, step + 1)) {
      states.set(frame.name, frame.state);
      if (frame.how === "built") transitions.set(frame.transition, frame.name);
    }
    return { states, transitions };
  }

  function mark(canvas, classes) {
    for (const [name, ids] of Object.entries(classes)) {
      for (const element of canvas.querySelectorAll(`.${name}`)) element.classList.remove(name);
      for (const id of ids) canvas.querySelector(`[id="${id}"]`)?.classList.add(name);
    }
    const focus = canvas.querySelector(".hit");
    if (focus) reveal(canvas, focus);
  }

  /** Scroll a box so that an element in it is in view; scrollIntoView() would scroll the page as well. */
  function reveal(box, element, sideways = true) {
    const outer = box.getBoundingClientRect(), inner = element.getBoundingClientRect();
    if (sideways && (inner.left < outer.left || inner.right > outer.right)) box.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top + inner.height / 2 - outer.top - outer.height / 2;
  }

  function drawNfa(frame) {
    const active = Engine.members(nfa, frame.state);
    const walked = frame.how === "final" ? [] : frame.moves;
    mark($("nfa-canvas"), {
      hit: active.map((p) => `n${p}`),
      via: walked.map(([, q]) => q).filter((p) => !active.includes(p)).map((p) => `n${p}`),
      walked: walked.map(([p, q]) => `n${p}-n${q}`),
    });
    $("nfa-now").textContent = active.length ? `active: ${setOf(frame.state)}` : "active: none";
  }

  function drawDfa(frame) {
    const canvas = $("dfa-canvas"), cache = known();
    const present = new Set();
    for (const name of cache.states.keys()) {
      const { id } = numberOf(name);
      if (id) present.add(id).add(`entry-${id}`).add(`entry-${id}-${id}`);
    }
    for (const [transition, target] of cache.transitions) {
      const source = numberOf(transition.slice(0, transition.lastIndexOf(" "))).id;
      present.add(`${source}-${numberOf(target).id}`);
    }
    for (const element of canvas.querySelectorAll(".node, .edge")) element.classList.toggle("absent", !present.has(element.id));
    const { number, id } = numberOf(frame.name);
    const edge = frame.before === undefined ? null : `${numberOf(frame.before).id}-${id}`;
    mark(canvas, {
      hit: id ? [id] : [],
      walked: edge && frame.how !== "final" ? [edge] : step === 0 ? [`entry-${id}-${id}`] : [],
      fresh: [...(frame.newState && id ? [id] : []), ...(frame.how === "built" && edge ? [edge] : [])],
    });
    const dead = isDead(frame.state);
    $("dfa-now").textContent = dead ? "in the dead state ∅, which is not drawn" : `in state ${number} = ${setOf(frame.state)}${id ? "" : " (not in this picture)"}`;
  }

  const isDead = (state) => !state.positions.length && !state.tags.length;
  const list = (parts) => parts.length < 2 ? parts : [...parts.slice(0, -1).flatMap((part, i) => (i ? [", ", part] : [part])), " and ", parts.at(-1)];

  function tell(frame, last) {
    const parts = [];
    const name = (state) => (isDead(state) ? "the dead state" : `state ${numberOf(Engine.nameOf(state)).number}`);
    if (step === 0) {
      parts.push(`Before the first word the NFA is at ${setOf(frame.state)}. The DFA calls this set ${name(frame.state)}. `);
    } else {
      const before = result.frames[step - 1];
      parts.push(`Word ${step}, `, make("b", {}, wordElement(frame.word)), ", ");
      if (frame.how === "final") {
        parts.push(`changes nothing: ${name(frame.state)} is final, so the engine has stopped reading. `);
      } else {
        const literals = Engine.literals(nfa, before.state).length;
        const same = frame.name === before.name;
        parts.push(frame.symbol ? "is a literal here: " : literals ? "is no literal here, so it goes where any other word goes: " : "is read as any word is: ");
        parts.push(same ? `the DFA stays in ${name(frame.state)}. ` : `the DFA goes from ${name(before.state)} to ${name(frame.state)}, ${setOf(frame.state)}. `);
        parts.push(frame.how === "cached" ? "The transition was cached: one look-up, nothing built. "
          : frame.newState ? "The transition was just built, and its state with it. " : "The transition was just built; its state was there already. ");
        if (isDead(frame.state)) parts.push("No binding can match any more. ");
      }
    }
    if (step === last) {
      const tags = frame.state.tags;
      parts.push(make("b", {}, ...(tags.length
        ? ["The key ends here, and is accepted by ", ...list(tags.slice(0, 8).map(patternElement)), tags.length > 8 ? ` and ${tags.length - 8} more.` : "."]
        : ["The key ends here, and no binding accepts it."])));
    }
    $("story").replaceChildren(...parts);
  }

  function showFacts(frame) {
    const hows = { start: "start", built: "just built", cached: "cached", final: "not read" };
    const count = (how) => result.frames.slice(0, step + 1).filter((other) => other.how === how).length;
    const { number } = numberOf(frame.name);
    const rows = [
      ["Word", frame.word === null ? "none yet" : wordElement(frame.word, 60)],
      ["NFA positions", setOf(frame.state)],
      ["DFA state", isDead(frame.state) ? `${number} = ∅ (dead)` : `${number}`],
      ["Transition", make("span", { class: `badge ${frame.how}` }, hows[frame.how])],
      ["Accepts here", frame.state.tags.length ? make("span", {}, ...list(frame.state.tags.slice(0, 8).map(patternElement)), frame.state.tags.length > 8 ? ` and ${frame.state.tags.length - 8} more` : "") : "nothing"],
      ["So far", `${count("built")} built, ${count("cached")} cached, ${frame.states} ${frame.states === 1 ? "state" : "states"} in the cache`],
    ];
    $("facts").replaceChildren(...rows.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));
    $("empty").disabled = base.states.size === 0;
    $("cache-note").textContent = base.states.size ? `This key began with ${base.states.size} states in the cache.` : "This key began with an empty cache.";
  }

  function showBindings(last) {
    const rows = lesson.patterns.map((_, tag) => {
      const gone = failed.has(tag) ? failed.get(tag) : Infinity;
      const accepting = result.frames[step].state.tags.includes(tag);
      let [kind, sign, why] = ["alive", "○", "can still match"];
      if (gone <= step) [kind, sign, why] = ["failed", "✗", gone === 0 ? "cannot match" : `failed at word ${gone}, ${shown(result.frames[gone].word)}`];
      else if (step === last) [kind, sign, why] = accepting ? ["accepts", "✓", "accepts the key"] : ["failed", "✗", last ? `failed after word ${last}: the key ended too soon` : "failed: the key has no words"];
      else if (accepting) [kind, sign, why] = ["alive", "◉", "would accept if the key ended here"];
      return make("li", { class: kind }, make("span", { class: "mark", "aria-hidden": "true" }, sign), make("span", {}, patternElement(tag), make("span", { class: "why" }, why)));
    });
    $("set").replaceChildren(...lesson.patterns.map((pattern, tag) => {
      const chip = make("span", { role: "listitem", class: rows[tag].className }, patternElement(tag));
      chip.append(make("span", { class: "sr" }, ` (${rows[tag].querySelector(".why").textContent})`));
      return chip;
    }));
    $("bindings").replaceChildren(...(rows.length ? rows : [make("li", {}, "", "no patterns")]));
  }

  function showTrie() {
    const words = Engine.wordsOf(key), most = Math.max(1, ...walk.reads);
    const total = walk.reads.reduce((sum, reads) => sum + reads, 0);
    const soFar = walk.reads.slice(0, step).reduce((sum, reads) => sum + reads, 0);
    const read = result.frames.filter((frame) => frame.how === "built" || frame.how === "cached").length;
    const plural = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;
    $("trie-story").replaceChildren(...(walk.complete
      ? ["A trie walked with backtracking enters ", make("b", {}, plural(walk.visits, "node")), ", turns back ", make("b", {}, plural(walk.backtracks, "time")),
        ` and looks words up ${plural(total, "time")}; the DFA ${plural(read, "time")}. The first ${plural(step, "word")} so far: ${soFar.toLocaleString("en")} against ${Math.min(step, read)}.`]
      : [`A trie walked with backtracking was stopped after ${plural(walk.visits, "node")}; the DFA looks up ${plural(read, "word")}.`]));
    $("trie-bars").replaceChildren(...words.slice(0, 64).flatMap((word, index) => {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${100 * walk.reads[index] / most}%`;
      const cells = [make("bdi", { class: "word" }, shown(word, 16)), bar, make("span", {}, `${walk.reads[index].toLocaleString("en")}×`)];
      if (index >= step) for (const cell of cells) cell.classList.add("later");
      return cells;
    }));
  }

  function showSubsets(frame) {
    const cache = known();
    const used = [...new Set([...cache.states.values()].flatMap((state) => Engine.literals(nfa, state)))].sort((a, b) => a - b);
    const columns = used.length <= 8 ? used : null;
    const head = ["State", "NFA positions", ...(columns ? columns.map((symbol) => wordElement(nfa.words[symbol - 1], 16)) : ["literals"]), "other", "accepts"];
    $("subsets").tHead.replaceChildren(make("tr", {}, ...head.map((cell) => make("th", { scope: "col" }, cell))));
    const target = (name, symbol) => {
      const to = cache.transitions.get(`${name} ${symbol}`);
      return to === undefined ? null : String(numberOf(to).number);
    };
    const rows = [...cache.states].map(([name, state]) => {
      const own = Engine.literals(nfa, state), final = Engine.isFinal(nfa, state), row = make("tr", name === frame.name ? { class: "current" } : {});
      if (frame.newState && name === frame.name) row.classList.add("fresh");
      if (name === frame.name) row.setAttribute("aria-current", "true");
      const cell = (symbol) => {
        const to = final ? "stays" : target(name, symbol);
        const walked = frame.transition === `${name} ${symbol}` && frame.how !== "final";
        return make("td", { class: to === null ? "unknown" : walked ? "walked" : "" }, to ?? "?");
      };
      row.append(make("th", { scope: "row" }, String(numberOf(name).number)), make("td", {}, isDead(state) ? "∅" : setOf(state)));
      if (columns) for (const symbol of columns) row.append(own.includes(symbol) ? cell(symbol) : make("td", { class: "unknown", title: "as any other word" }, "·"));
      else {
        const texts = own.slice(0, 12).map((symbol) => `${shown(nfa.words[symbol - 1], 16)} → ${target(name, symbol) ?? "?"}`);
        row.append(make("td", { class: "literals" }, texts.join(", ") + (own.length > 12 ? ` and ${own.length - 12} more` : "")));
      }
      row.append(cell(Engine.OTHER), make("td", { class: "accepting" }, ...(state.tags.length ? list(state.tags.slice(0, 6).map(patternElement)) : ["–"]), state.tags.length > 6 ? ` and ${state.tags.length - 6} more` : ""));
      return row;
    });
    $("subsets").tBodies[0].replaceChildren(...rows);
    const current = $("subsets").tBodies[0].querySelector(".current");
    if (current) reveal($("subsets").parentElement, current, false);
  }

  // --- links: what the page shows is in the fragment, which browsers send to no server ----------------------------------

  const fragment = () => {
    const parts = new URLSearchParams();
    if (lesson.editable) for (const pattern of lesson.patterns) parts.append("p", pattern);
    parts.append("key", key);
    parts.append("step", step);
    return `#${parts}`;
  };
  let written = "";
  function remember() {
    written = fragment();
    try { history.replaceState(null, "", written); } catch { /* in the frame of a notebook a page has no history, and so no link to itself */ }
  }
  async function follow(hash) {
    const parts = new URLSearchParams(hash.slice(1));
    const wanted = parts.getAll("p");
    const at = Number.parseInt(parts.get("step") ?? "0", 10) || 0;
    if (lesson.editable && parts.has("p") && JSON.stringify(wanted) !== JSON.stringify(lesson.patterns)) {
      showPatterns(wanted);
      await ask(wanted, parts.get("key") ?? "", at);
    } else setKey(parts.get("key") ?? lesson.key, parts.has("key") ? at : 0);
  }

  // --- the editor of patterns, where a server serves the page and lays new patterns out -----------------------------

  let latest = 0, waiting = 0;
  const showPatterns = (patterns) => { $("patterns").value = patterns.map((pattern) => pattern || '""').join("\n"); };
  const typedPatterns = () => $("patterns").value.split("\n").filter((line) => line !== "").map((line) => (line === '""' ? "" : line));
  async function ask(patterns, text, at = 0) {
    const turn = ++latest;
    document.body.setAttribute("aria-busy", "true");
    try {
      const answer = await fetch("lesson", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ patterns, key: text }) });
      const data = await answer.json();
      if (turn !== latest) return;
      if (!answer.ok) return fail(data.error);
      fail("");
      load(data);
      setKey(text, at);
    } catch (error) {
      if (turn === latest) fail(`The server of this page does not answer (${error.message}). Is 'dfa-router play' still running?`);
    } finally {
      if (turn === latest) document.body.removeAttribute("aria-busy");
    }
  }
  function fail(message) {
    $("error").textContent = message;
    $("error").hidden = !message;
  }
  function later(work) {
    clearTimeout(waiting);
    waiting = setTimeout(work, 250);
  }
  function setUpEditor() {
    $("patterns-form").hidden = false;
    showPatterns(lesson.patterns);
    lesson.examples.forEach((example, index) => $("examples").append(make("option", { value: index }, example.title)));
    $("examples").addEventListener("change", () => {
      const example = lesson.examples[$("examples").value];
      if (!example) return;
      $("example-note").textContent = example.note;
      showPatterns(example.patterns);
      ask(example.patterns, example.key);
    });
    $("patterns").addEventListener("input", () => later(() => ask(typedPatterns(), $("key").value)));
    $("patterns-form").addEventListener("submit", (event) => event.preventDefault());
  }

  // --- controls -----------------------------------------------------------------------------------------------------

  function pause() {
    clearInterval(timer);
    timer = 0;
    $("play").setAttribute("aria-pressed", "false");
    $("play").setAttribute("aria-label", "Play");
  }
  function playOrPause() {
    if (timer) return pause();
    if (step === result.frames.length - 1) go(0);
    timer = setInterval(() => go(step + 1), 1400);
    $("play").setAttribute("aria-pressed", "true");
    $("play").setAttribute("aria-label", "Pause");
  }
  const act = (id, work) => $(id).addEventListener("click", () => { pause(); work(); });
  act("first", () => go(0));
  act("back", () => go(step - 1));
  act("next", () => go(step + 1));
  act("last", () => go(Infinity));
  $("play").addEventListener("click", playOrPause);
  $("slider").addEventListener("input", () => { pause(); go(Number($("slider").value)); });
  $("key-form").addEventListener("submit", (event) => event.preventDefault());
  $("key").addEventListener("input", () => {
    pause();
    const text = $("key").value;
    setKey(text);
    if (lesson.editable && !lesson.complete) later(() => ask(lesson.patterns, text));
  });
  $("ghosts").addEventListener("change", () => $("dfa-canvas").classList.toggle("ghosts", $("ghosts").checked));
  $("dfa-canvas").classList.add("ghosts");
  $("keep").addEventListener("click", () => { base = result.cache; compute(); go(0); });
  $("empty").addEventListener("click", () => { base = empty(); compute(); go(0); });
  $("print").addEventListener("click", () => print());
  $("theme").addEventListener("click", () => {
    const order = ["auto", "light", "dark"];
    const theme = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % 3];
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
  });
  $("link").addEventListener("click", async () => {
    const link = location.href.split("#")[0] + fragment();
    try {
      await navigator.clipboard.writeText(link);
      $("link").textContent = "Copied";
    } catch { // browsers allow access to the clipboard on some pages only
      prompt("The link to this page as it stands:", link);
    }
    setTimeout(() => { $("link").textContent = "Copy link"; }, 1500);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input[type=text], textarea, select, input[type=range]")) return;
    if (event.target.matches(".canvas") && event.target.scrollWidth > event.target.clientWidth) return; // arrow keys scroll a focused picture that is too wide
    const onButton = event.target.matches("button, input, a");
    const work = { ArrowRight: () => go(step + 1), ArrowLeft: () => go(step - 1), Home: () => go(0), End: () => go(Infinity), " ": onButton ? null : playOrPause }[event.key];
    if (!work) return;
    event.preventDefault();
    if (event.key !== " ") pause();
    work();
  });
  addEventListener("hashchange", () => { if (location.hash !== written) follow(location.hash); });

  const opened = location.hash; // read here, because setKey() below replaces it
  load(JSON.parse($("lesson").textContent));
  if (lesson.editable) setUpEditor();
  setKey(lesson.key);
  if (opened.length > 1) follow(opened);
})();
