// Words as they can be shown, as in viz/text.py: every character visible, and no word that looks like something else.
"use strict";

const Text = (() => {
  const MARKS = 30;
  const number = (character) => `‹U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}›`;

  /** The places of characters that normalisation to NFC changes, by themselves or with what is before them. */
  function twofold(characters) {
    const found = new Set();
    let start = 0;
    characters.forEach((character, place) => {
      const before = characters.slice(Math.max(start, place - MARKS), place).join("");
      if ((before + character).normalize("NFC") !== before.normalize("NFC") + character) found.add(place);
      if (!/\p{M}/u.test(character)) start = place;
    });
    return found;
  }

  /** The text with a visible sign for each invisible character, and for each that looks like others by definition. */
  function visible(text) {
    const characters = [...text];
    const numbered = text.normalize("NFC") === text ? new Set() : twofold(characters);
    let before = "";
    return characters.map((character, place) => {
      const code = character.codePointAt(0);
      const joined = character === "\u200d" && /^[\p{So}\p{Sk}\p{Mn}]$/u.test(before);
      before = character;
      if (numbered.has(place)) return number(character);
      if (code < 0x20) return String.fromCodePoint(0x2400 + code);
      if (code === 0x7f) return "␡";
      if (joined || character === " ") return character;
      if (/^[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Noncharacter_Code_Point}]$/u.test(character))
        return number(character);
      return character;
    }).join("");
  }

  /** The text in at most `limit` characters; of a longer one, both ends with an ellipsis between them. */
  function elided(text, limit) {
    const characters = [...text];
    if (characters.length <= limit) return text;
    const head = Math.floor(limit / 2);
    return [...characters.slice(0, head), "…", ...characters.slice(characters.length - (limit - head - 1))].join("");
  }

  /** A word as a label: quoted where it could be mistaken for another label, elided in the middle. */
  function shown(word, limit = 24) {
    const text = elided(visible(word), limit);
    const reserved = ["", "*", "#", "ε", "other", "any word"].includes(word);
    if (reserved || /^ | $/.test(word) || /[",]/.test(word)) return `"${text.replace(/[\\"]/g, "\\$&")}"`;
    return text;
  }

  /** The text of a label with each word isolated that is written from right to left, so that it does not reorder what stands beside it. */
  const isolated = (text) =>
    text.replace(/[^\s./,]*[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}][^\s./,]*/gu, "\u2068$&\u2069");

  /** A number with its noun. */
  const counted = (count, thing) => `${count.toLocaleString("en")} ${thing}${count === 1 ? "" : "s"}`;

  return { visible, elided, isolated, shown, counted };
})();
