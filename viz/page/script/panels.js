// The page's words: the story of a step, its facts, bindings, the cache's story, the trie's walk and the subset construction.
"use strict";

const Panels = (() => {
  const $ = (id) => document.getElementById(id);
  const { shown, visible, counted } = Text;
  const { OTHER, isDead } = Automaton;
  const { setOf } = Pictures;

  /** Make an element of a name, attributes and children; children that are strings become text. */
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) element.setAttribute(attribute, value);
    element.append(...children);
    return element;
  }
  const wordElement = (word, limit) => make("bdi", { class: "word", title: visible(word) }, shown(word, limit));
  const list = (parts) => (parts.length < 2 ? parts : [...parts.slice(0, -1).flatMap((part, i) => (i ? [", ", part] : [part])), " and ", parts.at(-1)]);
  const number = (count) => count.toLocaleString("en");

  /** A pattern, each word isolated: a word that is written from right to left does not reorder the others. */
  function patternElement(pattern, dialect) {
    const words = Language.wordsOf(pattern, dialect).flatMap((word, index) => [...(index ? [dialect.separator] : []), make("bdi", {}, visible(word))]);
    return make("span", { class: "pattern word", dir: "ltr", title: visible(pattern) }, ...(words.length ? words : ['""']));
  }
  const named = (played, tags, most = 8) => {
    const { patterns, dialect } = played.settings, parts = tags.slice(0, most).map((tag) => patternElement(patterns[tag], dialect));
    return tags.length > most ? [...parts.flatMap((part) => [part, ", "]), `and ${tags.length - most} more`] : list(parts);
  };

  function story(played, at, here) {
    const { frame, told, read, atEnd } = here, { nfa } = played, parts = [];
    const name = (one) => (isDead(one) ? `the dead state, ${one.state}` : `state ${one.state}`);
    const before = here.before;
    if (frame.how === "start") parts.push(`Before the first word the NFA is at ${setOf(nfa, frame)}. The DFA calls this set ${name(frame)}. `);
    else if (frame.how === "remembered") parts.push("The router remembers the answer of this key: the automaton is not asked. ");
    else if (frame.how === "refused") parts.push(`No broker routes this key: ${Language.refusal(told.key, played.settings.dialect)}. The automaton is not asked. `);
    else if (frame.how === "cleared") parts.push(make("b", {}, "The cache is full"), ` where word ${frame.word} needs more: everything in it is thrown away, and the key begins again. `);
    else if (frame.how === "simulated" && frame.word === 0) parts.push(make("b", {}, "Now simulating the NFA"), `: ${whySimulated(played, at)} The NFA is at ${setOf(nfa, frame)}. `);
    else {
      parts.push(`Word ${frame.word}, `, make("b", {}, wordElement(told.words[frame.word - 1])), ", ");
      if (frame.how === "stopped") parts.push(`is not read: no word changes ${name(frame)}, so the engine has stopped. `);
      else if (frame.how === "simulated") parts.push(`moves the NFA to ${setOf(nfa, frame)}; no state is built, none is looked up. `);
      else {
        const literals = Automaton.literals(nfa, before).length, same = before.state === frame.state;
        parts.push(read.symbol ? "is a literal here: " : literals ? "is no literal here, so it goes where any other word goes: " : "is read as any word is: ");
        parts.push(same ? `the DFA stays in ${name(frame)}. ` : `the DFA goes from ${name(before)} to ${name(frame)}, ${setOf(nfa, frame)}. `);
        parts.push(howBuilt(frame));
        if (isDead(frame)) parts.push("No binding can match any more. ");
      }
    }
    if (frame.grown.length) parts.push(`First ${list(frame.grown.map((table) => `the table of ${table}`)).join("")} had to grow. `);
    if (atEnd) parts.push(make("b", {}, ...(told.tags.length ? ["The key ends here, and is accepted by ", ...named(played, told.tags), "."] : ["The key ends here, and no binding accepts it."])));
    return parts;
  }
  function howBuilt(frame) {
    const count = (kind) => frame.built.filter(([one]) => one === kind).length;
    if (frame.how === "cached") return "The transition was cached: one look-up, nothing built. ";
    if (frame.how === "stray") return "The word is a literal elsewhere, so the cache keeps an entry that says it is none here. ";
    const what = [];
    if (count("default")) what.push("where any other word goes");
    if (count("literal")) what.push("where this word goes");
    const states = count("state");
    return `Just built: ${what.join(", and ")}${states ? `, with ${counted(states, "new state")}` : "; the states were there already"}. `;
  }
  function whySimulated(played, at) {
    if (!played.machine.cache) return "the bound has no room for any cache.";
    const cleared = at > 0 && played.steps[at - 1].frame.how === "cleared" && played.steps[at - 1].key === played.steps[at].key;
    return cleared ? "this key alone outgrows the cache." : "building has cost more than simulating would, so it pauses for some keys.";
  }

  const HOWS = { start: "start", built: "just built", cached: "cached", stray: "stray kept", stopped: "not read", cleared: "cleared", simulated: "simulated", remembered: "remembered", refused: "not routed" };

  function facts(played, at, here, cache) {
    const { frame, told } = here, { nfa } = played;
    const rows = [
      ["Word", frame.word === 0 || !told.words.length ? "none yet" : wordElement(told.words[frame.word - 1], 60)],
      ["NFA positions", setOf(nfa, frame)],
      ["DFA state", frame.state === null ? "none" : isDead(frame) ? `${frame.state} = ∅ (dead)` : `${frame.state}`],
      ["This step", make("span", { class: `badge ${frame.how}` }, HOWS[frame.how])],
      ["Accepts here", frame.tags.length ? make("span", {}, ...named(played, frame.tags)) : "nothing"],
      ["In the cache", `${counted(cache.states.filter(Boolean).length, "state")}, ${counted(cache.edges.size, "transition")}`],
    ];
    $("facts").replaceChildren(...rows.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, value)]));
  }

  const drawn = new WeakMap();
  /** A row and a chip for each pattern of a stream, made once: most of them stay as they are from step to step. */
  function rowsOf(played) {
    const { patterns, dialect } = played.settings;
    const parts = (pattern) => {
      const mark = make("span", { class: "mark", "aria-hidden": "true" }), why = make("span", { class: "why" }), said = make("span", { class: "sr" });
      return { mark, why, said, kind: null, item: make("li", {}, mark, make("span", {}, patternElement(pattern, dialect), why)), chip: make("span", { role: "listitem" }, patternElement(pattern, dialect), said) };
    };
    if (!drawn.has(played)) drawn.set(played, patterns.map(parts));
    return drawn.get(played);
  }
  /** Put elements into a box, unless it holds just these already. */
  function fill(box, elements) {
    if (box.childNodes.length !== elements.length || elements.some((element, index) => box.childNodes[index] !== element)) box.replaceChildren(...elements);
  }

  function bindings(played, here) {
    const { told, frame, word, atEnd } = here, { patterns } = played.settings;
    const silent = frame.how === "refused" || frame.how === "remembered";
    const rows = patterns.map((_, tag) => {
      const gone = told.failed.has(tag) ? told.failed.get(tag) : Infinity, accepting = frame.tags.includes(tag);
      let [kind, sign, why] = ["alive", "○", "can still match"];
      if (silent || (atEnd && accepting)) [kind, sign, why] = told.tags.includes(tag) ? ["accepts", "✓", "accepts the key"] : ["failed", "✗", frame.how === "refused" ? "is not asked" : "does not match"];
      else if (gone <= word) [kind, sign, why] = ["failed", "✗", gone === 0 ? "cannot match" : `failed at word ${gone}, ${shown(told.words[gone - 1])}`];
      else if (atEnd) [kind, sign, why] = ["failed", "✗", told.words.length ? `failed after word ${told.words.length}: the key ended too soon` : "failed: the key has no words"];
      else if (accepting) [kind, sign, why] = ["alive", "◉", "would accept if the key ended here"];
      const row = rowsOf(played)[tag];
      if (row.kind !== kind || row.why.textContent !== why) {
        Object.assign(row, { kind });
        row.item.className = row.chip.className = kind;
        [row.mark.textContent, row.why.textContent, row.said.textContent] = [sign, why, ` (${why})`];
      }
      return { tag, kind, row };
    });
    // Live bindings come first, so that none of them is scrolled away.
    const order = { accepts: 0, alive: 1, failed: 2 }, sorted = [...rows].sort((a, b) => order[a.kind] - order[b.kind] || a.tag - b.tag);
    fill($("bindings"), rows.length ? sorted.map(({ row }) => row.item) : [make("li", {}, make("span"), make("span", {}, "no patterns"))]);
    fill($("set"), (rows.length > 12 ? sorted : rows).map(({ row }) => row.chip));
  }

  /** How full the cache is, the counters of stats(), and what has happened so far. */
  function cacheStory(played, at, here) {
    const { told } = here, capacity = played.settings.capacity, { stats } = told;
    const bytes = Machine.bytes.get(here.frame) ?? (here.atEnd ? stats.bytes : 0), share = capacity ? Math.min(1, bytes / capacity) : 0;
    const bar = make("div", { class: `level${share > 0.9 ? " full" : ""}` });
    bar.style.width = `${100 * share}%`;
    $("gauge").replaceChildren(make("div", { class: "tube", role: "meter", "aria-label": "Bytes of the cache", "aria-valuemin": 0, "aria-valuemax": capacity, "aria-valuenow": bytes }, bar), make("p", { class: "muted" }, `the automaton’s tables: ${number(bytes)} of ${number(capacity)} bytes`));
    const rows = [
      ["states", stats.states], ["transitions", stats.transitions], ["accept sets", stats.accept_sets], ["bytes", stats.bytes], ["keys", stats.keys], ["words", stats.words],
      ["hits", stats.hits], ["misses", stats.misses], ["clears", stats.clears], ["simulated keys", stats.fallbacks],
    ];
    $("counters").replaceChildren(...rows.flatMap(([term, value]) => [make("dt", {}, term), make("dd", {}, number(value))]));
    const events = [];
    played.steps.slice(0, at + 1).forEach(({ key, frame }, index) => {
      if (frame.grown.length) events.push([index, `key ${key + 1}: ${frame.grown.join(", ")} grew`]);
      if (frame.how === "cleared") events.push([index, `key ${key + 1}, word ${frame.word}: the cache was cleared`]);
      if (frame.how === "simulated" && frame.word === 0) events.push([index, `key ${key + 1}: the NFA was simulated`]);
      if (frame.how === "remembered") events.push([index, `key ${key + 1}: remembered`]);
    });
    $("events").replaceChildren(...events.slice(-40).reverse().map(([, text]) => make("li", {}, text)));
    $("events").start = events.length; // the latest stands first, and has the highest number
    $("events").hidden = !events.length; // an empty list has no height: the focus would be nowhere to be seen
  }

  const MOST_BARS = 64, races = new WeakMap();
  function trie(played, here) {
    const { told, word } = here;
    if (here.frame.how === "refused") {
      $("trie-story").replaceChildren("No broker routes this key, so none walks its trie for it.");
      $("trie-bars").replaceChildren();
      return;
    }
    if (!races.has(told)) races.set(told, Automaton.trieWalk(played.nfa, told.words, played.nfa.rootOf(told.key)));
    const walk = races.get(told), most = Math.max(1, ...walk.reads);
    const total = walk.reads.reduce((sum, reads) => sum + reads, 0), soFar = walk.reads.slice(0, word).reduce((sum, reads) => sum + reads, 0);
    const dfa = told.read.findIndex((step) => step.final), looked = dfa === -1 ? told.words.length : dfa;
    const { how } = played.steps[told.last].frame, asked = how === "simulated" || how === "remembered" ? "the DFA, were it asked," : "the DFA";
    $("trie-story").replaceChildren(...(walk.complete
      ? ["A trie walked with backtracking, as brokers do, enters ", make("b", {}, counted(walk.visits, "node")), ", turns back ", make("b", {}, counted(walk.backtracks, "time")), ` and looks words up ${counted(total, "time")}; ${asked} ${counted(looked, "time")}. Up to this step: ${number(soFar)} against ${Math.min(word, looked)}.`]
      : [`A trie walked with backtracking was stopped after ${counted(walk.visits, "node")}; ${asked} looks up ${counted(looked, "word")}.`]));
    const left = told.words.length - MOST_BARS;
    $("trie-bars").replaceChildren(...told.words.slice(0, MOST_BARS).flatMap((one, index) => {
      const bar = make("span", { class: "bar" });
      bar.style.width = `${(100 * walk.reads[index]) / most}%`;
      const cells = [make("bdi", { class: "word" }, shown(one, 16)), bar, make("span", {}, `${number(walk.reads[index])}×`)];
      if (index >= word) for (const cell of cells) cell.classList.add("later");
      return cells;
    }), ...(left > 0 ? [make("p", { class: "muted" }, `and ${counted(left, "more word")}`)] : []));
  }

  const MOST_ROWS = 200, tables = new WeakMap();
  function subsets(played, here, cache) {
    const { nfa, settings } = played, { dialect, patterns } = settings;
    const states = cache.states.map((state, index) => [state, index]).filter(([state]) => state);
    const used = [...new Set(states.flatMap(([state]) => state.literals))].sort((a, b) => a - b), columns = used.length <= 8 ? used : null;
    const head = ["State", "NFA positions", ...(columns ? columns.map((symbol) => wordElement(nfa.words[symbol - 1], 16)) : ["literals"]), "other", "accepts"];
    if (!tables.has(played)) tables.set(played, { head: null, rows: new Map() });
    const known = tables.get(played), heading = String(columns);
    if (known.head !== heading) $("subsets").tHead.replaceChildren(make("tr", {}, ...head.map((cell) => make("th", { scope: "col" }, cell))));
    known.head = heading;
    const target = (from, symbol) => cache.edges.get(`${from} ${symbol}`)?.target;
    const first = Math.max(0, Math.min(states.length - MOST_ROWS, (here.frame.state ?? 0) - MOST_ROWS / 2));
    const rows = states.slice(first, first + MOST_ROWS).map(([state, index]) => {
      const cell = (symbol) => {
        const to = state.final ? "stays" : target(index, symbol), walked = here.before?.state === index && here.read.symbol === symbol && here.frame.state !== null && here.frame.how !== "stopped";
        return [{ class: to === undefined ? "unknown" : walked ? "walked" : "" }, to === undefined ? "?" : String(to)];
      };
      const texts = columns ? [] : state.literals.slice(0, 12).map((symbol) => `${shown(nfa.words[symbol - 1], 16)} → ${target(index, symbol) ?? "?"}`);
      const cells = [[{}, setOf(nfa, state)], ...(columns
        ? columns.map((symbol) => (state.literals.includes(symbol) ? cell(symbol) : [{ class: "unknown", title: "as any other word" }, target(index, symbol) === undefined ? "·" : `· ${target(index, symbol)}`]))
        : [[{ class: "literals" }, texts.join(", ") + (state.literals.length > 12 ? ` and ${state.literals.length - 12} more` : "")]]), cell(OTHER)];
      const row = rowOf(known.rows, index, JSON.stringify([cells, state.tags]), () => [
        make("th", { scope: "row" }, String(index)), ...cells.map(([attributes, text]) => make("td", attributes, text)),
        make("td", { class: "accepting" }, ...(state.tags.length ? named({ settings: { patterns, dialect } }, state.tags, 6) : ["–"])),
      ]);
      row.classList.toggle("fresh", cache.fresh.states.has(index));
      row.classList.toggle("current", here.frame.state === index);
      if (here.frame.state === index) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
      return row;
    });
    fill($("subsets").tBodies[0], rows);
  }
  /** The row of a number, made anew only where it says something else than before. */
  function rowOf(rows, index, says, cells) {
    if (rows.get(index)?.says !== says) rows.set(index, { says, row: make("tr", {}, ...cells()) });
    return rows.get(index).row;
  }

  return { make, wordElement, patternElement, story, facts, bindings, cacheStory, trie, subsets };
})();
