// How the tables of a cache grow: compiler/machine/growing.py in JavaScript, with the same sizes at the same moments.
"use strict";

const Growing = (() => {
  const PROBES = 16, STEPS = [7, 6, 5, 4, 3, 2, 1], SPARSE = 0.5, DENSE = 0.75, LARGE = 4, LARGER = 16, TIGHT = 2 ** 25;
  const SMALL = 2 ** 12, TIMES = 8, PART = 16;
  const BYTES = { states: 20, sets: 4, members: 4, tags: 4, filters: 8 };
  const SLOTS = { states: "stateSlots", sets: "setSlots" };
  const floorDiv = (a, b) => Math.floor(a / b);

  /** Give a table more room; false where that would take more than `capacity` bytes, the old array beside the new one. */
  function grow(cache, table, capacity, spare) {
    const room = capacity - cache.nbytes;
    if (table === "transitions") return moreTransitions(cache, room, capacity);
    if (table === "filters") return moreFilters(cache, Math.min(room, floorDiv(capacity, 4)));
    return table in SLOTS ? moreEntries(cache, table, room, spare) : longerPool(cache, table, room, spare);
  }

  /** How many times as large a table of `bytes` should get where there is `room`. */
  function times(bytes, room) {
    return bytes <= SMALL && PART * TIMES * bytes <= room ? TIMES : 2;
  }

  function longerPool(cache, table, room, spare) {
    const old = cache.room[table], more = old * times(BYTES[table] * old, room);
    const fits = BYTES[table] * more <= floorDiv(room, 2);
    const wanted = Math.max(fits ? more : old + floorDiv(old, 4), cache.wanted);
    const size = Math.min(wanted, floorDiv(fits ? room : room - spare, BYTES[table]));
    if (size < cache.wanted) return false;
    cache.room[table] = size;
    return true;
  }

  function moreFilters(cache, room) {
    const old = cache.room.filters, size = Math.max(old * times(BYTES.filters * old, room), cache.wanted);
    if (BYTES.filters * size > room) cache.filtersFull = true;
    else cache.room.filters = size;
    return true;
  }

  function moreTransitions(cache, room, capacity) {
    const slots = 2 ** cache.slotBits, count = cache.transitions, crowded = 2 * (count + 1) <= slots;
    if (!crowded || 2 * 8 * slots <= floorDiv(capacity, capacity > TIGHT ? LARGER : LARGE)) {
      const first = cache.slotBits + Math.log2(times(8 * (slots + PROBES - 1), room));
      for (let bits = first; 8 * (2 ** bits + PROBES - 1) <= room; bits++) {
        if (!cache.rehash(bits)) continue;
        cache.transitionsFull = false;
        return true;
      }
      cache.transitions = count;
    }
    const more = !cache.transitionsFull;
    cache.transitionsFull = true;
    return more;
  }

  function moreEntries(cache, table, room, spare) {
    const count = cache.room[table], slots = cache.room[SLOTS[table]];
    const larger = (size, full, within) => {
      let places = slots;
      while (size > full * places) places *= 2;
      const bytes = BYTES[table] * size + (places > slots ? 8 * places : 0);
      if (bytes > within || size <= count || size > 2 * cache.stateLimit) return false;
      Object.assign(cache.room, { [table]: size, [SLOTS[table]]: places });
      return true;
    };
    if (larger(count * times(8 * slots, room), SPARSE, floorDiv(room, 2))) return true;
    const sizes = STEPS.map((step) => count + floorDiv(step * count, 8));
    return [...sizes.filter((size) => size <= DENSE * slots), ...sizes].some((size) => larger(size, DENSE, room - spare));
  }

  return { grow };
})();
