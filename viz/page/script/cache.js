// The cache of the lazy DFA, byte for byte: what compiler/machine/cache.py and the kernels that build keep in flat tables.
// Sizes are counted as those of the engine's arrays, and the transition table is placed and filtered as theirs, so that it is
// full at the same transition. Numbers of 64 bits are BigInts; they are needed only where a literal is looked up.
"use strict";

const CacheTables = (() => {
  const { OTHER, MANY } = Automaton;
  const BITS = (1n << 64n) - 1n, SCRAMBLE = 0x9e3779b97f4a7c15n, PROBES = 16, SPARSE = 32, META = 22, MOST_STATES = 2 ** 27 - 1;
  const HALF_EIGHTHS = 4, FULL_EIGHTHS = 5;
  const DONE = null;
  const bitLength = (number) => 32 - Math.clz32(number);

  /** The two bits that stand for a symbol in filters, and the number that chooses a word of a wide filter. */
  function marksOf(symbol) {
    const hashed = (BigInt(symbol) * SCRAMBLE) & BITS, last = 62n;
    const first = hashed >> 58n, second = (hashed >> 52n) & 63n;
    return { bits: (1n << (first < last ? first : last)) | (1n << (second < last ? second : last)), place: hashed >> 20n };
  }

  /** What is asked of an NFA while states are built: the filter of each position's literals, and the marks of symbols. */
  function program(nfa) {
    const marks = [null, ...nfa.words.map((_, index) => marksOf(index + 1))];
    const filters = nfa.children.map((children) => children.reduce((bits, child) => (nfa.labels[child] > 0 ? bits | marks[nfa.labels[child]].bits : bits), 0n));
    return { nfa, marks, filters };
  }

  class CacheTables {
    constructor(source, capacity) {
      this.program = source;
      this.capacity = capacity;
      this.stateLimit = Math.min(MOST_STATES, Math.max(8, Math.floor(capacity / 36)));
      this.symbolBits = Math.max(1, bitLength(source.nfa.words.length));
      const keyBits = this.symbolBits + bitLength(this.stateLimit);
      this.keyShift = 64 - keyBits;
      this.slotBits = Math.max(5, keyBits - 32);
      this.room = { states: 8, stateSlots: 16, members: 32, sets: 8, setSlots: 16, tags: 16, filters: 1 };
      this.counts = { words: 0, misses: 0, builds: 0 };
      this.clear();
    }

    /** Empty it; the arrays keep their sizes, and what was counted stays. */
    clear() {
      this.states = [];
      this.numbers = new Map();
      this.sets = new Map();
      this.members = this.tags = this.transitions = this.defaults = this.strays = 0;
      this.filterCount = 1;
      this.filtersFull = this.transitionsFull = false;
      this.start = [];
      this.slots = new Array(2 ** this.slotBits + PROBES - 1).fill(null);
      this.filters = [0n];
    }

    get nbytes() {
      const { states, stateSlots, members, sets, setSlots, tags, filters } = this.room;
      return 8 * (META + stateSlots + setSlots + filters + this.slots.length) + 20 * states + 4 * (members + sets + tags);
    }

    // --- transitions --------------------------------------------------------------------------------------------------

    /** The scrambled number of (state, symbol), whose top bits are its home slot. */
    #mix(state, symbol) {
      const shift = BigInt(this.keyShift), key = (BigInt(state + 1) << BigInt(this.symbolBits)) | BigInt(symbol);
      return (((key ^ (key >> ((65n - shift) >> 1n))) << shift) * SCRAMBLE) & BITS;
    }
    #place(slots, bits, entry) {
      const home = Number(entry.mixed >> BigInt(64 - bits));
      for (let at = home; at < home + PROBES; at++) {
        if (slots[at] !== null && slots[at].mixed !== entry.mixed) continue;
        if (slots[at] === null) this.transitions++;
        slots[at] = entry;
        return true;
      }
      return false;
    }
    #supplant(slots, bits, entry) {
      slots[Number(entry.mixed >> BigInt(64 - bits)) + PROBES - 1] = entry;
      return true;
    }
    /** Move all transitions to a table of 2^bits slots; false if a place there is crowded and the table not sparse. */
    rehash(bits) {
      const slots = new Array(2 ** bits + PROBES - 1).fill(null), sparse = SPARSE * (this.transitions + 1) < slots.length;
      this.transitions = 0;
      for (const entry of this.slots) {
        if (entry === null || this.#place(slots, bits, entry)) continue;
        if (!sparse) return false;
        this.#supplant(slots, bits, entry);
      }
      this.slots = slots;
      this.slotBits = bits;
      return true;
    }
    find(state, symbol) {
      const mixed = this.#mix(state, symbol), home = Number(mixed >> BigInt(64 - this.slotBits));
      for (let at = home; at < home + PROBES && this.slots[at] !== null; at++) if (this.slots[at].mixed === mixed) return this.slots[at];
      return null;
    }
    #enter(state, symbol, target) {
      const full = this.transitionsFull, most = full ? FULL_EIGHTHS : HALF_EIGHTHS;
      if (8 * (this.transitions + 1) > most * (this.slots.length - PROBES + 1)) return "transitions";
      const entry = { mixed: this.#mix(state, symbol), state, symbol, target };
      if (this.#place(this.slots, this.slotBits, entry)) return DONE;
      if (!full && SPARSE * (this.transitions + 1) >= this.slots.length) return "transitions";
      this.#supplant(this.slots, this.slotBits, entry);
      return DONE;
    }
    /** Whether a word passes the state's filter: a literal always does, and a stray may. */
    passes(state, symbol) {
      if (symbol === OTHER) return false;
      const { bits, place } = this.program.marks[symbol], { filter, wide } = this.states[state];
      const seen = wide ? this.filters[wide.begin + Number(place & BigInt(wide.size - 1))] : filter;
      return (seen & bits) === bits;
    }

    // --- building: what is missing is built; a name of a table is returned that must grow first ---------------------------

    /** The number of a state, which is added if it is new; `built` is told. */
    intern(state, built) {
      const set = state.tags.join(",");
      if (!this.sets.has(set)) {
        if (this.sets.size + 1 >= this.room.sets) return { full: "sets" };
        if (this.tags + state.tags.length > this.room.tags) return this.#want("tags", this.tags + state.tags.length);
        this.sets.set(set, this.sets.size);
        this.tags += state.tags.length;
      }
      const name = Automaton.nameOf(state);
      if (this.numbers.has(name)) return { number: this.numbers.get(name) };
      const count = this.states.length + 1;
      if (count >= this.room.states || count > this.stateLimit) return { full: "states" };
      if (this.members + state.positions.length > this.room.members) return this.#want("members", this.members + state.positions.length);
      this.members += state.positions.length;
      const { nfa, filters } = this.program, number = this.states.length, final = Automaton.isFinal(nfa, state);
      const filter = state.positions.reduce((bits, p) => bits | filters[p], 0n);
      this.states.push({ ...state, name, final, filter, wide: null, literals: Automaton.literals(nfa, state), default: final ? number : null });
      this.numbers.set(name, number);
      built.push(["state", number]);
      return { number };
    }
    #want(table, wanted) {
      this.wanted = wanted;
      return { full: table };
    }

    /** Build the start state of each root, the last one first. */
    buildStart(built) {
      for (let root = this.program.nfa.roots - 1; root >= 0; root--) {
        const { number, full } = this.intern(Automaton.start(this.program.nfa, root), built);
        if (full) return full;
        this.start[root] = number;
      }
      return DONE;
    }

    /** Build what is missing for a word in a state: its default successor, its literal successor, or both. */
    build(from, symbol, built) {
      const { nfa } = this.program, state = this.states[from];
      if (state.default === null) {
        const { number, full } = this.intern(Automaton.successor(nfa, state, OTHER), built);
        if (full) return { full };
        state.default = number;
        this.defaults++;
        this.counts.builds++;
        built.push(["default", from, number]);
      }
      if (!this.passes(from, symbol) || !state.literals.includes(symbol)) return { target: state.default };
      const { number, full } = this.intern(Automaton.successor(nfa, state, symbol), built);
      if (full) return { full };
      const crowded = this.#enter(from, symbol, number);
      if (crowded) return { full: crowded };
      this.counts.builds++;
      built.push(["literal", from, symbol, number]);
      return { target: number };
    }

    /** Keep a stray as a transition to the default successor, or give its state a wide filter if it has met many of them. */
    keepStray(from, symbol, built) {
      const state = this.states[from];
      if (state.wide || this.filtersFull) return DONE;
      const children = state.positions.reduce((sum, p) => sum + this.program.nfa.children[p].length, 0);
      const chance = ((BigInt(this.strays + 1) * SCRAMBLE) & BITS) >> 32n;
      let full = DONE;
      if (chance * BigInt(children) < 1n << 32n) full = this.#widen(state, children);
      else {
        full = this.#enter(from, symbol, state.default);
        if (!full) built.push(["stray", from, symbol, state.default]);
      }
      if (!full) this.strays++;
      return full;
    }
    #widen(state, children) {
      let size = 2;
      while (64 * size < 16 * children) size *= 2;
      const begin = this.filterCount;
      if (begin + size > this.room.filters) return this.#want("filters", begin + size).full;
      for (let at = begin; at < begin + size; at++) this.filters[at] = 0n;
      for (const symbol of state.literals) {
        const { bits, place } = this.program.marks[symbol];
        this.filters[begin + Number(place & BigInt(size - 1))] |= bits;
      }
      state.wide = { begin, size };
      this.filterCount = begin + size;
      return DONE;
    }

    /** What is known, as values that do not change with it: states by number, and transitions as [state, symbol, target]. */
    snapshot() {
      return {
        states: this.states.map(({ positions, tags }) => ({ positions, tags })),
        edges: [
          ...this.states.flatMap((state, number) => (state.default === null || state.final ? [] : [[number, OTHER, state.default]])),
          ...this.slots.filter((entry) => entry !== null).map(({ state, symbol, target }) => [state, symbol, target]),
        ],
      };
    }
  }
  CacheTables.program = program;
  CacheTables.bitLength = bitLength;
  return CacheTables;
})();
