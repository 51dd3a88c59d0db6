// The answers side by side. Whatever a model said is put in as text; nothing here reads it as anything else.
"use strict";
(() => {
  const { baseline, flips, words: translated } = JSON.parse(document.getElementById("answers").textContent);
  // The catalogue's own words in place of the English ones, with values put in where their names stand.
  const say = (text, values = {}) => (translated[text] || text).replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const WHAT = { "newly wrong": say("newly wrong"), "newly right": say("newly right"), "differs": say("differs") };
  const ORDER = Object.keys(WHAT);
  flips.sort((a, b) => ORDER.indexOf(a.what) - ORDER.indexOf(b.what)); // stable: the most telling stay first
  const PAGE = 20;
  const MOST_CELLS = 4e6; // of the diff's table: beyond, all between the equal ends counts as changed
  const $ = (id) => document.getElementById(id);

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  // Words, spaces, and single characters of scripts that put no spaces between words.
  const words = (text) => text.match(/\s+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}_]+|[^]/gu) || [];

  // Longest common subsequence: for each word of either side, whether the other one has it too.
  function shared(a, b) {
    const inA = a.map(() => false), inB = b.map(() => false);
    let start = 0, endA = a.length, endB = b.length;
    while (start < endA && start < endB && a[start] === b[start]) { inA[start] = inB[start] = true; start++; }
    while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { inA[--endA] = inB[--endB] = true; }
    const n = endA - start, m = endB - start, width = m + 1;
    if (n * m > MOST_CELLS) return { inA, inB };
    const length = new Uint16Array((n + 1) * width);
    for (let i = n - 1; i >= 0; i--) for (let j = m - 1; j >= 0; j--) {
      const at = i * width + j;
      length[at] = a[start + i] === b[start + j] ? length[at + width + 1] + 1 : Math.max(length[at + width], length[at + 1]);
    }
    for (let i = 0, j = 0; i < n && j < m;) {
      const at = i * width + j;
      if (a[start + i] === b[start + j]) { inA[start + i++] = inB[start + j++] = true; }
      else if (length[at + width] >= length[at + 1]) i++;
      else j++;
    }
    return { inA, inB };
  }

  // One side's text: what the other side lacks is marked, and so is the first word with which it leaves the other.
  function marked(list, same, leaves, name) {
    const box = make("pre", { tabindex: "0" });
    for (let i = 0; i < list.length;) {
      let end = i + 1;
      while (end < list.length && same[end] === same[i] && end !== leaves && i !== leaves) end++;
      const text = list.slice(i, end).join("");
      const inner = i === leaves ? make("mark", { title: say("here the two part") }, text) : text;
      box.append(same[i] ? inner : make(name, {}, inner));
      i = end;
    }
    if (leaves === list.length) box.append(make("mark", { title: say("here the two part") }, say("⏹ ends here")));
    return box;
  }

  function compared(ours, theirs) {
    const a = words(ours), b = words(theirs);
    const { inA, inB } = shared(a, b);
    let leaves = 0;
    while (leaves < a.length && leaves < b.length && a[leaves] === b[leaves]) leaves++;
    if (leaves === a.length && leaves === b.length) leaves = -1;
    return [marked(a, inA, leaves, "del"), marked(b, inB, leaves, "ins")];
  }

  function facts(side) {
    const said = [];
    if (side.tokens !== undefined) said.push(say("{n} tokens", { n: side.tokens }));
    if (side.seconds !== undefined) said.push(`${side.seconds.toFixed(2)} s`);
    if (side.finish && side.finish !== "stop") said.push(say("finish: {reason}", { reason: side.finish }));
    return said.join(say(", "));
  }

  function column(name, side, reasoning, text) {
    const answer = side.answer === undefined ? [] : [" ", make("code", {}, side.answer)];
    return make("div", {},
      make("h3", {}, `${name}${say(": ")}${side.mark}`, ...answer),
      make("p", { class: "note" }, facts(side)),
      side.why ? make("p", { class: "said" }, side.why) : null,
      side.reasoning ? make("details", {}, make("summary", {}, say("Reasoning")), reasoning) : null,
      side.text ? text : make("p", { class: "note" }, say("(no text)")));
  }

  function parting(flip) {
    const said = [];
    if (flip.parting) said.push(say("They part at {place} (tokens counted from 0). The word there is framed.", { place: flip.parting }));
    else if (flip.baseline.text && flip.candidate.text) said.push(say("The word at which they part is framed."));
    if (flip.shares) said.push(say("Right in {shares} % of rounds.", { shares: flip.shares.map((s) => Math.round(100 * s)).join(" → ") }));
    return said.join(say(" "));
  }

  function panel(flip) {
    const [a, b] = [flip.baseline, flip.candidate];
    const [thoughtA, thoughtB] = compared(a.reasoning || "", b.reasoning || "");
    const [textA, textB] = compared(a.text || "", b.text || "");
    return make("div", { class: "panel", role: "group", "aria-label": `${flip.arm} · ${flip.task} · ${flip.id}` },
      flip.question ? make("pre", { tabindex: "0" }, flip.question) : null,
      flip.target ? make("p", {}, say("Expected: "), make("code", {}, flip.target)) : null,
      make("p", { class: "note" }, parting(flip)),
      make("div", { class: "sides" }, column(baseline, a, thoughtA, textA), column(flip.arm, b, thoughtB, textB)));
  }

  const outcome = (flip) => `${flip.baseline.mark} → ${flip.candidate.mark}`;
  const FILTERS = [["arm", say("Candidate"), (f) => f.arm], ["task", say("Task"), (f) => f.task],
    ["what", say("Change"), (f) => f.what, (what) => WHAT[what]], ["outcome", say("Outcome"), outcome]];
  const CLASSES = { "newly wrong": "lost", "newly right": "won" };
  let found = flips, visible = PAGE;

  // Of a long text with a needle in it the end tells what was asked.
  const glance = (question) => question.startsWith("\n[…") ? `… ${question.slice(-90)}` : question.slice(0, 200);

  function item(flip) {
    const button = make("button", { type: "button", class: "flip", "aria-expanded": "false" },
      make("span", { class: `tag ${CLASSES[flip.what] || "differs"}` }, WHAT[flip.what]),
      make("span", { class: "where" }, `${flip.arm} · ${flip.task} · ${flip.id}`),
      make("span", { class: "asked" }, glance(flip.question || "")));
    const line = make("li", {}, button);
    button.addEventListener("click", () => toggle(line, flip, button.getAttribute("aria-expanded") === "false"));
    line.addEventListener("keydown", (event) => {
      if (event.key === "Escape") { toggle(line, flip, false); button.focus(); }
    });
    return line;
  }

  function toggle(line, flip, open) {
    line.querySelector(".flip").setAttribute("aria-expanded", String(open));
    line.classList.toggle("open", open);
    line.querySelector(".panel")?.remove();
    if (open) line.append(panel(flip));
  }

  function show() {
    const list = $("list");
    list.replaceChildren(...found.slice(0, visible).map(item));
    $("count").textContent = found.length === flips.length
      ? say("{n} answers", { n: found.length }) : say("{n} of {all} answers", { n: found.length, all: flips.length });
    const more = $("more"), left = found.length - visible;
    more.hidden = left <= 0;
    more.textContent = say("Show {n} more of {all}", { n: Math.min(PAGE, left), all: left });
  }

  function filter() {
    const search = $("search").value.toLowerCase();
    const wanted = FILTERS.map(([name, , of]) => [$(`by-${name}`).value, of]).filter(([value]) => value);
    found = flips.filter((flip) => wanted.every(([value, of]) => of(flip) === value)
      && `${flip.id}\n${flip.question || ""}`.toLowerCase().includes(search));
    visible = PAGE;
    show();
  }

  function choices() {
    for (const [name, label, of, shown = (value) => value] of FILTERS) {
      const count = new Map();
      for (const flip of flips) count.set(of(flip), (count.get(of(flip)) || 0) + 1);
      const options = [...count].map(([value, n]) => make("option", { value }, `${shown(value)} (${n})`));
      const select = make("select", { id: `by-${name}` }, make("option", { value: "" }, say("all")), ...options);
      $("filters").append(make("label", {}, label, select));
      select.addEventListener("change", filter);
    }
    const search = make("input", { id: "search", type: "search", autocomplete: "off" });
    $("filters").append(make("label", {}, say("Id or question"), search));
    search.addEventListener("input", filter);
    $("filters").addEventListener("submit", (event) => event.preventDefault());
  }

  function step(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || !event.target.classList.contains("flip")) return;
    const buttons = [...$("list").querySelectorAll(".flip")];
    const next = buttons[buttons.indexOf(event.target) + by];
    if (next) { next.focus(); event.preventDefault(); }
  }

  if ($("explorer")) {
    document.documentElement.classList.add("js");
    $("explorer").hidden = false;
    choices();
    $("list").addEventListener("keydown", step);
    $("more").addEventListener("click", () => { visible += PAGE; show(); });
    show();
  }

  // Paper has no folds.
  const folded = [];
  addEventListener("beforeprint", () => {
    folded.push(...document.querySelectorAll("details:not([open])"));
    for (const fold of folded) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of folded.splice(0)) fold.open = false; });
})();
