// A correct matcher of AMQP patterns, as a target of the fuzz tester:
//   dfa-router fuzz --target 'cmd:node examples/matchers/right.mjs' --seconds 10
import { createInterface } from "node:readline";

const words = (text) => (text === "" ? [] : text.split("."));

function matches(pattern, key) {
  if (pattern.length === 0) return key.length === 0;
  const [first, ...rest] = pattern;
  if (first === "#") return matches(rest, key) || (key.length > 0 && matches(pattern, key.slice(1)));
  return key.length > 0 && (first === "*" || first === key[0]) && matches(rest, key.slice(1));
}

let patterns = [];
createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  if (question.patterns) patterns = question.patterns.map(words);
  const positions = () => [...patterns.keys()].filter((i) => matches(patterns[i], words(question.key)));
  console.log(JSON.stringify(question.patterns ? true : positions()));
});
