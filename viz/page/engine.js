// The matcher of the page: one step of subset construction, the trie's walk, and words made visible.
// It repeats in JavaScript what the engine computes; tests compare the states of the two, one by one.
"use strict";

const Engine = (() => {
  const OTHER = 0, ONE = -1, MANY = -2, ROOT = 0;

  /** The words of a key: none for the empty key, otherwise the texts between the dots. */
  const wordsOf = (key) => (key === "" ? [] : key.split("."));

  /** Make an NFA of its arrays: labels, children, tagOffsets, tags, words. */
  function readNfa(data) {
    const symbolOf = new Map(data.words.map((word, index) => [word, index + 1]));
    const parents = new Array(data.labels.length).fill(-1);
    const ends = new Map();
    const nfa = {
      ...data, symbolOf, parents, ends,
      size: data.labels.length,
      tagsOf: (p) => data.tags.slice(data.tagOffsets[p], data.tagOffsets[p + 1]),
      successors: function* (p) {
        for (let child = data.children[p]; child < data.children[p + 1]; child++) yield child;
      },
      label: (p) => data.labels[p],
      loops: (p) => p !== ROOT && data.labels[p] === MANY,
    };
    nfa.live = (p) => nfa.loops(p) || [...nfa.successors(p)].some((child) => nfa.label(child) !== MANY);
    for (let p = 0; p < nfa.size; p++) {
      for (const child of nfa.successors(p)) parents[child] = p;
      for (const tag of nfa.tagsOf(p)) ends.set(tag, p);
    }
    return nfa;
  }

  const ascending = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);
  const free = (nfa, p) => [...nfa.successors(p)].filter((child) => nfa.label(child) === MANY);

  /** The state of some positions: add those that epsilon moves reach, take the accept tags of all, and keep the live ones. */
  function closure(nfa, positions) {
    const reached = new Set(positions);
    for (const p of positions) for (const child of free(nfa, p)) reached.add(child);
    return {
      positions: ascending([...reached].filter(nfa.live)),
      tags: ascending([...reached].flatMap(nfa.tagsOf)),
    };
  }

  const start = (nfa) => closure(nfa, [ROOT]);

  /** The symbols on which a state has a successor of its own. */
  const literals = (nfa, state) =>
    ascending(state.positions.flatMap((p) => [...nfa.successors(p)].map(nfa.label).filter((label) => label > 0)));

  /** The NFA's moves on a symbol, epsilon moves included, as pairs of positions. */
  function moves(nfa, state, symbol) {
    const found = [];
    for (const p of state.positions) {
      if (nfa.loops(p)) found.push([p, p]);
      for (const child of nfa.successors(p)) {
        const label = nfa.label(child);
        if (label === ONE || (symbol !== OTHER && label === symbol)) found.push([p, child]);
      }
    }
    return [...found, ...found.flatMap(([, target]) => free(nfa, target).map((child) => [target, child]))];
  }

  const successor = (nfa, state, symbol) =>
    closure(nfa, moves(nfa, state, symbol).filter(([p, q]) => p === q || nfa.label(q) !== MANY).map(([, q]) => q));

  const nameOf = (state) => `${state.positions.join(",")}|${state.tags.join(",")}`;

  /** Whether no further word can change the state: it is dead, or only matched # are left. */
  const isFinal = (nfa, state) =>
    literals(nfa, state).length === 0 && nameOf(successor(nfa, state, OTHER)) === nameOf(state);

  /** The positions to show of a state: those that can still move, and those where a pattern ends. */
  const members = (nfa, state) => ascending([...state.positions, ...state.tags.map((tag) => nfa.ends.get(tag))]);

  /** Read a key and build the states and transitions that the cache lacks: a frame for the beginning and one for each word. */
  function run(nfa, key, base) {
    const cache = { states: new Map(base.states), transitions: new Map(base.transitions) };
    const keep = (state) => {
      const name = nameOf(state);
      const known = cache.states.has(name);
      if (!known) cache.states.set(name, state);
      return { name, known };
    };
    let state = start(nfa);
    const first = keep(state);
    const frames = [{
      word: null, symbol: OTHER, state, name: first.name, newState: !first.known, how: "start",
      moves: free(nfa, ROOT).map((child) => [ROOT, child]), states: cache.states.size,
    }];
    for (const word of wordsOf(key)) {
      const before = nameOf(state);
      const stopped = isFinal(nfa, state);
      let symbol = nfa.symbolOf.get(word) ?? OTHER;
      if (!literals(nfa, state).includes(symbol)) symbol = OTHER;
      const taken = moves(nfa, state, symbol);
      state = successor(nfa, state, symbol);
      const transition = `${before} ${symbol}`;
      const cached = cache.transitions.has(transition);
      const { name, known } = stopped ? { name: before, known: true } : keep(state);
      if (!stopped && !cached) cache.transitions.set(transition, name);
      frames.push({
        word, symbol, state, name, before, transition, newState: !known,
        how: stopped ? "final" : cached ? "cached" : "built", moves: taken, states: cache.states.size,
      });
    }
    return { frames, cache };
  }

  const pathOf = (nfa, tag) => {
    const path = [];
    for (let p = nfa.ends.get(tag); p !== -1; p = nfa.parents[p]) path.push(p);
    return path.reverse();
  };

  /** For each binding that does not match the first frame at which it cannot match any more; frames.length if the key ended too soon. */
  function failures(nfa, frames) {
    const active = frames.map(({ moves: taken, state }) => new Set([...state.positions, ...taken.map(([, q]) => q)]));
    const accepted = new Set(frames.at(-1).state.tags);
    const failed = new Map();
    for (const tag of nfa.ends.keys()) {
      if (accepted.has(tag)) continue;
      const path = pathOf(nfa, tag);
      const gone = active.findIndex((positions) => !path.some((p) => positions.has(p)));
      failed.set(tag, gone === -1 ? frames.length : gone);
    }
    return failed;
  }

  /** The trie's walk with backtracking, counted: at each node the literal child, then *, then # with every tail of the key. */
  function trieWalk(nfa, words, limit = 100000) {
    let visits = 0, leaves = 0;
    const reads = new Array(words.length).fill(0);
    const found = new Set();
    const rank = (p) => (nfa.label(p) === MANY ? 0 : nfa.label(p) === ONE ? 1 : 2);
    const stack = [[ROOT, 0]];
    while (stack.length && visits < limit) {
      const [node, read] = stack.pop();
      visits++;
      const here = [];
      const symbol = read < words.length ? nfa.symbolOf.get(words[read]) ?? OTHER : OTHER;
      if (read < words.length) reads[read]++;
      else for (const tag of nfa.tagsOf(node)) found.add(tag);
      for (const child of nfa.successors(node)) {
        const label = nfa.label(child);
        if (label === MANY) for (let tail = words.length; tail >= read; tail--) here.push([child, tail]);
        else if (read < words.length && (label === ONE || (symbol !== OTHER && label === symbol))) here.push([child, read + 1]);
      }
      if (!here.length) leaves++;
      stack.push(...here.sort(([a], [b]) => rank(a) - rank(b)));
    }
    return { visits, backtracks: Math.max(0, leaves - 1), reads, tags: ascending(found), complete: !stack.length };
  }

  /** The text with a visible sign for each invisible character. */
  function visible(text) {
    let before = "";
    return [...text].map((character) => {
      const code = character.codePointAt(0);
      const joined = character === "\u200d" && /^[\p{So}\p{Sk}\p{Mn}]$/u.test(before);
      before = character;
      if (code < 0x20) return String.fromCodePoint(0x2400 + code);
      if (code === 0x7f) return "␡";
      if (joined || character === " ") return character;
      if (/^[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}]$/u.test(character))
        return `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›`;
      return character;
    }).join("");
  }

  /** A word as a label: quoted where it could be mistaken for another label, elided in the middle. */
  function shown(word, limit = 24) {
    let text = [...visible(word)];
    if (text.length > limit) {
      const head = Math.floor(limit / 2);
      text = [...text.slice(0, head), "…", ...text.slice(text.length - (limit - head - 1))];
    }
    text = text.join("");
    const reserved = ["", "*", "#", "ε", "other", "any word"].includes(word);
    if (reserved || /^ | $/.test(word) || /[",]/.test(word)) return `"${text.replace(/[\\"]/g, "\\$&")}"`;
    return text;
  }

  return { OTHER, wordsOf, readNfa, start, successor, literals, isFinal, members, nameOf, run, failures, trieWalk, visible, shown };
})();
