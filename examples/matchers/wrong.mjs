// A wrong matcher of a common kind: each pattern becomes a regular expression. Can you find the three mistakes?
//   dfa-router fuzz --target 'cmd:node examples/matchers/wrong.mjs' --seconds 10
import { createInterface } from "node:readline";

const escaped = (text) => text.replace(/[\\^$+?()[\]{}|]/g, "\\$&");

const expression = (pattern) =>
  new RegExp("^" + escaped(pattern).replace(/\./g, "\\.").replace(/\*/g, "[^.]+").replace(/#/g, ".*") + "$");

let expressions = [];
createInterface({ input: process.stdin }).on("line", (line) => {
  const question = JSON.parse(line);
  if (question.patterns) expressions = question.patterns.map(expression);
  const positions = () => [...expressions.keys()].filter((i) => expressions[i].test(question.key));
  console.log(JSON.stringify(question.patterns ? true : positions()));
});
