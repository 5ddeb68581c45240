// The page: what is shown of a stream of keys at one step, and the controls. All text that comes from patterns and keys is set as
// text, never as markup.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const { make, wordElement } = Panels;
  const data = JSON.parse($("settings").textContent);
  let settings = { patterns: data.patterns, keys: data.keys, dialect: data.dialects.find(({ name }) => name === data.dialect), capacity: data.capacity };
  let played, step = 0, timer = 0, models = { nfa: null, dfa: null, key: null }, zoom = { nfa: 1, dfa: 1 }, score = { right: 0, asked: 0 };
  const pressed = (id) => $(id).getAttribute("aria-pressed") === "true";
  const canvases = { nfa: $("nfa-canvas"), dfa: $("dfa-canvas") };

  // --- a stream is played, and drawn once ------------------------------------------------------------------------------

  /** Play other settings, or say what is wrong with them and leave everything as it is; return which of the two. */
  function change(wanted, { at = 0, lastKey = false, wrong = "" } = {}) {
    pause();
    const problem = wrong || Stream.problem(wanted);
    $("error").textContent = problem;
    $("error").hidden = !problem;
    if (problem) return false;
    settings = wanted;
    played = Stream.play(settings);
    Editor.show(settings);
    const { nfa } = played;
    $("summary").textContent = `${Text.counted(settings.patterns.length, "pattern")} · NFA: ${Text.counted(nfa.size, "position")} · ${Text.counted(played.keys.length, "key")}, ${Text.counted(played.steps.length, "step")}${played.cut ? ": the rest of the stream is left out" : ""}`;
    $("slider").max = played.steps.length - 1;
    step = Math.max(0, Math.min(played.steps.length - 1, lastKey ? played.keys.at(-1).first : at));
    makeRoom(0);
    drawPictures();
    showWords();
    go(step);
    return true;
  }

  /** What is drawn of a key. */
  function drawnOf(told) {
    const { nfa, dfa } = Pictures.modelsOf(played, told);
    return { nfa, dfa: $("ghosts").checked ? dfa : Pictures.built(played, dfa) };
  }
  /** Lay both pictures out for the key of this step. */
  function drawPictures() {
    const told = played.keys[played.steps[step].key], { nfa, dfa } = drawnOf(told);
    models = { nfa, dfa, key: told };
    $("nfa-note").textContent = nfa.left ? ` · ${Text.counted(nfa.left, "position")} that no key enters are left out` : "";
    $("dfa-note").textContent = dfa.note ? ` · ${dfa.note}` : ` · complete: ${Text.counted(dfa.complete, "state")}`;
    // The wider picture gets the wider column, so that the texts of both are as large as can be.
    document.querySelector(".pictures").style.setProperty("--wider", `${Math.min(2, Math.max(0.6, Picture.widthOf(dfa) / Picture.widthOf(nfa)))}fr`);
    for (const [name, model] of Object.entries({ nfa, dfa })) Picture.show(canvases[name], model, boxOf(canvases[name]));
    fit();
    layOutAhead();
  }
  const boxOf = (canvas) => ({ width: canvas.clientWidth - 8, height: canvas.clientHeight - 8 });
  const idle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 60)); // Safari has none
  /** Lay out the pictures of the key after this one and of that before it while nothing else is to be done. */
  function layOutAhead() {
    const here = played, at = played.steps[step].key;
    for (const told of [played.keys[at + 1], played.keys[at - 1]]) if (told) idle(() => {
      if (played !== here) return;
      for (const [name, model] of Object.entries(drawnOf(told))) idle(() => { Picture.prepare(model, boxOf(canvases[name])); });
    });
  }
  const least = () => (pressed("lecture") ? 18 : 0);
  const fit = () => { for (const [name, canvas] of Object.entries(canvases)) Picture.fit(canvas, zoom[name], zoom[name] === 1 ? least() : 0); };

  const MEASURED = 100; // sentences of a key, its last ones, and keys of a stream: more would be felt
  let room = 0;
  /** Give the sentences the height that the highest takes of this key's, and of those that end the first keys, `least` at the least: from
   *  step to step nothing below moves. Return whether this is more than before. */
  function makeRoom(least) {
    const { first, last } = played.keys[played.steps[step].key], from = Math.max(first, last + 1 - MEASURED);
    const steps = [...played.keys.slice(0, MEASURED).map((told) => told.last), ...Array.from({ length: last + 1 - from }, (_, index) => from + index)];
    const guess = pressed("predict") ? "Not quite: missed 10, 11; not active: 12. 10 of 10. " : "";
    const measure = make("div", { class: "story measure", "aria-hidden": "true" }, ...steps.map((at) => make("p", {}, guess, ...Panels.story(played, at, Stream.positionAt(played, at)))));
    measure.style.width = `${$("story").offsetWidth}px`;
    $("dock").append(measure);
    const before = room;
    room = Math.max(least, measure.offsetHeight);
    measure.remove();
    $("dock").style.setProperty("--room", `${room}px`);
    return room > before;
  }

  function showWords() {
    const told = models.key;
    const chip = (text, index) => {
      const label = index ? wordElement(text, 40) : "start";
      const button = make("button", { type: "button" }, label);
      button.addEventListener("click", () => { pause(); toWord(index); });
      return make("li", index ? {} : { class: "begin" }, button);
    };
    $("key-name").textContent = played.keys.length > 1 ? `Key ${played.steps[step].key + 1} of ${played.keys.length}` : "Key";
    $("words").replaceChildren(...["", ...told.words].map(chip));
  }
  function toWord(index) {
    const told = models.key, frames = played.steps.slice(told.first, told.last + 1);
    const found = frames.findLastIndex(({ frame }) => frame.word === index && frame.how !== "cleared");
    if (found >= 0) go(told.first + found);
  }

  // --- one step --------------------------------------------------------------------------------------------------------

  function go(to) {
    const last = played.steps.length - 1;
    step = Math.max(0, Math.min(last, to));
    const told = played.keys[played.steps[step].key];
    if (told !== models.key) {
      models.key = told;
      const { nfa, dfa } = drawnOf(told), higher = makeRoom(room);
      if (models.nfa !== nfa || models.dfa !== dfa) drawPictures();
      else if (higher) fit();
      showWords();
    }
    const here = Stream.positionAt(played, step), cache = Stream.cacheAt(played, step);
    $("slider").value = step;
    $("slider").setAttribute("aria-valuetext", `step ${step} of ${last}`);
    $("position").textContent = `Step ${step} of ${last}`;
    // Not disabled: a button that is switched off under the reader's hand takes the focus with it.
    for (const [id, off] of [["first", step === 0], ["back", step === 0], ["next", step === last], ["last", step === last], ["key-back", played.keys.length < 2 || told === played.keys[0]], ["key-next", played.keys.length < 2 || told === played.keys.at(-1)]]) $(id).setAttribute("aria-disabled", String(off));
    [...$("words").children].forEach((item, index) => {
      const current = index === here.word;
      item.classList.toggle("read", index < here.word);
      item.classList.toggle("current", current);
      if (current) item.firstChild.setAttribute("aria-current", "step"); else item.firstChild.removeAttribute("aria-current");
    });
    if (step === last) pause();
    const nfa = Pictures.showNfa(canvases.nfa, played, here), dfa = Pictures.showDfa(canvases.dfa, played, models.dfa, here, cache);
    $("nfa-now").textContent = nfa.text;
    $("dfa-now").textContent = dfa.text;
    $("story").replaceChildren(...Panels.story(played, step, here));
    Panels.facts(played, step, here, cache);
    Panels.bindings(played, here);
    Panels.cacheStory(played, step, here);
    Panels.trie(played, here);
    Panels.subsets(played, here, cache);
    document.body.dataset.how = here.frame.how;
    if ($("question").contains(document.activeElement)) $("next").focus(); // with the question the focus would be gone
    $("question").hidden = true;
    // Last of all, as asking where something is makes the browser lay the page out.
    Picture.reveal(canvases.nfa, nfa.hit);
    Picture.reveal(canvases.dfa, dfa.hit);
    inView($("words"), $("words").children[here.word]);
    const bar = $("trie-bars").querySelectorAll("bdi")[here.word - 1];
    if (bar) inView($("trie-bars"), bar);
    $("set").scrollTop = $("story").scrollTop = 0;
    // What is too high even so can be scrolled by the keyboard, too.
    if ($("story").scrollHeight > $("story").clientHeight + 1) $("story").tabIndex = 0; else $("story").removeAttribute("tabindex");
    remember();
  }
  /** Scroll a box of words so that one of them is in it; scrollIntoView() would scroll the page as well. */
  function inView(box, element) {
    const outer = box.getBoundingClientRect(), inner = element.getBoundingClientRect();
    if (inner.left < outer.left || inner.right > outer.right) box.scrollLeft += inner.left - outer.left - outer.width / 3;
    if (inner.top < outer.top || inner.bottom > outer.bottom) box.scrollTop += inner.top - outer.top;
  }

  /** One step on; in predict mode its positions are asked for first. */
  function next() {
    const to = step + 1;
    if (to >= played.steps.length) return;
    if (!pressed("predict") || !Predict.asks(played, to)) { go(to); return; }
    if (!$("question").hidden) { $("question").querySelector("button").focus(); return; } // what was chosen stays chosen
    $("question").hidden = false;
    Predict.ask($("question"), played, to, (right, why) => {
      score.asked++;
      score.right += right;
      go(to);
      $("story").prepend(make("b", { class: right ? "right" : "wrong" }, right ? "Right. " : `Not quite: ${why}. `), `${score.right} of ${score.asked}. `);
    });
    $("question").querySelector("button").focus();
  }

  // --- links -----------------------------------------------------------------------------------------------------------

  let fragment = "";
  function remember() {
    fragment = Editor.written(settings, step);
    try { history.replaceState(null, "", fragment); } catch { /* in the frame of a notebook a page has no history, and so no link to itself */ }
  }
  function follow(hash) {
    const { settings: wanted, step: at, problem: wrong } = Editor.read(hash, settings, data.dialects);
    change(wanted, { at, wrong });
  }

  // --- controls --------------------------------------------------------------------------------------------------------

  function pause() {
    clearInterval(timer);
    timer = 0;
    $("play").setAttribute("aria-label", "Play");
    $("play").classList.remove("playing");
  }
  function playOrPause() {
    if (timer) { pause(); return; }
    if (step === played.steps.length - 1) go(0);
    timer = setInterval(() => go(step + 1), 1400);
    $("play").setAttribute("aria-label", "Pause");
    $("play").classList.add("playing");
  }
  const toKey = (by) => {
    const key = played.steps[step].key + by;
    if (played.keys[key]) go(played.keys[key].first);
  };
  const act = (id, work) => $(id).addEventListener("click", () => { pause(); if ($(id).getAttribute("aria-disabled") !== "true") work(); });
  const moves = { first: () => go(0), back: () => go(step - 1), next, last: () => go(Infinity), "key-back": () => toKey(-1), "key-next": () => toKey(1) };
  for (const [id, work] of Object.entries(moves)) act(id, work);
  $("play").addEventListener("click", playOrPause);
  $("slider").addEventListener("input", () => { pause(); go(Number($("slider").value)); });
  $("ghosts").addEventListener("change", () => { drawPictures(); go(step); });
  function toggle(id, on = !pressed(id)) {
    $(id).setAttribute("aria-pressed", String(on));
    document.body.classList.toggle(id, on);
    zoom = { nfa: 1, dfa: 1 };
    makeRoom(0);
    drawPictures();
    showWords();
    go(step);
  }
  for (const id of ["lecture", "predict"]) $(id).addEventListener("click", () => toggle(id));
  for (const [name, canvas] of Object.entries(canvases)) for (const button of canvas.parentElement.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => {
    zoom[name] = { in: Math.min(8, zoom[name] * 1.3), out: Math.max(0.3, zoom[name] / 1.3), fit: 1 }[button.dataset.zoom];
    Picture.fit(canvas, zoom[name], zoom[name] === 1 ? least() : 0);
    Picture.reveal(canvas, [...canvas.querySelectorAll(".hit")]);
  });
  $("theme").addEventListener("click", () => {
    const order = ["auto", "light", "dark"], theme = order[(order.indexOf(document.documentElement.dataset.theme) + 1) % 3];
    document.documentElement.dataset.theme = theme;
    $("theme").textContent = `Theme: ${theme}`;
  });
  $("link").addEventListener("click", async () => {
    const link = location.href.split("#")[0] + Editor.written(settings, step);
    try {
      await navigator.clipboard.writeText(link);
      $("link").textContent = "Copied";
    } catch { // browsers allow access to the clipboard on some pages only
      prompt("The link to this page as it stands:", link);
    }
    setTimeout(() => { $("link").textContent = "Copy link"; }, 1500);
  });
  /** What a printed step is of, for who has the sheet alone. */
  const sheetHead = (told) => make("p", { class: "muted" }, `${$("position").textContent} · Key `, Panels.patternElement(told.key, settings.dialect), " · Patterns ", ...settings.patterns.flatMap((one, index) => [...(index ? [", "] : []), Panels.patternElement(one, settings.dialect)]));
  $("save-svg").addEventListener("click", () => Exports.save(canvases, step));
  $("print").addEventListener("click", () => print());
  $("print-all").addEventListener("click", () => {
    const told = models.key, back = step;
    Exports.pages($("pages"), told.last - told.first + 1, (index) => { go(told.first + index); return [sheetHead(told), $("story"), canvases.nfa, canvases.dfa]; });
    go(back);
    document.body.classList.add("print-all");
    print();
    document.body.classList.remove("print-all");
    $("pages").replaceChildren();
  });
  // Who speaks to a computer says letters without meaning a page's keys, so these can be switched off, and stay so.
  const kept = (work) => { try { return work(localStorage); } catch { return null; } }; // some pages may keep nothing
  $("letters").checked = kept((store) => store.getItem("letters")) !== "off";
  $("letters").addEventListener("change", () => kept((store) => store.setItem("letters", $("letters").checked ? "on" : "off")));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && pressed("lecture")) { toggle("lecture", false); return; } // wherever the focus is
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, select, input[type=range]")) return;
    const scrolls = event.target.closest(".canvas, [tabindex]:not(.node)"), box = scrolls?.scrollWidth > scrolls?.clientWidth || scrolls?.scrollHeight > scrolls?.clientHeight;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const letters = { l: () => toggle("lecture"), p: () => toggle("predict") };
    const presenter = pressed("lecture") ? { PageDown: moves.next, PageUp: moves.back } : {};
    if (box && !(key in letters || key in presenter)) return; // arrow keys scroll a focused picture that is too wide
    const onButton = event.target.matches("button, input, a, summary"), several = played.keys.length > 1;
    const work = {
      ArrowRight: moves.next, ArrowLeft: moves.back, Home: moves.first, End: moves.last, PageDown: several && moves["key-next"], PageUp: several && moves["key-back"],
      " ": onButton ? null : playOrPause, ...($("letters").checked && letters), ...presenter,
    }[key];
    if (!work) return; // the key does what it does on any page
    event.preventDefault();
    if (key !== " ") pause();
    work();
  });
  // Who goes back through the page with Shift+Tab has what gets the focus below the steps: to a browser, what they cover is in view.
  // Room that style sheets leave for them (scroll-padding) would make the page jump where the focus goes into the steps themselves.
  document.querySelector("main").addEventListener("focusin", ({ target }) => {
    if (getComputedStyle($("dock")).position !== "sticky" || !target.matches(":focus-visible")) return;
    const covered = $("dock").getBoundingClientRect().bottom - target.getBoundingClientRect().top;
    if (covered > 0) scrollBy(0, -covered - 8);
  });
  // Beside an essay pictures begin where the steps end; and steps that fill a small screen go away with the page, or what is lowest of
  // them could not be reached.
  function placeDock() {
    const height = $("dock").offsetHeight;
    document.body.style.setProperty("--dock", `${height}px`);
    $("dock").classList.toggle("tall", height > 0.8 * innerHeight);
    if (document.body.classList.contains("with-essay")) fit();
  }
  new ResizeObserver(placeDock).observe($("dock"));
  for (const link of document.querySelectorAll("a.button[href^='#']")) link.addEventListener("click", (event) => {
    event.preventDefault();
    location.hash = link.hash; // so that the browser goes back from there
    follow(link.hash);
    if (document.querySelector(".pictures").getBoundingClientRect().bottom > innerHeight) $("dock").scrollIntoView();
  });
  addEventListener("hashchange", () => { if (location.hash !== fragment) follow(location.hash); });
  let width = innerWidth, height = innerHeight;
  addEventListener("resize", () => {
    if (innerWidth === width && Math.abs(innerHeight - height) < 120) return; // a phone's bars come and go while it scrolls
    [width, height] = [innerWidth, innerHeight];
    makeRoom(0);
    placeDock();
    drawPictures();
    go(step);
  });

  const opened = location.hash; // read here, because change() replaces it
  Editor.start(data, change);
  if (opened.length > 1) follow(opened);
  if (!played) { // the link says what cannot be shown: the page begins as it is without one, or with a # alone, and tells why
    let why = $("error").textContent;
    if (!change(settings)) {
      why ||= $("error").textContent;
      change({ ...settings, patterns: ["#"], keys: [""] });
    }
    if (why) Object.assign($("error"), { textContent: why, hidden: false });
  }
})();

// An essay's sections: what comes into view is what the page shows.
{
  const sections = [...document.querySelectorAll("[data-shows]")];
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) {
      if (location.hash !== target.dataset.shows) location.hash = target.dataset.shows;
      for (const section of sections) section.classList.toggle("read-now", section === target);
    }
  }, { rootMargin: "-15% 0px -45% 0px" });
  for (const section of sections) seen.observe(section);
}
