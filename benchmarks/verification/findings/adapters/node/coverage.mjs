// Which lines and functions of the packages below a folder run: V8's counters of blocks, read by the inspector of this process.
import { readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

// Return a function that returns what ran since it was called before: {ran: [[file, line]], functions: [[file, first, last, name]]}.
export const coverage = (folder) => {
  const session = new Session();
  const told = (method, options) => {
    let result;
    session.post(method, options, (error, value) => {
      if (error) throw new Error(error.message);
      result = value;
    });
    return result; // an inspector of its own process answers at once
  };
  session.connect();
  told("Profiler.enable");
  told("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  return () => {
    const { result } = told("Profiler.takePreciseCoverage");
    const own = result.map((script) => ({ ...script, file: pathOf(script.url) })).filter(({ file }) => file.startsWith(folder));
    return {
      ran: own.flatMap((script) => linesOf(script).map((line) => [script.file, line])),
      functions: own.flatMap(functionsOf),
    };
  };
};

export const pathOf = (url) => (url.startsWith("file:") ? fileURLToPath(url) : url);

const linesOf = ({ file, functions }) => {
  const text = readFileSync(file, "utf8");
  const counts = new Int32Array(text.length);
  // Outer ranges come before the ranges within them, which decide.
  for (const { ranges } of functions) for (const { startOffset, endOffset, count } of ranges) counts.fill(count, startOffset, endOffset);
  const found = [];
  let begin = 0;
  text.split("\n").forEach((line, number) => {
    // A line of braces alone is none: it belongs to what stands before it.
    const inside = [...line].some((character, place) => /\w/.test(character) && counts[begin + place] > 0);
    if (inside) found.push(number + 1);
    begin += line.length + 1;
  });
  return found;
};

// The functions that ran; a script is none, and one without a name is part of the function around it.
const functionsOf = ({ file, functions }) => {
  const text = readFileSync(file, "utf8");
  const lineOf = (offset) => text.slice(0, offset).split("\n").length;
  return functions
    .filter(({ functionName, ranges: [all] }) => functionName && all.count > 0)
    .map(({ functionName, ranges: [all] }) => [file, lineOf(all.startOffset), lineOf(all.endOffset), functionName]);
};
