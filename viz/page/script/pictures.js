// The two pictures of a stream: the NFA, and the lazy DFA with all states that the stream ever builds, in one layout. A state
// stands for its set of positions; the number in it is the one that the engine's cache has given it, and it has none before.
"use strict";

const Pictures = (() => {
  const { OTHER, ONE, MANY, nameOf, members, isDead } = Automaton;
  const { shown, visible, elided, counted } = Text;
  const WHOLE_NFA = 48, WHOLE_DFA = 16, WHOLE_EDGES = 44, STREAM_STATES = 40, LARGE_NFA = 60, WORDS = 3;
  const few = (numbers) => (numbers.length <= 8 ? numbers.join(",") : `${numbers.slice(0, 6).join(",")},… ${numbers.length} in all`);
  const setOf = (nfa, state) => (isDead(state) ? "∅" : `{${few(members(nfa, state))}}`);
  const accepted = (patterns, tags) => (tags.length <= 2 ? tags.map((tag) => `✓ ${elided(visible(patterns[tag]), 18) || '""'}`) : [`✓ ${counted(tags.length, "binding")}`]);

  /** The positions of an NFA that are drawn: all of a small one; of a large one, those that keys enter, and the way to them. */
  function drawnPositions(played, keys) {
    const { nfa } = played;
    if (nfa.size <= WHOLE_NFA) return nfa.labels.map((_, p) => p);
    const kept = new Set(keys.flatMap((told) => told.read.flatMap((step) => [...members(nfa, step.state), ...step.moves.flat()])));
    for (let root = 0; root < nfa.roots; root++) kept.add(root);
    for (const p of [...kept]) for (let up = p; up !== -1; up = nfa.parents[up]) kept.add(up);
    return [...kept].sort((a, b) => a - b);
  }

  function nfaModel(played, keys) {
    const { nfa, settings } = played, kept = drawnPositions(played, keys), here = new Set(kept);
    const nodes = kept.map((p) => {
      const left = nfa.children[p].filter((child) => !here.has(child)).length;
      const lines = [String(p), ...(nfa.tags[p].length ? accepted(settings.patterns, nfa.tags[p]) : []), ...(left ? [`… ${left} more`] : [])];
      const what = nfa.tags[p].length ? `; here ends ${nfa.tags[p].slice(0, 6).map((tag) => visible(settings.patterns[tag]) || '""').join(" and ")}` : "";
      return { id: `n${p}`, lines, double: nfa.tags[p].length > 0, class: nfa.loops(p) ? "loop" : "", title: `position ${p}${what}${nfa.loops(p) ? "; stays on any word" : ""}` };
    });
    const edges = kept.flatMap((p) => [
      ...(nfa.loops(p) ? [{ id: `n${p}-n${p}`, from: `n${p}`, to: `n${p}`, class: "free", parts: [{ text: settings.dialect.one ?? "*" }], title: "stays on any word" }] : []),
      ...nfa.children[p].filter((child) => here.has(child)).map((child) => {
        const label = nfa.labels[child];
        const text = label === ONE ? settings.dialect.one ?? "*" : label === MANY ? "ε" : shown(nfa.words[label - 1], 20);
        const title = label === ONE ? "reads any one word" : label === MANY ? "reads no word" : `reads ${visible(nfa.words[label - 1])}`;
        return { id: `n${p}-n${child}`, from: `n${p}`, to: `n${child}`, class: label === MANY ? "epsilon" : label === ONE ? "free" : "", parts: [{ text }], title };
      }),
    ]);
    for (let root = 0; root < nfa.roots; root++) addEntry(nodes, edges, `n${root}`);
    return { title: "NFA", nodes, edges, left: nfa.size - kept.length };
  }

  function addEntry(nodes, edges, id) {
    nodes.push({ id: `entry-${id}`, entry: true, lines: [] });
    edges.push({ id: `entry-${id}-${id}`, from: `entry-${id}`, to: id, class: "entry", parts: [] });
  }

  /** The states that a stream or a key visits or builds, in the order in which they come. */
  function statesOf(played, first, last) {
    const found = new Map();
    const add = (state) => found.set(nameOf(state), { positions: state.positions, tags: state.tags });
    for (const { frame } of played.steps.slice(first, last + 1)) {
      for (const state of Machine.made.get(frame)?.values() ?? []) add(state);
      if (frame.state !== null) add(frame);
    }
    return [...found.values()];
  }

  /** Which states are drawn, and why no others. */
  function drawnStates(played, told) {
    const { nfa } = played;
    let states = statesOf(played, 0, played.steps.length - 1), note = "";
    const ofKey = states.length > STREAM_STATES;
    if (ofKey) {
      states = statesOf(played, told.first, told.last);
      note = "The picture has the states of this key only: the stream makes too many for one.";
    }
    const whole = Automaton.complete(nfa, states, WHOLE_DFA);
    const edges = (all) => new Set(all.flatMap((state) => [OTHER, ...Automaton.literals(nfa, state)].map((symbol) => `${nameOf(state)} ${nameOf(Automaton.successor(nfa, state, symbol))}`))).size;
    if (whole && edges(whole) <= WHOLE_EDGES) return { states: whole, note, ofKey, complete: whole.length };
    return { states, ofKey, note: note || "The complete DFA is too large for a picture: this one has what the keys make of it.", complete: null };
  }

  function dfaModel(played, told) {
    const { nfa, settings } = played, { states, note, ofKey, complete } = drawnStates(played, told);
    const ids = new Map(states.map((state, index) => [nameOf(state), `s${index}`]));
    const nodes = states.map((state) => ({
      id: ids.get(nameOf(state)), lines: ["999", setOf(nfa, state), ...(state.tags.length ? accepted(settings.patterns, state.tags) : [])],
      double: state.tags.length > 0, class: isDead(state) ? "dead" : "", title: "",
    }));
    const edges = [], symbols = new Map();
    for (const state of states) {
      const from = ids.get(nameOf(state)), rows = new Map();
      if (Automaton.isFinal(nfa, state)) continue;
      const literals = Automaton.literals(nfa, state);
      for (const symbol of literals) {
        const to = ids.get(nameOf(Automaton.successor(nfa, state, symbol)));
        if (to === undefined) continue;
        if (!rows.has(to)) rows.set(to, []);
        rows.get(to).push(symbol);
      }
      for (const [to, read] of rows) {
        const id = `${from}-${to}`;
        const parts = read.length <= WORDS ? read.map((symbol) => ({ id: `${id}-${symbol}`, text: shown(nfa.words[symbol - 1], 20) })) : [{ text: `${read.length} words` }];
        edges.push({ id, from, to, parts, title: read.map((symbol) => shown(nfa.words[symbol - 1], 60)).join(", ") });
        symbols.set(id, { name: nameOf(state), symbols: read });
      }
      const to = ids.get(nameOf(Automaton.successor(nfa, state, OTHER)));
      if (to !== undefined) {
        const id = `${from}-${to}-other`;
        edges.push({ id, from, to, class: "other", parts: [{ text: literals.length ? "other" : "any word" }], title: "any word that is no literal of this state" });
        symbols.set(id, { name: nameOf(state), symbols: [OTHER] });
      }
    }
    for (let root = 0; root < nfa.roots; root++) addEntry(nodes, edges, ids.get(nameOf(Automaton.start(nfa, root))) ?? nodes[0].id);
    return { title: "Lazy DFA", nodes, edges, ids, symbols, note, ofKey, complete };
  }

  const made = new WeakMap();
  /** Both models for a key, made once: a layout belongs to its model, and is as good for every key that has the same. */
  function modelsOf(played, told) {
    if (!made.has(played)) made.set(played, { all: nfaModel(played, played.keys.slice(0, 40)), dfa: null });
    const whole = made.get(played);
    if (!made.has(told)) {
      const dfa = whole.dfa ?? dfaModel(played, told), nfa = whole.all.nodes.length > LARGE_NFA ? nfaModel(played, [told]) : whole.all;
      if (!dfa.ofKey) whole.dfa = dfa;
      made.set(told, { nfa, dfa });
    }
    return made.get(told);
  }

  const parts = new WeakMap();
  /** The part of the DFA's picture that the keys build. */
  function built(played, model) {
    if (parts.has(model)) return parts.get(model);
    const states = new Set();
    for (const { frame } of played.steps) for (const state of Machine.made.get(frame)?.values() ?? []) states.add(state.name);
    const here = new Set([...model.ids].filter(([name]) => states.has(name)).map(([, id]) => id));
    const nodes = model.nodes.filter(({ id, entry }) => entry || here.has(id)), drawn = new Set(nodes.map(({ id }) => id));
    const edges = model.edges.filter(({ from, to }) => drawn.has(from) && drawn.has(to)), kept = new Set(edges.map(({ id }) => id));
    const part = { ...model, nodes, edges, ids: new Map([...model.ids].filter(([, id]) => here.has(id))), symbols: new Map([...model.symbols].filter(([id]) => kept.has(id))) };
    parts.set(model, part);
    return part;
  }

  /** Set a class on those parts of a picture that have an id among these, and on no others. */
  function mark(canvas, name, ids) {
    for (const element of canvas.querySelectorAll(`.${name}`)) element.classList.remove(name);
    return [...ids].map((id) => Picture.partOf(canvas, id)).filter((element) => element && (element.classList.add(name), true));
  }

  /** Show in the NFA where it is; `at` is what Stream.positionAt has said. */
  function showNfa(canvas, played, at) {
    const { nfa } = played, read = at.frame.how === "remembered" || at.frame.how === "refused" ? { state: { positions: [], tags: [] }, moves: [] } : at.read;
    const active = members(nfa, read.state), moves = at.frame.how === "stopped" || at.frame.how === "cleared" ? [] : read.moves;
    const hit = mark(canvas, "hit", active.map((p) => `n${p}`));
    mark(canvas, "via", moves.map(([, q]) => q).filter((p) => !active.includes(p)).map((p) => `n${p}`));
    mark(canvas, "walked", moves.map(([p, q]) => `n${p}-n${q}`));
    focusable(canvas, hit);
    const text = active.length ? `active: {${few(active)}}` : "active: none";
    canvas.setAttribute("aria-label", `Picture of the NFA of ${counted(nfa.size, "position")}, ${after(at)}${text}`);
    return { text, hit };
  }
  const after = ({ word, told }) => (word ? `after word ${word} of ${told.words.length}, ${shown(told.words[word - 1])}: ` : "before the first word: ");
  function focusable(canvas, hit) {
    for (const node of canvas.querySelectorAll("[tabindex='0']")) node.setAttribute("tabindex", "-1");
    for (const node of hit) node.setAttribute("tabindex", "0");
  }

  /** Show in the DFA what the cache holds, what this step has built, and where the key is. */
  function showDfa(canvas, played, model, at, cache) {
    const { nfa } = played, numbers = new Map();
    cache.states.forEach((state, number) => numbers.set(state.name, number));
    for (const [name, id] of model.ids) {
      const node = Picture.partOf(canvas, id), number = numbers.get(name), text = number === undefined ? "–" : String(number);
      node.classList.toggle("absent", number === undefined);
      // Text that is set is laid out, though it be the same.
      if (node.dataset.number === text) continue;
      node.dataset.number = node.querySelector(".number").textContent = text;
      const state = cache.states[number];
      const title = number === undefined ? "a state that is not built" : `state ${number}, ${setOf(nfa, state)}${isDead(state) ? ", the dead state" : ""}`;
      node.querySelector("title").textContent = title;
      node.setAttribute("aria-label", title);
    }
    const built = (name, symbol) => numbers.has(name) && cache.edges.has(`${numbers.get(name)} ${symbol}`);
    for (const [id, { name, symbols }] of model.symbols) {
      Picture.partOf(canvas, id).classList.toggle("absent", !symbols.some((symbol) => built(name, symbol)));
      for (const symbol of symbols) Picture.partOf(canvas, `${id}-${symbol}`)?.classList.toggle("absent", !built(name, symbol));
    }
    const here = at.frame.state === null ? null : nameOf(at.frame), before = at.before?.state ?? null;
    for (const entry of canvas.querySelectorAll(".entry")) entry.classList.toggle("absent", !numbers.size);
    const hit = mark(canvas, "hit", here === null ? [] : [model.ids.get(here)].filter(Boolean));
    const taken = before === null || here === null || at.frame.how === "stopped" ? null : [...model.symbols].find(([id, { name, symbols }]) =>
      name === nameOf(at.before) && id.startsWith(`${model.ids.get(name)}-${model.ids.get(here)}`) && symbols.includes(at.read.symbol));
    mark(canvas, "walked", taken ? [taken[0]] : at.frame.how === "start" && hit.length ? [`entry-${hit[0].id}-${hit[0].id}`] : []);
    mark(canvas, "fresh", [...cache.fresh.states].map((number) => model.ids.get(cache.states[number]?.name)).filter(Boolean));
    focusable(canvas, hit);
    const text = here !== null ? `in state ${at.frame.state} = ${setOf(nfa, at.frame)}` :
      { simulated: "not used: the NFA is simulated", cleared: "empty: the cache was cleared", remembered: "not asked: the router remembered the answer", refused: "not asked" }[at.frame.how];
    canvas.setAttribute("aria-label", `Picture of the lazy DFA: ${counted(cache.states.filter(Boolean).length, "state")} in the cache, ${after(at)}${text}`);
    return { text, hit };
  }

  return { modelsOf, built, showNfa, showDfa, setOf, few };
})();
