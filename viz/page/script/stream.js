// What is stepped through: a stream of keys for a set of patterns, as the machine tells it, and the cache as it is at each step.
"use strict";

const Stream = (() => {
  const MOST_PATTERNS = 64, MOST_KEYS = 1000, MOST_STEPS = 20000;

  /** Say what is wrong with the settings, and what to change, or "". */
  function problem({ patterns, keys, dialect }) {
    if (patterns.length > MOST_PATTERNS) return `${patterns.length} patterns are more than this page can show: leave at most ${MOST_PATTERNS}.`;
    if (keys.length > MOST_KEYS) return `${keys.length} keys are more than this page can play: leave at most ${MOST_KEYS}.`;
    for (const [index, pattern] of patterns.entries()) {
      const why = Language.patternProblem(pattern, dialect);
      if (why) return `Pattern ${index + 1}, ${Text.shown(pattern, 40)}: ${why}.`;
    }
    for (const [index, key] of keys.entries()) {
      if (!key.isWellFormed()) return `Key ${index + 1} has a lone surrogate, which has no UTF-8 form: remove it.`;
      const most = dialect.max_bytes ?? 65535, size = new TextEncoder().encode(key).length;
      if (size > most) return `Key ${index + 1} has ${size} bytes, and ${dialect.name} carries at most ${most}: shorten it.`;
    }
    return "";
  }

  /** Play the keys; `steps` has for each frame what it belongs to. */
  function play(settings) {
    const machine = new Machine(settings.patterns, settings.dialect, settings.capacity), { nfa } = machine;
    const steps = [], keys = [];
    let left = MOST_STEPS;
    for (const key of settings.keys.length ? settings.keys : [""]) {
      const trace = machine.match(key);
      const words = Language.wordsOf(key, settings.dialect);
      const read = Automaton.steps(nfa, words, nfa.rootOf(key));
      const one = { ...trace, words, read, failed: Automaton.failures(nfa, read), first: steps.length };
      // A key that does not reach the machine is one step.
      const frames = trace.frames.length ? trace.frames : [{ word: words.length, how: trace.route, state: null, positions: [], tags: trace.tags, built: [], grown: [] }];
      for (const frame of frames) steps.push({ key: keys.length, frame });
      keys.push({ ...one, last: steps.length - 1 });
      left -= frames.length;
      if (left < 0) break;
    }
    return { settings, nfa, steps, keys, machine, cut: left < 0 };
  }

  /** The cache after a step: states by number, transitions by "state symbol", and what this step has added. */
  function cacheAt(played, at) {
    let states = [], edges = new Map(), fresh = { states: new Set(), edges: new Set() }, clears = 0;
    for (const { frame } of played.steps.slice(0, at + 1)) {
      fresh = { states: new Set(), edges: new Set() };
      if (frame.how === "cleared") { states = []; edges = new Map(); clears++; }
      for (const [kind, from, ...rest] of frame.built) {
        if (kind === "state") { states[from] = stateOf(played, frame, from); fresh.states.add(from); continue; }
        const [symbol, target] = kind === "default" ? [Automaton.OTHER, rest[0]] : rest;
        edges.set(`${from} ${symbol}`, { from, symbol, target, kind });
        fresh.edges.add(`${from} ${symbol}`);
      }
    }
    return { states, edges, fresh, clears };
  }
  const stateOf = (played, frame, number) => Machine.made.get(frame).get(number);

  /** How a step's key stands at this step: the words read, the set of positions, and where it was before. */
  function positionAt(played, at) {
    const { key, frame } = played.steps[at], told = played.keys[key];
    const before = at > told.first ? played.steps[at - 1].frame : null;
    const word = frame.how === "cleared" ? 0 : Math.min(frame.word, told.words.length);
    return { told, frame, before, word, read: told.read[word], atEnd: at === told.last };
  }

  return { problem, play, cacheAt, positionAt };
})();
