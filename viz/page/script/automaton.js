// Patterns to NFA, one step of subset construction, and the trie's walk: compiler/automata/{nfa,powerset}.py and
// viz/{walk,trie_walk}.py in JavaScript. Tests hold the two to each other, number by number.
"use strict";

const Automaton = (() => {
  const OTHER = 0, { ONE, MANY } = Language;
  const ascending = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

  /** The NFA of patterns that are given as tokens; keys that begin with `reserved` start at a root of their own. */
  function buildNfa(patterns, reserved = "") {
    const symbolOf = new Map(), roots = reserved ? 2 : 1;
    const codes = patterns.map((tokens) => tokens.map((token) => {
      if (typeof token === "number") return token;
      if (!symbolOf.has(token)) symbolOf.set(token, symbolOf.size + 1);
      return symbolOf.get(token);
    }));
    const labels = new Array(roots).fill(OTHER), parents = new Array(roots).fill(-1);
    const at = patterns.map(([first]) => (reserved && typeof first === "string" && first.startsWith(reserved) ? 1 : 0));
    const longest = Math.max(0, ...codes.map((row) => row.length));
    for (let level = 0; level < longest; level++) {
      const rows = codes.map((_, row) => row).filter((row) => codes[row].length > level);
      const edges = new Map(rows.map((row) => [`${at[row]} ${codes[row][level]}`, [at[row], codes[row][level]]]));
      const order = [...edges.values()].sort(([p, a], [q, b]) => p - q || a - b);
      const numbers = new Map(order.map(([p, a], index) => [`${p} ${a}`, labels.length + index]));
      for (const [parent, label] of order) { labels.push(label); parents.push(parent); }
      for (const row of rows) at[row] = numbers.get(`${at[row]} ${codes[row][level]}`);
    }
    const children = labels.map(() => []), tags = labels.map(() => []);
    parents.forEach((parent, p) => { if (parent >= 0) children[parent].push(p); });
    at.forEach((p, tag) => tags[p].push(tag));
    const words = [...symbolOf.keys()];
    return {
      labels, parents, children, tags, words, symbolOf, roots, size: labels.length, ends: at,
      rootOf: (key) => (reserved && key.startsWith(reserved) ? 1 : 0),
      loops: (p) => p >= roots && labels[p] === MANY,
      live: (p) => (p >= roots && labels[p] === MANY) || children[p].some((child) => labels[child] !== MANY),
    };
  }

  const free = (nfa, p) => nfa.children[p].filter((child) => nfa.labels[child] === MANY);

  /** The state of some positions: add those that epsilon moves reach, take the accept tags of all, and keep the live ones. */
  function closure(nfa, positions) {
    const reached = new Set(positions);
    for (const p of positions) for (const child of free(nfa, p)) reached.add(child);
    return { positions: ascending([...reached].filter(nfa.live)), tags: ascending([...reached].flatMap((p) => nfa.tags[p])) };
  }
  const start = (nfa, root = 0) => closure(nfa, [root]);

  /** The symbols on which a state has a successor of its own. */
  const literals = (nfa, state) =>
    ascending(state.positions.flatMap((p) => nfa.children[p].map((child) => nfa.labels[child]).filter((label) => label > 0)));

  /** The NFA's moves on a symbol, epsilon moves included, as pairs of positions. */
  function moves(nfa, state, symbol) {
    const found = [];
    for (const p of state.positions) {
      if (nfa.loops(p)) found.push([p, p]);
      for (const child of nfa.children[p])
        if (nfa.labels[child] === ONE || (symbol !== OTHER && nfa.labels[child] === symbol)) found.push([p, child]);
    }
    return [...found, ...found.flatMap(([, target]) => free(nfa, target).map((child) => [target, child]))];
  }
  const successor = (nfa, state, symbol) =>
    closure(nfa, moves(nfa, state, symbol).filter(([p, q]) => p === q || nfa.labels[q] !== MANY).map(([, q]) => q));

  const nameOf = (state) => `${state.positions.join(",")}|${state.tags.join(",")}`;
  const isDead = (state) => !state.positions.length && !state.tags.length;

  /** Whether no further word can change the state: it is dead, or only matched # are left. */
  const isFinal = (nfa, state) => literals(nfa, state).length === 0 && nameOf(successor(nfa, state, OTHER)) === nameOf(state);

  /** The positions to show of a state: those that can still move, and those where a pattern ends. */
  const members = (nfa, state) => ascending([...state.positions, ...state.tags.map((tag) => nfa.ends[tag])]);

  /** Read a key: the state at the beginning and after each word, and the NFA's moves to it. */
  function steps(nfa, words, root) {
    let state = start(nfa, root);
    const read = [{ word: null, symbol: OTHER, state, moves: free(nfa, root).map((child) => [root, child]), final: isFinal(nfa, state) }];
    for (const word of words) {
      let symbol = nfa.symbolOf.get(word) ?? OTHER;
      if (!literals(nfa, state).includes(symbol)) symbol = OTHER;
      const taken = moves(nfa, state, symbol);
      state = successor(nfa, state, symbol);
      read.push({ word, symbol, state, moves: taken, final: isFinal(nfa, state) });
    }
    return read;
  }

  /** For each binding that does not match the first step at which it cannot match any more; read.length if the key ended too soon. */
  function failures(nfa, read) {
    const active = read.map(({ moves: taken, state }) => new Set([...members(nfa, state), ...taken.map(([, q]) => q)]));
    const accepted = new Set(read.at(-1).state.tags), failed = new Map();
    nfa.ends.forEach((end, tag) => {
      if (accepted.has(tag)) return;
      const path = [];
      for (let p = end; p !== -1; p = nfa.parents[p]) path.push(p);
      const gone = active.findIndex((positions) => !path.some((p) => positions.has(p)));
      failed.set(tag, gone === -1 ? read.length : gone);
    });
    return failed;
  }

  /** The complete DFA's states, breadth first behind those that are given, or null if there are more than `limit`. */
  function complete(nfa, first, limit) {
    const found = new Map(first.map((state) => [nameOf(state), state]));
    const agenda = [...found.values()];
    for (let root = 0; root < nfa.roots; root++) add(start(nfa, root));
    function add(state) {
      const name = nameOf(state);
      if (!found.has(name)) { found.set(name, state); agenda.push(state); }
    }
    for (const state of agenda) {
      if (found.size > limit) return null;
      for (const symbol of [OTHER, ...literals(nfa, state)]) add(successor(nfa, state, symbol));
    }
    return found.size > limit ? null : [...found.values()];
  }

  /** The trie's walk with backtracking, counted: at each node the literal child, then *, then # with every tail of the key. */
  function trieWalk(nfa, words, root = 0, limit = 100000) {
    let visits = 0, leaves = 0;
    const reads = new Array(words.length).fill(0), found = new Set();
    const rank = (p) => (nfa.labels[p] === MANY ? 0 : nfa.labels[p] === ONE ? 1 : 2);
    const stack = [[root, 0]];
    while (stack.length && visits < limit) {
      const [node, read] = stack.pop(), here = [];
      visits++;
      const symbol = read < words.length ? nfa.symbolOf.get(words[read]) ?? OTHER : OTHER;
      if (read < words.length) reads[read]++;
      else for (const tag of nfa.tags[node]) found.add(tag);
      for (const child of nfa.children[node]) {
        const label = nfa.labels[child];
        if (label === MANY) for (let tail = words.length; tail >= read; tail--) here.push([child, tail]);
        else if (read < words.length && (label === ONE || (symbol !== OTHER && label === symbol))) here.push([child, read + 1]);
      }
      if (!here.length) leaves++;
      stack.push(...here.sort(([a], [b]) => rank(a) - rank(b)));
    }
    return { visits, backtracks: Math.max(0, leaves - 1), reads, tags: ascending(found), complete: !stack.length };
  }

  return { OTHER, ONE, MANY, buildNfa, start, successor, literals, isFinal, isDead, members, nameOf, steps, failures, complete, trieWalk };
})();
