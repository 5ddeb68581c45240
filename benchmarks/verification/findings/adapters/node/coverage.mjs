// Which lines of the packages below a folder run: V8's counters of blocks, read by the inspector of this process.
import { readFileSync } from "node:fs";
import { Session } from "node:inspector";
import { fileURLToPath } from "node:url";

// Return a function that returns [file, line] of all lines that ran since it was called before.
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
    return own.flatMap((script) => linesOf(script).map((line) => [script.file, line]));
  };
};

const pathOf = (url) => (url.startsWith("file:") ? fileURLToPath(url) : url);

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
