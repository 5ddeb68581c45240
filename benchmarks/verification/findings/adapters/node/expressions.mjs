// Which lines of the packages below a folder build or run a regular expression that depends on what is asked: whatever takes one is
// replaced by a function that notes the line of the package that called it, and does the same.
import { pathOf } from "./coverage.mjs";

const SYMBOLS = [Symbol.match, Symbol.replace, Symbol.search, Symbol.split];
const FRAME = /\(?((?:file:\/\/)?\/[^\s()]+):(\d+):\d+\)?$/;

// Return a function that notes what another one does, and returns its notes: a map from "file:line" to the texts that went in there.
export const noting = (folder) => async (run) => {
  const notes = { expressions: new Map(), shaped: new Map() };
  const note = (noted, text) => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 50;
    const frames = new Error().stack.split("\n").map((line) => FRAME.exec(line.trim()));
    Error.stackTraceLimit = stackTraceLimit;
    const frame = frames.find((one) => one && pathOf(one[1]).startsWith(folder));
    if (!frame) return;
    const line = JSON.stringify([pathOf(frame[1]), Number(frame[2])]);
    noted.set(line, (noted.get(line) ?? new Set()).add(String(text)));
  };
  const { RegExp: original } = globalThis;
  const { prototype } = original;
  const { exec } = prototype;
  const { replace, replaceAll, match } = String.prototype;
  const kept = SYMBOLS.map((symbol) => [symbol, prototype[symbol]]);
  let within = false; // what is noted uses expressions, too
  const once = (noted, text) => {
    if (within) return;
    within = true;
    try {
      note(noted, text);
    } finally {
      within = false;
    }
  };
  const noted = (made, [source]) => {
    once(notes.expressions, source instanceof original ? source.source : source);
    return made;
  };
  globalThis.RegExp = new Proxy(original, {
    apply: (target, self, given) => noted(Reflect.apply(target, self, given), given),
    construct: (target, given, type) => noted(Reflect.construct(target, given, type), given),
  });
  prototype.exec = function (text) {
    once(notes.expressions, this.source);
    return exec.call(this, text);
  };
  for (const [symbol, method] of kept) {
    prototype[symbol] = function (text, ...rest) {
      once(notes.expressions, this.source);
      if (symbol === Symbol.replace) once(notes.shaped, text);
      return method.call(this, text, ...rest);
    };
  }
  const shaping = (method) =>
    function (...given) {
      once(notes.shaped, this);
      return method.apply(this, given);
    };
  String.prototype.replace = shaping(replace);
  String.prototype.replaceAll = shaping(replaceAll);
  String.prototype.match = function (...given) {
    if (typeof given[0] === "string") once(notes.expressions, given[0]);
    return match.apply(this, given);
  };
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
    prototype.exec = exec;
    for (const [symbol, method] of kept) prototype[symbol] = method;
    Object.assign(String.prototype, { replace, replaceAll, match });
  }
  return notes;
};

// Return [file, line] of the lines with an expression that was not there before, and of those that changed a text to make it.
export const built = (before, after) => {
  const all = (noted) => new Set([...noted.values()].flatMap((texts) => [...texts]));
  const old = all(before.expressions);
  const fresh = new Set([...all(after.expressions)].filter((text) => !old.has(text)));
  if (!fresh.size) return [];
  const lines = [...after.expressions].filter(([, texts]) => [...texts].some((text) => fresh.has(text)));
  const shaped = [...after.shaped].filter(([line, texts]) => [...texts].some((text) => !before.shaped.get(line)?.has(text)));
  return [...new Set([...lines, ...shaped].map(([line]) => line))].map((line) => JSON.parse(line));
};
