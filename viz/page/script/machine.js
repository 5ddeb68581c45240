// The lazy DFA as `Router.match` drives it, a key at a time: compiler/machine/{small_batches,walker,bounded_cache,pace,key_cache}.py in JavaScript, and the
// answers that a router remembers. It records for each key the same frames as compiler/machine/trace.py, and tests hold the two
// to each other frame by frame and counter by counter. What blocks of keys, threads and automata of over 4 MB add is not here.
"use strict";

const Machine = (() => {
  const { OTHER } = Automaton;
  const UNPAID_CLEARS = 3, WORDS_PER_STATE = 10;
  const REMEMBERED = 1024, REMEMBERED_CHARACTERS = 255, REMEMBERED_NAMES = 1 << 14;

  /** The machine words of the bit-parallel simulation, or null where the set is too large for it. */
  function lanesOf(nfa) {
    const firsts = new Map();
    nfa.ends.forEach((end, tag) => { if (!firsts.has(end)) firsts.set(end, tag); });
    let lanes = 0, room = 0;
    for (const end of [...firsts.keys()].sort((a, b) => firsts.get(a) - firsts.get(b))) {
      let length = 0;
      for (let p = end; p !== -1; p = nfa.parents[p]) length++;
      if (length > 64) return null;
      if (length > room) { lanes++; room = 64; }
      room -= length;
    }
    lanes = 8 * Math.ceil(lanes / 8);
    return lanes > 64 || 8 * lanes * (nfa.words.length + 1) > 1 << 20 ? null : lanes;
  }

  /** When to walk and when to simulate: what the two have cost, by counting. */
  class Pace {
    constructor(lanes) {
      Object.assign(this, { lanes, stretch: 16, pause: 0, lesson: lanes === null ? 1 << 17 : 1024, patience: 4 });
      this.#begin();
    }
    #begin() { Object.assign(this, { builds: 0, words: 0, early: [0, 0], spent: 0 }); }
    compare(keys, words, builds, members) {
      const small = this.lanes !== null, walked = 9 * words + (600 + 25 * members) * builds;
      const word = small ? 9 + 0.3 * this.lanes : 18 + 7 * members, lead = small ? 1 : 14;
      const simulated = 70 * keys + word * words;
      if (walked <= lead * simulated) {
        this.stretch = Math.min(2 * this.stretch, 1 << 18);
        return this.#begin();
      }
      this.builds += builds;
      this.words += words;
      this.spent += walked;
      if (small) this.stretch = Math.max(16, Math.min(2 * this.stretch, 1 << 18, Math.floor((keys * this.lesson) / (8 * Math.max(builds, 1)))));
      if (2 * this.builds <= this.lesson) this.early = [this.builds, this.words];
      else if (this.builds >= this.lesson) {
        this.lesson *= small ? 2 : 4;
        const [early, read] = this.early;
        const learns = (this.words - read) * early >= 1.15 * read * (this.builds - early) && 1.15 * read * (this.builds - early) > 0;
        const worth = small && simulated > 2 * 9 * words;
        if (worth && learns) { this.early = [this.builds, this.words]; return undefined; }
        const patience = small && !worth ? 2 * this.patience : this.patience;
        this.pause = Math.trunc(((patience * this.spent) / simulated) * keys);
        this.patience = small ? Math.min(2 * this.patience, 16) : 4;
        this.stretch = 16;
        this.#begin();
      }
      return undefined;
    }
  }

  class Machine {
    constructor(patterns, dialect, capacity) {
      this.dialect = dialect;
      this.patterns = patterns;
      this.capacity = capacity;
      this.nfa = Automaton.buildNfa(patterns.map((pattern) => Language.tokens(pattern, dialect)), dialect.reserved ?? "");
      this.pace = new Pace(lanesOf(this.nfa));
      this.keys = this.clears = this.fallbacks = this.wordsAtClear = this.unjudged = 0;
      this.keyTable = 0;
      const tables = new CacheTables(CacheTables.program(this.nfa), capacity);
      this.cache = tables.nbytes <= capacity ? tables : null;
      this.remembered = new Map();
      this.namesLeft = REMEMBERED_NAMES;
    }

    get stats() {
      const { keys, clears, fallbacks, capacity, cache } = this;
      const none = { states: 0, transitions: 0, accept_sets: 0, bytes: 0, capacity, keys, words: 0, hits: 0, misses: 0, clears, closed: 0, fallbacks, key_cache_hits: 0, sealed_keys: 0, sealed_states: 0 };
      if (!cache) return none;
      const { words, misses } = cache.counts;
      return {
        ...none, words, misses, hits: words - misses, states: cache.states.length, transitions: cache.transitions + cache.defaults,
        accept_sets: cache.sets.size, bytes: cache.nbytes + this.keyTable,
      };
    }

    /** Match a key as a router does, and return its trace. */
    match(key) {
      const known = this.remembered.get(key);
      if (known) return { key, route: "remembered", tags: known, frames: [], stats: this.stats };
      const refused = Language.refusal(key, this.dialect);
      const frames = refused ? [] : this.#read(key);
      const tags = frames.at(-1)?.tags ?? [];
      const names = new Set(tags.map((tag) => this.patterns[tag])).size;
      if ([...key].length <= REMEMBERED_CHARACTERS && names <= REMEMBERED_NAMES) {
        if (this.namesLeft < names || this.remembered.size >= REMEMBERED) { this.remembered.clear(); this.namesLeft = REMEMBERED_NAMES; }
        this.remembered.set(key, tags);
        this.namesLeft -= names;
      }
      return { key, route: refused ? "refused" : "read", tags, frames, stats: this.stats };
    }

    #read(key) {
      const words = Language.wordsOf(key, this.dialect), root = this.nfa.rootOf(key);
      this.keys++;
      const told = new Told(words);
      if (!this.cache) this.#simulate(told, root);
      else if (!this.#follow(told, root)) this.#build(told, root);
      return told.frames;
    }

    /** Walk on known ground alone; false, and nothing is told, if a transition is missing. */
    #follow(told, root) {
      const { cache } = this;
      let state = cache.start[root], read = 0;
      if (state === undefined) return false;
      const path = [[0, "start", state]];
      for (const [index, word] of told.words.entries()) {
        const here = cache.states[state];
        if (here.final) { path.push([index + 1, "stopped", state]); continue; }
        if (here.default === null) return false;
        const symbol = this.nfa.symbolOf.get(word) ?? OTHER;
        const entry = cache.passes(state, symbol) ? cache.find(state, symbol) : null;
        if (!entry && cache.passes(state, symbol) && here.literals.includes(symbol)) return false;
        state = entry ? entry.target : here.default;
        read++;
        path.push([index + 1, "cached", state]);
      }
      cache.counts.words += read;
      for (const step of path) told.tell(...step, cache);
      return true;
    }

    /** Walk and build as a small batch does; where a table is full and cannot grow, go on as any batch. */
    #build(told, root) {
      if (this.pace.pause) return this.#pause(told, root);
      const { cache } = this, counts = { keys: this.keys - 1, ...cache.counts };
      let full = this.#walk(told, root);
      while (full && this.#grow(full)) {
        told.grown.push(full);
        full = this.#walk(told, root);
      }
      if (!this.unjudged) [this.unjudged, this.begun] = [this.pace.stretch, counts];
      if (--this.unjudged === 0 && (cache.counts.builds > this.begun.builds || this.pace.builds)) this.#compare(this.begun);
      return full ? this.#run(told, root) : undefined;
    }

    #pause(told, root) {
      this.pace.pause--;
      this.unjudged = 0;
      this.#simulate(told, root);
    }

    /** What walking has cost since so much had been counted. */
    #compare({ keys, words, builds }) {
      const { cache } = this;
      this.pace.compare(this.keys - keys, cache.counts.words - words, cache.counts.builds - builds, cache.members / (cache.states.length + 1));
    }

    /** Walk and build: again from the beginning whenever a table had to grow, and from nothing where it could not. */
    #run(told, root) {
      const { cache } = this, counts = { keys: this.keys - 1, ...cache.counts };
      let unpaid = 0, block = 128, fullAt = -1;
      while (true) {
        if (unpaid >= UNPAID_CLEARS) return this.#simulate(told, root);
        if (this.pace.pause) return this.#pause(told, root);
        this.#wantKeyTable();
        const full = this.#walk(told, root);
        if (!full) break;
        if (this.#grow(full)) { told.grown.push(full); continue; }
        const paid = cache.counts.words - this.wordsAtClear >= WORDS_PER_STATE * cache.states.length;
        unpaid = paid ? 0 : unpaid + 1;
        cache.clear();
        told.clear();
        this.wordsAtClear = cache.counts.words;
        this.clears++;
        if (fullAt === 0 && block === 1) return this.#simulate(told, root);
        if (fullAt === 0) block = 1;
        fullAt = 0;
      }
      return this.#compare(counts);
    }

    /** One pass of the kernel; returns the table that must grow before the key can be read. */
    #walk(told, root) {
      const { cache } = this;
      if (cache.start[0] === undefined) {
        const full = cache.buildStart(told.built);
        if (full) return full;
      }
      let state = cache.start[root], read = 0, missed = 0;
      told.tell(0, "start", state, cache);
      for (const [index, word] of told.words.entries()) {
        const here = cache.states[state];
        if (here.final) { told.tell(index + 1, "stopped", state, cache); continue; }
        read++;
        const symbol = this.nfa.symbolOf.get(word) ?? OTHER, before = told.built.length;
        const passed = here.default !== null && cache.passes(state, symbol);
        const entry = passed ? cache.find(state, symbol) : null;
        let how = "cached", target = entry ? entry.target : here.default;
        if (here.default === null || (passed && !entry && here.literals.includes(symbol))) {
          missed++;
          const built = cache.build(state, symbol, told.built);
          if (built.full) return built.full;
          ({ target } = built);
          how = "built";
        } else if (passed && !entry) {
          const full = cache.keepStray(state, symbol, told.built);
          if (full) return full;
          if (told.built.length > before) how = "stray";
        }
        state = target;
        told.tell(index + 1, how, state, cache);
      }
      cache.counts.words += read;
      cache.counts.misses += missed;
      return null;
    }

    /** The bytes of a table of whole keys: its share of the capacity, if that has room for 64 of them. */
    get #keyTableBytes() {
      const slots = Math.min(1 << 14, Math.floor(this.capacity / 256));
      return slots >= 64 ? 64 * 2 ** (CacheTables.bitLength(slots) - 1) : 0;
    }
    /** That table is made when keys are walked, if it fits beside the others. */
    #wantKeyTable() {
      if (!this.keyTable && this.cache.nbytes + this.#keyTableBytes <= this.capacity) this.keyTable = this.#keyTableBytes;
    }
    #grow(table) {
      if (Growing.grow(this.cache, table, this.capacity - this.keyTable, this.keyTable ? 0 : this.#keyTableBytes)) return true;
      if (!this.keyTable) return false;
      this.keyTable = 0;
      return this.#grow(table);
    }
    #simulate(told, root) {
      this.fallbacks++;
      Automaton.steps(this.nfa, told.words, root).forEach(({ state }, word) =>
        told.frames.push({ word, how: "simulated", state: null, positions: state.positions, tags: state.tags, built: [], grown: [] }));
    }
  }

  /** How far a key is told, and what of the next word has happened already. */
  class Told {
    constructor(words) { Object.assign(this, { words, frames: [], done: 0, built: [], grown: [] }); }
    /** What a frame has built, with the bytes of the cache then; beside the frame, which is plain numbers. */
    #remember(frame, cache) {
      Machine.made.set(frame, new Map(frame.built.filter(([kind]) => kind === "state").map(([, number]) => [number, cache.states[number]])));
      Machine.bytes.set(frame, cache.nbytes);
    }
    tell(word, how, state, cache) {
      if (word < this.done) return;
      this.done = word + 1;
      if (how === "cached" && this.built.some(([kind]) => kind !== "stray")) how = "built";
      const { positions, tags } = cache.states[state];
      const frame = { word, how, state, positions, tags, built: this.built, grown: this.grown };
      this.frames.push(frame);
      this.#remember(frame, cache);
      this.built = [];
      this.grown = [];
    }
    clear() {
      this.frames.push({ word: this.done, how: "cleared", state: null, positions: [], tags: [], built: [], grown: this.grown });
      Object.assign(this, { done: 0, built: [], grown: [] });
    }
  }

  Machine.made = new WeakMap();
  Machine.bytes = new WeakMap();
  return Machine;
})();
