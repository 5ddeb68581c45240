// Runs the page's scripts in Node.js on cases that come as JSON lines, and writes what they say as JSON lines.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Script, createContext } from "node:vm";

const context = createContext({ TextEncoder });
new Script(process.argv.slice(2).map((path) => readFileSync(path, "utf-8")).join("\n") + "\nvar ask = Ask;").runInContext(context);
for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(context.ask(JSON.parse(line))));
