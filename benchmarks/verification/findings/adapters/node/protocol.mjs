// Speaks the fuzz tester's protocol for an adapter: node protocol.mjs NAME ENVIRONMENT
// ENVIRONMENT is the folder whose node_modules has the package.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { Limit, adapters } from "./adapters.mjs";

const [, , name, environment] = process.argv;
console.log = console.error; // what a package prints is no answer
const open = adapters[name](createRequire(join(environment, "package.json")), environment);
const positions = (found) => [...new Set(found)].sort((a, b) => a - b);

let ask;
let refused;
for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  let answer;
  try {
    if (question.patterns) {
      refused = undefined;
      ask = undefined;
      ask = await open(question.patterns);
      answer = true;
    } else {
      answer = refused ?? positions(await ask(question.key));
    }
  } catch (error) {
    answer = error instanceof Limit ? { refused: error.message, limit: true } : { raised: error?.stack ?? String(error) };
    if (question.patterns) refused = answer;
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
