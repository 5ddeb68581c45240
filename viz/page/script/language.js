// How dialects spell patterns and which they refuse. The dialects are values that the page is given; this reads them as
// dfa_router/language/{rules,validity}.py and compiler/machine/screen.py do, and tests hold the two to shared cases.
"use strict";

const Language = (() => {
  const ONE = -1, MANY = -2;
  const bytes = (text) => new TextEncoder().encode(text).length;
  const quoted = (text) => `'${Text.visible(text)}'`;
  const wildcards = (dialect) => [dialect.one, dialect.many, dialect.some].filter((word) => word !== null);

  /** The words of a key: none for the empty text, otherwise what stands between the separators. */
  const wordsOf = (text, dialect) => (text === "" ? [] : text.split(dialect.separator));

  /** A pattern as tokens, each a literal word or the number ONE or MANY, with runs of wildcards in their normal form. */
  function tokens(pattern, dialect) {
    let words = wordsOf(pattern, dialect);
    if (dialect.shared !== null && words.length > 1 && words[0] === dialect.shared) words = words.slice(2);
    const spelt = words.flatMap((word, index) => {
      const stray = dialect.tail_only && index < words.length - 1;
      if (word === dialect.one) return [ONE];
      if (word === dialect.many && !stray) return [MANY];
      if (word === dialect.some && !stray) return [ONE, MANY];
      return [word];
    });
    return normal(spelt);
  }

  /** Every run of wildcards as its ONE tokens, then at most one MANY. */
  function normal(spelt) {
    const found = [];
    let many = false;
    for (const token of [...spelt, null]) {
      if (token === MANY) { many = true; continue; }
      if (token !== ONE && many) { found.push(MANY); many = false; }
      if (token !== null) found.push(token);
    }
    return found;
  }

  /** What is wrong with the characters or the length of a text, or "". */
  function textProblem(text, dialect) {
    if (!text.isWellFormed()) return "it has a lone surrogate, which has no UTF-8 form: remove it";
    if (text === "" && !dialect.empty_text) return `it is empty: ${dialect.name} needs at least one character`;
    const wrong = [...text].find((character) => dialect.forbidden.includes(character));
    if (wrong !== undefined) return `it has the character ${quoted(wrong)}, which ${dialect.name} does not allow: remove it`;
    if (dialect.max_bytes !== null && bytes(text) > dialect.max_bytes)
      return `it has ${bytes(text)} bytes, but ${dialect.name} carries at most ${dialect.max_bytes}: shorten it, no broker would accept it`;
    const count = text.split(dialect.separator).length;
    if (dialect.max_words !== null && count > dialect.max_words)
      return `it has ${count} words, but ${dialect.name} takes at most ${dialect.max_words}: shorten it`;
    return "";
  }

  /** Why no broker of the dialect accepts a pattern, and what to change, or "". */
  function patternProblem(pattern, dialect) {
    const problem = textProblem(pattern, dialect);
    if (problem) return problem;
    let words = wordsOf(pattern, dialect);
    if (dialect.shared !== null && words[0] === dialect.shared) {
      const share = shareProblem(words, dialect);
      if (share) return share;
      words = words.slice(2);
    }
    if (!dialect.empty_words && words.includes(""))
      return `it has an empty word: ${dialect.name} has none, so remove the ${quoted(dialect.separator)} too many`;
    const tails = [dialect.many, dialect.some].filter((word) => word !== null);
    if (dialect.tail_only && dialect.stray_tail === "refused") {
      const stray = words.slice(0, -1).find((word) => tails.includes(word));
      if (stray !== undefined) return `${quoted(stray)} is not the last word: only there it stands for further words, so end the pattern with it`;
    }
    const manies = words.filter((word) => word === dialect.many).length;
    if (dialect.max_many !== null && dialect.many !== null && manies > dialect.max_many)
      return `${quoted(dialect.many)} occurs ${manies} times, and the broker takes at most ${dialect.max_many}: ` +
        `neighbours among them can be merged, as ${quoted(dialect.many + dialect.separator + dialect.many)} means ${quoted(dialect.many)}`;
    for (const word of words) for (const wildcard of wildcards(dialect)) {
      if (!word.includes(wildcard) || word === wildcard) continue;
      if (dialect.inner_wildcards === "refused") return `the word ${quoted(word)} has the wildcard ${quoted(wildcard)} in it: it must stand alone between separators`;
      if (dialect.inner_wildcards === "no prefix" && wildcard === dialect.one && word.endsWith(wildcard))
        return `the word ${quoted(word)} ends with ${quoted(wildcard)}, which matches within a level in ${dialect.name}: only whole levels are supported, so write ${quoted(wildcard)} alone`;
    }
    return "";
  }

  function shareProblem(words, dialect) {
    const [shared, group = "", ...rest] = words, { separator } = dialect;
    const form = `a shared subscription is ${[shared, "GROUP", "FILTER"].join(separator)}`;
    if (group === "") return `its group has no name: ${form}`;
    if (rest.join(separator) === "") return `it has no filter: ${form}`;
    if (wildcards(dialect).some((wildcard) => group.includes(wildcard))) return `its group ${quoted(group)} has a wildcard in it: ${form}, and a group is a plain name`;
    if (rest[0] === shared) return `it is shared twice: ${form}`;
    return "";
  }

  /** Why a key matches nothing whatever the patterns, or "": a broker does not route it, and the automaton is not asked. */
  function refusal(key, dialect) {
    return routed(key, dialect) ? "" : textProblem(key, dialect) || keyProblem(key, dialect);
  }
  function routed(key, dialect) {
    if (key === "") return dialect.empty_text;
    if (dialect.unseen !== null && key.startsWith(dialect.unseen)) return false;
    return ![...dialect.dropped].some((character) => key.includes(character)) && (dialect.empty_words || !wordsOf(key, dialect).includes(""));
  }
  /** What is wrong with a key whose characters and length are right. */
  function keyProblem(key, dialect) {
    const wrong = [...dialect.dropped].find((character) => key.includes(character));
    if (wrong !== undefined) return `it has ${quoted(wrong)}, which is for patterns only`;
    if (!dialect.empty_words && wordsOf(key, dialect).includes("")) return `it has an empty word: ${dialect.name} has none`;
    return `it begins with ${quoted(dialect.unseen)}, which no subscription sees`;
  }

  /** Two patterns that mean the same have the same tokens; here they are joined with their group of a shared subscription left out. */
  const spelling = (dialect) => [
    dialect.one && `${dialect.one} is one word`,
    dialect.many && `${dialect.many} is zero or more${dialect.tail_only ? ", at the end" : ""}`,
    dialect.some && `${dialect.some} is one or more, at the end`,
  ].filter(Boolean).join("; ") || "no wildcards";

  return { ONE, MANY, wordsOf, tokens, textProblem, patternProblem, refusal, spelling };
})();
