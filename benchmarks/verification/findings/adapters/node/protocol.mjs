// Speaks the fuzz tester's protocol for an adapter: node protocol.mjs NAME ENVIRONMENT [lines]
// ENVIRONMENT is the folder whose node_modules has the package; with "lines" it can tell which lines of the package a case runs.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { Limit, adapters } from "./adapters.mjs";
import { coverage } from "./coverage.mjs";
import { built, noting } from "./expressions.mjs";

const [, , name, environment, lines] = process.argv;
const covered = lines && coverage(environment); // before the package is loaded, so that its blocks are counted
console.log = console.error; // what a package prints is no answer
const open = adapters[name](createRequire(join(environment, "package.json")), environment);
const positions = (found) => [...new Set(found)].sort((a, b) => a - b);

// What runs when a key is asked of a set; what runs at the first call only is no part of it.
const linesOf = async ({ patterns, key }) => {
  const once = async (patterns, key) => {
    try {
      await (await open(patterns))(key);
    } catch {} // the lines until then are what is asked for
  };
  const noted = noting(environment);
  const before = await noted(() => once(["first"], "call"));
  covered();
  const after = await noted(() => once(patterns, key));
  return { ...covered(), expressions: built(before, after) };
};

let ask;
let refused;
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  let answer;
  try {
    if (question.lines) {
      answer = await linesOf(question.lines);
    } else if (question.patterns) {
      refused = undefined;
      ask = undefined;
      ask = await open(question.patterns);
      answer = lines ? { ready: true, lines: true } : true;
    } else {
      answer = refused ?? positions(await ask(question.key));
    }
  } catch (error) {
    answer = error instanceof Limit ? { refused: error.message, limit: true } : { raised: error?.stack ?? String(error) };
    if (question.patterns) refused = answer;
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
