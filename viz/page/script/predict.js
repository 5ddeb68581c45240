// Predict mode: the reader says which positions are active next before they are shown, and is told which were missed. And keys to
// practise with: one that a pattern matches, or one that nearly does.
"use strict";

const Predict = (() => {
  const { make, wordElement } = Panels;
  const MOST_CHOICES = 48;

  /** Ask for the positions of the next step; `done` gets whether the answer was right. */
  function ask(box, played, at, done) {
    const { nfa } = played, next = Stream.positionAt(played, at), { frame, told } = next;
    const right = new Set(Automaton.members(nfa, frame)), given = new Set();
    const before = next.before ? Automaton.members(nfa, next.before) : [];
    // What is right comes first: a choice that is cut off would be an answer that cannot be given.
    const near = new Set([...right, ...before, ...before.flatMap((p) => nfa.children[p])]);
    for (const p of [...near]) for (const child of nfa.children[p]) near.add(child);
    const choices = [...near].slice(0, MOST_CHOICES).sort((a, b) => a - b).map((p) => {
      const button = make("button", { type: "button", "aria-pressed": "false", "data-position": p }, String(p));
      button.addEventListener("click", () => {
        if (!given.delete(p)) given.add(p);
        button.setAttribute("aria-pressed", String(given.has(p)));
      });
      return button;
    });
    const check = make("button", { type: "button", class: "primary" }, "Check");
    check.addEventListener("click", () => {
      const missed = [...right].filter((p) => !given.has(p)), wrong = [...given].filter((p) => !right.has(p));
      done(!missed.length && !wrong.length, [missed.length ? `missed ${missed.join(", ")}` : "", wrong.length ? `not active: ${wrong.join(", ")}` : ""].filter(Boolean).join("; "));
    });
    const words = frame.how === "start" ? ["Where is the NFA before the first word? "] : [`Where is the NFA after word ${frame.word}, `, wordElement(told.words[frame.word - 1]), "? "];
    box.replaceChildren(make("span", { id: "asked" }, ...words, "None is an answer, too. "), ...choices, check);
  }

  /** Whether a step can be asked for: one that reads a word, or the beginning, and has no more positions than there are choices. */
  const asks = ({ nfa, steps }, at) => {
    const { frame } = steps[at];
    return ["start", "cached", "built", "stray", "simulated"].includes(frame.how) && Automaton.members(nfa, frame).length <= MOST_CHOICES;
  };

  /** A key that some pattern matches; or one that differs from such a key in a word, and that this pattern does not match. */
  function key(settings, matching, choose = Math.random) {
    const { patterns, dialect } = settings, pick = (items) => items[Math.floor(choose() * items.length)];
    const literals = [...new Set(patterns.flatMap((pattern) => Language.tokens(pattern, dialect)).filter((token) => typeof token === "string" && token))];
    const words = [...literals, "x", "y"];
    for (let attempt = 0; attempt < 200; attempt++) {
      const tokens = Language.tokens(pick(patterns.length ? patterns : [""]), dialect);
      const made = tokens.flatMap((token) => (token === Language.MANY ? Array.from({ length: Math.floor(choose() * 3) }, () => pick(words)) : [token === Language.ONE ? pick(words) : token]));
      if (!matching) {
        const at = Math.floor(choose() * (made.length + 1)), kind = Math.floor(choose() * 3);
        if (kind === 0) made.splice(at, 0, pick(words));
        else if (kind === 1) made.splice(at, 1);
        else made[Math.min(at, Math.max(0, made.length - 1))] = pick(words);
      }
      const text = made.join(dialect.separator);
      if (Language.textProblem(text, dialect) || Language.refusal(text, dialect)) continue;
      const nfa = Automaton.buildNfa([tokens], dialect.reserved ?? ""), read = Automaton.steps(nfa, Language.wordsOf(text, dialect), nfa.rootOf(text));
      if ((read.at(-1).state.tags.length > 0) === matching) return text;
    }
    return null;
  }

  return { ask, asks, key };
})();
