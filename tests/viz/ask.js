// What tests ask of the page's scripts, in Node.js and in a browser alike.
"use strict";
const Ask = (question) => ({
  stream({ patterns, dialect, capacity, keys }) {
    const machine = new Machine(patterns, dialect, capacity);
    return keys.map((key) => machine.match(key));
  },
  words: ({ words }) => words.map((word) => [Text.visible(word), Text.shown(word), Text.isolated(word)]),
  language: ({ texts, dialect }) => texts.map((text) => [Language.patternProblem(text, dialect), Language.refusal(text, dialect), Language.tokens(text, dialect)]),
  walk({ patterns, dialect, keys }) {
    const nfa = Automaton.buildNfa(patterns.map((pattern) => Language.tokens(pattern, dialect)), dialect.reserved ?? "");
    return keys.map((key) => {
      const words = Language.wordsOf(key, dialect), root = nfa.rootOf(key), read = Automaton.steps(nfa, words, root);
      const { visits, backtracks, reads, tags, complete } = Automaton.trieWalk(nfa, words, root);
      return {
        steps: read.map((step) => ({ symbol: step.symbol, positions: step.state.positions, tags: step.state.tags, moves: step.moves, final: step.final })),
        failed: [...Automaton.failures(nfa, read)], walk: [visits, backtracks, reads, tags, complete],
      };
    });
  },
}[question.what](question));
