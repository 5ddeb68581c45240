// The reader's part: patterns, keys, dialect and the cache's bound, as fields of a form and as a link. What is typed is compiled
// here; a link holds all of it behind the #, which browsers send to no server.
"use strict";

const Editor = (() => {
  const $ = (id) => document.getElementById(id);
  const { make } = Panels;
  const BOUNDS = [0, 1200, 1300, 1500, 2000, 3000, 4000, 8000, 16000, 65536, 64 * 2 ** 20];

  // What cannot be a line as it is stands there as a JSON string: the empty text, one with a line break, and one that would be read as
  // such a string. Any other line in quotes is what it looks like.
  const quotes = (item) => item === "" || /[\n\r]/.test(item) || unquoted(item) !== item;
  function unquoted(line) {
    if (!/^".*"$/.test(line)) return line;
    try {
      const item = JSON.parse(line);
      return quotes(item) ? item : line;
    } catch {
      return line;
    }
  }
  const lines = (text) => text.split("\n").filter((line) => line !== "").map(unquoted);
  const unlines = (items) => items.map((item) => (quotes(item) ? JSON.stringify(item) : item)).join("\n");
  const bytes = (count) => (count >= 2 ** 20 ? `${count / 2 ** 20} MiB` : `${count.toLocaleString("en")} bytes`);

  /** What a link says, with what it leaves out taken from `settings`. */
  function read(fragment, settings, dialects) {
    const parts = new URLSearchParams(fragment.slice(1));
    const keys = parts.has("k") ? parts.getAll("k") : parts.getAll("key"), bound = Number.parseInt(parts.get("c") ?? "", 10);
    const says = parts.has("p") || parts.get("n") === "0", wanted = parts.get("d"), dialect = dialects.find(({ name }) => name === wanted);
    return {
      problem: wanted === null || dialect ? "" : `The link is for the dialect ${Text.shown(wanted, 40)}, which this page does not have: it has ${dialects.map(({ name }) => name).join(", ")}.`,
      step: Number.parseInt(parts.get("s") ?? parts.get("step") ?? "0", 10) || 0,
      settings: {
        patterns: says ? parts.getAll("p") : settings.patterns,
        keys: keys.length ? keys : says ? [""] : settings.keys,
        dialect: dialect ?? settings.dialect,
        capacity: bound >= 0 ? Math.min(bound, 2 ** 31) : settings.capacity,
      },
    };
  }
  function written(settings, step) {
    const parts = new URLSearchParams();
    for (const pattern of settings.patterns) parts.append("p", pattern);
    if (!settings.patterns.length) parts.append("n", 0); // or the reader's page would have its own patterns
    for (const key of settings.keys) parts.append("k", key);
    parts.append("d", settings.dialect.name);
    parts.append("c", settings.capacity);
    parts.append("s", step);
    return `#${parts}`;
  }

  /** Write settings into the form. */
  function show(settings) {
    if (unlines(lines($("patterns").value)) !== unlines(settings.patterns)) $("patterns").value = unlines(settings.patterns);
    if (unlines(lines($("keys").value)) !== unlines(settings.keys)) $("keys").value = unlines(settings.keys);
    $("dialect").value = settings.dialect.name;
    $("spelling").textContent = `${settings.dialect.name}: words are separated by ${settings.dialect.separator}; ${Language.spelling(settings.dialect)}. Write "" for the empty pattern.`;
    showBound(settings.capacity);
  }
  let bound = 0; // of the cache; the slider has steps, and a link may say what is between them
  function showBound(capacity) {
    bound = capacity;
    const nearest = BOUNDS.reduce((best, bound, index) => (Math.abs(bound - capacity) < Math.abs(BOUNDS[best] - capacity) ? index : best), 0);
    $("capacity").value = nearest;
    $("capacity-text").textContent = bytes(capacity);
    $("capacity").setAttribute("aria-valuetext", bytes(capacity));
  }

  /** Make the form ready; `play` gets the settings whenever they are others, and returns whether it plays them. */
  function start(data, play) {
    data.dialects.forEach(({ name }) => $("dialect").append(make("option", { value: name }, name)));
    data.examples.forEach((example, index) => $("examples").append(make("option", { value: index }, example.title)));
    let waiting = 0;
    const change = (settings, options) => { clearTimeout(waiting); return play(settings, options); };
    const later = () => { clearTimeout(waiting); waiting = setTimeout(() => change(typed()), 200); };
    // What the form says, which is not yet what is shown if it is wrong or was typed just now: whatever is pressed begins with it, and
    // so throws none of it away. The empty line of a field without any key is the empty key: there is always one.
    const chosen = () => data.dialects.find(({ name }) => name === $("dialect").value);
    const typed = () => ({ dialect: chosen(), capacity: bound, patterns: lines($("patterns").value), keys: lines($("keys").value).length ? lines($("keys").value) : [""] });
    $("editor").addEventListener("submit", (event) => event.preventDefault());
    for (const id of ["patterns", "keys"]) $(id).addEventListener("input", later);
    $("dialect").addEventListener("change", () => change(typed()));
    $("capacity").max = BOUNDS.length - 1;
    $("capacity").addEventListener("input", () => {
      showBound(BOUNDS[Number($("capacity").value)]);
      later();
    });
    $("examples").addEventListener("change", () => {
      const example = data.examples[Number($("examples").value)];
      if (!example || $("examples").value === "") return;
      $("example-note").textContent = example.note;
      const dialect = data.dialects.find(({ name }) => name === example.dialect) ?? chosen();
      change({ patterns: example.patterns, keys: example.keys, dialect, capacity: example.capacity });
    });
    const goOn = (key) => change({ ...typed(), keys: [...typed().keys, key] }, { lastKey: true });
    $("keep").addEventListener("click", () => {
      if (!goOn(typed().keys.at(-1))) return;
      const field = $("keys"), begin = field.value.lastIndexOf("\n") + 1;
      field.focus();
      field.setSelectionRange(begin, field.value.length);
    });
    $("empty").addEventListener("click", () => change({ ...typed(), keys: typed().keys.slice(-1) }));
    for (const [id, matching] of [["add-match", true], ["add-miss", false]]) $(id).addEventListener("click", () => {
      const key = Predict.key(typed(), matching);
      if (key !== null) goOn(key);
    });
  }

  return { read, written, show, start };
})();
