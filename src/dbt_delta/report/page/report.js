"use strict";
/* Draws the document in the element `data`. Texts are set as text, never as HTML: names may be anything. */
const doc = JSON.parse(document.getElementById("data").textContent);
const STATES = {p: "ok", u: "none", w: "warn", f: "error", e: "error", k: "none", "?": "none"};
const WORDS = {
  p: "passed", u: "unchanged", w: "warned", f: "failed", e: "error", k: "skipped", "?": "unknown", ".": "did not run",
};
const METRICS = {
  seconds: {title: "Duration", show: duration, unit: "seconds"},
  cpu: {title: "CPU", show: duration, unit: "CPU seconds of the executors"},
  read: {title: "Bytes read", show: bytes, unit: "bytes"},
  written: {title: "Bytes written", show: bytes, unit: "bytes"},
};
const byPosition = (list, places) => places.map(place => list[place]);

// Elements -------------------------------------------------------------------------------------

function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined));
  return made;
}
const hasNone = node => node.what === "view" || node.kind === "exposure";
const unknown = () => el("span", {class: "unknown"}, "unknown");
const or = (value, show) => (value === null || value === undefined ? unknown() : show ? show(value) : String(value));
const state = (kind, text) => el("span", {class: `state ${kind}`}, text);
const result = letter => state(STATES[letter] || "none", WORDS[letter] || "unknown");

// Words and numbers ----------------------------------------------------------------------------

function duration(seconds) {
  if (seconds < 10) return `${(+seconds).toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}
function bytes(count) {
  for (const [size, unit] of [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) {
    if (count >= size) return `${(count / size).toFixed(count < 10 * size ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(count)} B`;
}
const number = count => Math.round(count).toLocaleString("en");
const time = seconds => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
const ago = seconds => `${duration(Math.max(0, doc.made - seconds))} ago`;
const stamp = seconds => el("time", {datetime: new Date(seconds * 1000).toISOString(), title: `${time(seconds)} UTC`}, ago(seconds));
const plural = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

// Tables ---------------------------------------------------------------------------------------

/* columns: {title, of(row) -> value to sort by, show(row) -> text or element, num, long}. */
function table(label, columns, rows, {sort = null, down = true, limit = 20} = {}) {
  let by = sort, falls = down, all = rows.length <= limit + 5;
  const head = el("tr"), body = el("tbody");
  const more = el("button", {type: "button", class: "more", onclick: () => { all = true; draw(); }}, `Show all ${number(rows.length)}`);
  columns.forEach((column, place) => {
    const button = el("button", {type: "button", onclick: () => {
      falls = by === place ? !falls : Boolean(column.num);
      by = place;
      draw();
    }}, column.title);
    head.append(el("th", {scope: "col", class: column.num ? "num" : null}, button));
  });
  function draw() {
    [...head.children].forEach((cell, place) => {
      if (place === by) cell.setAttribute("aria-sort", falls ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const known = value => value !== null && value !== undefined;
    const sorted = by === null ? rows : [...rows].sort((a, b) => {
      const [x, y] = [columns[by].of(a), columns[by].of(b)];
      if (!known(x) || !known(y)) return known(y) - known(x);
      return (x < y ? -1 : x > y ? 1 : 0) * (falls ? -1 : 1);
    });
    body.replaceChildren(...(all ? sorted : sorted.slice(0, limit)).map(row => el("tr", {}, columns.map((column, place) => {
      const shown = column.show ? column.show(row) : or(column.of(row));
      const kind = [column.num ? "num" : "", column.long ? "long" : ""].join(" ").trim() || null;
      return place === 0 ? el("th", {scope: "row", class: kind}, shown) : el("td", {class: kind}, shown);
    }))));
    more.hidden = all;
  }
  draw();
  const scroll = el("div", {class: "scroll", role: "region", "aria-label": label, tabindex: 0}, el("table", {}, el("thead", {}, head), body));
  return el("div", {class: "card-part", style: "display:grid;gap:.5rem"}, scroll, more);
}
const column = (title, of, show, more = {}) => ({title, of, show: row => or(of(row), value => (show ? show(value, row) : String(value))), ...more});
/* Of a table; a view has none, which is not the same as unknown. */
const ofTable = (title, of, show) => ({title, of, num: true, show: node => (hasNone(node) ? "" : or(of(node), show))});
const figure = (title, of, show) => column(title, of, show || number, {num: true});

// Charts ---------------------------------------------------------------------------------------

const redraws = [];
let drawnAt = 0;
/* A chart that follows its width, with a caption and its numbers as a table. */
function chart(caption, label, options, numbers = null, onpick = null) {
  const place = el("div", {class: "plot"});
  const holder = el("figure", {}, el("figcaption", {}, caption), place);
  function draw() {
    const width = Math.floor(place.clientWidth || holder.clientWidth);
    if (!width) return;
    const made = Plot.plot({width, style: {background: "transparent", fontSize: "11px", fontFamily: "inherit"}, ...options(width)});
    const drawing = made.tagName === "svg" ? made : made.querySelector("svg");
    drawing.setAttribute("role", "img");
    drawing.setAttribute("aria-label", label);
    if (onpick) {
      made.addEventListener("click", () => made.value && onpick(made.value));
      drawing.style.cursor = "pointer";
    }
    place.replaceChildren(made);
  }
  if (numbers) {
    const more = el("details", {}, el("summary", {}, "Numbers"));
    more.addEventListener("toggle", () => more.open && more.children.length === 1 && more.append(numbers()), {once: true});
    holder.append(more);
  }
  holder.draw = draw;
  redraws.push(holder);
  return holder;
}
function redraw() {
  for (const one of redraws) if (one.isConnected) one.draw();
  drawEdges();
}
const color = name => `var(--${name})`;
const ofState = kind => color(kind === "none" ? "unknown" : kind);
const symbols = {ok: "circle", warn: "triangle", error: "square", none: "times"};
const legend = entries => el("ul", {class: "legend"}, entries.map(([fill, text]) => el("li", {}, el("span", {class: "swatch", style: `background:${fill}`}), text)));
const short = count => count < 1e3 ? String(+(+count).toPrecision(3)) : d3.format(".2~s")(count);
function axis(metric, most) {
  if (metric === "seconds" || metric === "cpu") return most > 7200 ? {label: "hours", transform: v => v / 3600} : most > 300 ? {label: "minutes", transform: v => v / 60} : {label: METRICS[metric].unit};
  return {label: METRICS[metric] ? METRICS[metric].unit : null, tickFormat: short};
}

/* One number per run or change over time, with what stands out as a ring. `points`: {at, value, odd}. */
function trend(caption, points, show, noun) {
  const known = points.filter(point => point.value !== null && point.value !== undefined);
  if (!known.length) return el("figure", {}, el("figcaption", {}, caption), el("p", {}, unknown()));
  const odd = known.filter(point => point.odd);
  const last = known[known.length - 1];
  const label = `${caption}: ${plural(known.length, noun)}, the last ${show(last.value)}${odd.length ? `, ${odd.length} stand out` : ""}`;
  return chart(caption, label, () => ({
    height: 130, marginLeft: 48, marginTop: 12,
    x: {type: "utc", label: null}, y: {label: null, grid: true, zero: true, ticks: 4, tickFormat: short},
    marks: [
      Plot.lineY(known, {x: p => new Date(p.at * 1000), y: "value", stroke: color("fill"), strokeWidth: 1.5}),
      Plot.dot(known, {x: p => new Date(p.at * 1000), y: "value", r: 2, fill: color("fill")}),
      Plot.dot(odd, {x: p => new Date(p.at * 1000), y: "value", r: 5, stroke: color("error"), strokeWidth: 1.5}),
      Plot.tip(known, Plot.pointerX({x: p => new Date(p.at * 1000), y: "value", title: p => `${time(p.at)}\n${show(p.value)}${p.odd ? ", stands out" : ""}`})),
    ],
  }), () => table(caption, [column("Time (UTC)", p => p.at, time), figure(caption, p => p.value, show), column("Stands out", p => (p.odd ? "yes" : ""))], known, {sort: 0}));
}

// What follows from the document ---------------------------------------------------------------

const nodes = doc.nodes, runs = doc.runs, tests = doc.tests;
nodes.forEach((node, place) => {
  node.place = place;
  node.children = [];
  const letters = [...(node.runs.status || "")];
  const last = letters.map((letter, i) => [letter, i]).filter(([letter]) => "pefw".includes(letter)).pop();
  node.last = last ? last[0] : letters.length ? letters[letters.length - 1] : null;
  node.at = last ? last[1] : null;
  node.failing = node.tests.filter(t => tests[t].state === "failing").length;
});
nodes.forEach(node => node.parents.forEach(parent => nodes[parent].children.push(node.place)));
const latest = (node, key) => {
  const values = (node.runs[key] || []).filter(value => value !== null);
  return values.length ? values[values.length - 1] : null;
};
const total = (node, key) => {
  const values = (node.runs[key] || []).filter(value => value !== null);
  return values.length ? d3.sum(values) : null;
};
const sum = values => {
  const known = values.filter(value => value !== null && value !== undefined);
  return known.length ? d3.sum(known) : null;
};
const nodeState = node => (node.failing ? "error" : STATES[node.last] || "none");
const stored = nodes.filter(node => node.store);
const built = nodes.filter(node => ["model", "seed", "snapshot"].includes(node.kind));
const nodeLink = node => el("button", {type: "button", class: "link", onclick: () => open("node", node.place)}, node.name);
const runLink = run => el("button", {type: "button", class: "link", onclick: () => open("run", runs.indexOf(run))}, time(run.started));
const metric = (run, key) => (key === "seconds" ? run.seconds : run.cost && run.cost[key]);
const places = run => nodes.flatMap(node => {
  const at = (node.runs.run || []).indexOf(runs.indexOf(run));
  return at < 0 ? [] : [{node, at, get: key => { const c = node.runs[key]; return c === undefined ? null : c[at]; }}];
});

// Parts ----------------------------------------------------------------------------------------

function overview() {
  const last = [...runs].reverse().find(run => run.status) || runs[runs.length - 1];
  const bad = nodes.filter(node => "ef".includes(node.last || " ")).length;
  const told = tests.filter(test => test.state);
  const late = nodes.filter(node => node.fresh && node.fresh.state === "late").length;
  const live = sum(stored.map(node => node.store.bytes)), free = sum(stored.map(node => node.store.reclaimable_bytes));
  const cpu = sum(runs.map(run => metric(run, "cpu")));
  const flaky = tests.filter(test => test.state === "flaky").length;
  const failing = tests.filter(test => test.state === "failing").length;
  const tile = (title, value, about) => el("div", {class: "tile"}, el("dt", {}, title), el("dd", {}, value), el("p", {}, about));
  const list = doc.attention.map(one => el("li", {}, state(one.level, one.level === "error" ? "error" : "warning"), attended(one)));
  return [
    el("dl", {class: "tiles"},
      tile("Last run", last ? (last.status ? state(last.status, last.status === "ok" ? "passed" : last.status === "warn" ? "warned" : "failed") : unknown()) : unknown(), last ? [stamp(last.started), last.seconds === null ? "" : `, took ${duration(last.seconds)}`] : "no run is kept"),
      tile("Nodes that failed", or(runs.length ? bad : null, number), `of ${number(built.length)} in their last run`),
      tile("Failing tests", or(told.length ? failing : null, number), `of ${number(tests.length)}; ${flaky} flaky`),
      tile("Late tables", or(nodes.some(n => n.fresh && n.fresh.state) ? late : null, number), `of ${nodes.filter(n => n.fresh && n.fresh.state).length} with a limit or a habit`),
      tile("Live data", or(live, bytes), plural(stored.length, "table")),
      tile("Reclaimable", or(free, bytes), "what VACUUM would remove"),
      tile("CPU", or(cpu, duration), "of the executors, all runs"),
    ),
    part("attention", "Needs attention", el("ul", {class: "attention"}, list.length ? list : el("li", {}, state("ok", "ok"), "Nothing stands out."))),
  ];
}
function attended(one) {
  if ("node" in one) return el("button", {type: "button", class: "link", onclick: () => open("node", one.node)}, one.text);
  if ("test" in one && tests[one.test].of.length) return el("button", {type: "button", class: "link", onclick: () => open("node", tests[one.test].of[0])}, one.text);
  return el("span", {}, one.text);
}
function part(id, title, ...content) {
  return el("section", {class: "card", id, "aria-labelledby": `${id}-title`}, el("h2", {id: `${id}-title`}, title), ...content);
}
const SHORT = {attention: "Attention", expectations: "Expectations", storage: "Storage", snapshots: "Snapshots", publish: "Published"};
/* Buttons of which one is chosen. */
function choice(label, entries, chosen, onchange) {
  const buttons = entries.map(([key, text]) => el("button", {type: "button", "aria-pressed": String(key === chosen), onclick: event => {
    buttons.forEach(button => button.setAttribute("aria-pressed", String(button === event.currentTarget)));
    onchange(key);
  }}, text));
  return el("div", {class: "controls", role: "group", "aria-label": label}, buttons);
}
const metricChoice = (label, chosen, onchange, more = []) => choice(label, [...Object.entries(METRICS).map(([key, one]) => [key, one.title]), ...more], chosen, onchange);

function runsPart() {
  if (!runs.length) return part("runs", "Runs", el("p", {class: "note"}, "No run is kept yet. Each dbt command that runs nodes keeps one from now on."));
  const holder = el("div");
  const kindOf = run => run.status || "none";
  function show(key) {
    const points = runs.map(run => ({run, at: new Date(run.started * 1000), value: metric(run, key), kind: kindOf(run)}));
    const known = points.filter(p => p.value !== null && p.value !== undefined), missing = points.filter(p => p.value === null || p.value === undefined);
    const most = d3.max(known, p => p.value) || 0;
    const made = chart(
      `${METRICS[key].title} of each run, by the time it began (UTC).${missing.length ? ` A cross below is a run of which this is unknown.` : ""}`,
      `${METRICS[key].title} of ${plural(known.length, "run")}${known.length ? `, the last ${METRICS[key].show(known[known.length - 1].value)}` : ""}`,
      () => ({
        height: 220, marginLeft: 48, x: {type: "utc", label: null, inset: 6}, y: {...axis(key, most), grid: true, zero: true, nice: true},
        symbol: {domain: Object.keys(symbols), range: Object.values(symbols)},
        marks: [
          Plot.ruleY([0], {stroke: color("line")}),
          Plot.ruleX(known, {x: "at", y1: 0, y2: "value", stroke: color("fill-soft"), strokeWidth: Math.max(1, Math.min(8, 600 / runs.length))}),
          Plot.dot(known, {x: "at", y: "value", symbol: "kind", fill: p => ofState(p.kind), r: 4}),
          Plot.dot(missing, {x: "at", frameAnchor: "bottom", symbol: "times", stroke: color("unknown"), r: 4}),
          Plot.tip(points, Plot.pointerX({x: "at", y: p => p.value ?? 0, title: p => `${time(p.run.started)} ${p.run.command || "command unknown"}\n${p.value === null || p.value === undefined ? "unknown" : METRICS[key].show(p.value)}\n${p.run.status || "result unknown"}`})),
        ],
      }), null, point => open("run", runs.indexOf(point.run)));
    holder.replaceChildren(made);
    made.draw();
  }
  const marks = legend([[color("ok"), "passed"], [color("warn"), "warned"], [color("error"), "failed"], [color("unknown"), "unknown: only its commits are there"]]);
  const content = part("runs", "Runs", el("div", {class: "head"}, metricChoice("What the chart of runs shows", "seconds", show), marks), holder,
    table("Runs", [
      {title: "Began (UTC)", of: run => run.started, show: runLink},
      column("Command", run => run.command),
      {title: "Result", of: run => kindOf(run), show: run => (run.status ? state(run.status, run.status === "ok" ? "passed" : run.status === "warn" ? "warned" : "failed") : unknown())},
      figure("Duration", run => run.seconds, duration),
      figure("Ran", run => (run.status ? d3.sum(Object.entries(run.counts).filter(([l]) => "pefw".includes(l)), e => e[1]) : null)),
      figure("Failed", run => (run.status ? (run.counts.e || 0) + (run.counts.f || 0) : null)),
      figure("Unchanged", run => (run.status ? run.counts.u || 0 : null)),
      figure("Skipped", run => (run.status ? run.counts.k || 0 : null)),
      figure("CPU", run => metric(run, "cpu"), duration),
      figure("Read", run => metric(run, "read"), bytes),
      figure("Written", run => metric(run, "written"), bytes),
    ], runs, {sort: 0, limit: 8}));
  later.push(() => show("seconds"));
  return content;
}
const later = [];

function modelsPart() {
  const holder = el("div"), list = el("div");
  const ofKey = {seconds: n => latest(n, "seconds"), cpu: n => latest(n, "cpu"), read: n => latest(n, "read"), written: n => latest(n, "written"), rows: n => n.store && n.store.rows, bytes: n => n.store && n.store.bytes};
  const title = {...Object.fromEntries(Object.entries(METRICS).map(([k, m]) => [k, `${m.title} of the last run of each node`])), rows: "Rows of the newest version", bytes: "Size of the newest version"};
  const shows = {seconds: duration, cpu: duration, read: bytes, written: bytes, rows: number, bytes};
  function show(key) {
    const all = built.map(node => ({node, name: node.name, value: ofKey[key](node), odd: (node.odd[key] || []).includes(node.at)})).filter(one => one.value !== null && one.value !== undefined);
    const top = d3.sort(all, one => -one.value).slice(0, 12);
    const missing = built.length - all.length;
    if (!top.length) { holder.replaceChildren(el("p", {}, unknown())); return; }
    const made = chart(`${title[key]}: the largest ${top.length} of ${built.length}.${missing ? ` Unknown of ${missing}.` : ""} Red stands out from earlier runs.`,
      `${title[key]}: ${top.slice(0, 3).map(one => `${one.name} ${shows[key](one.value)}`).join(", ")}`,
      width => ({
        height: 26 + 21 * top.length, marginLeft: gutter(width), marginTop: 4, marginBottom: 22, marginRight: 58,
        x: {label: null, ticks: Math.max(2, Math.floor(width / 160)), tickFormat: short, grid: true}, y: {label: null, domain: top.map(one => one.name), tickSize: 0, tickFormat: name => clipped(name, width)},
        marks: [
          Plot.barX(top, {x: "value", y: "name", fill: one => (one.odd ? color("error") : color("fill")), insetTop: 2, insetBottom: 2, title: one => `${one.name}: ${shows[key](one.value)}`}),
          Plot.text(top, {x: "value", y: "name", text: one => shows[key](one.value), textAnchor: "start", dx: 4, fill: color("soft")}),
        ],
      }));
    holder.replaceChildren(made);
    made.draw();
  }
  function fill(text) {
    const wanted = built.filter(node => node.name.toLowerCase().includes(text.toLowerCase()));
    list.replaceChildren(table("Models, seeds and snapshots", [
      {title: "Node", of: node => node.name, show: nodeLink},
      column("Kind", node => (node.kind === "model" ? node.what : node.kind)),
      {title: "Last result", of: node => node.last, show: node => (node.last ? result(node.last) : unknown())},
      figure("Duration", node => latest(node, "seconds"), duration),
      figure("Usually", node => node.usual.seconds, duration),
      figure("All runs", node => total(node, "seconds"), duration),
      figure("CPU", node => latest(node, "cpu"), duration),
      figure("Read", node => latest(node, "read"), bytes),
      figure("Written", node => latest(node, "written"), bytes),
      ofTable("Rows", node => node.store && node.store.rows, number),
      ofTable("Size", node => node.store && node.store.bytes, bytes),
      {title: "Failing", num: true, of: node => node.failing, show: node => (!node.tests.length ? "" : node.tests.some(t => tests[t].state) ? number(node.failing) : unknown())},
    ], wanted, {sort: 5, limit: 15}));
  }
  fill("");
  later.push(() => show("seconds"));
  const search = el("input", {type: "search", placeholder: "Find a node", "aria-label": "Find a node by its name", oninput: event => fill(event.target.value)});
  return part("models", "Models", el("div", {class: "head"}, metricChoice("What the chart of models shows", "seconds", show, [["rows", "Rows"], ["bytes", "Size"]]), search), holder, list);
}
const gutter = width => Math.min(230, Math.max(110, width * .36));
const clipped = (name, width) => { const most = Math.floor(gutter(width) / 7); return name.length > most ? `${name.slice(0, most - 1)}…` : name; };

function freshnessPart() {
  const known = nodes.filter(node => node.fresh);
  if (!known.length) return null;
  return part("freshness", "Freshness", el("p", {class: "hint"}, "When rows last changed. A table is late after the limit: the one of the source's freshness, else three times its usual gap between changes, and an hour at least."),
    table("Freshness", [
      {title: "Table", of: node => node.name, show: nodeLink},
      {title: "State", of: node => node.fresh.state, show: node => (node.fresh.state ? state(node.fresh.state === "late" ? "error" : "ok", node.fresh.state) : unknown())},
      {title: "Rows changed", of: node => node.fresh.changed, show: node => or(node.fresh.changed, stamp), num: true},
      figure("Usual gap", node => node.fresh.gap, duration),
      figure("Late after", node => node.fresh.limit, duration),
    ], known, {sort: 1, limit: 10}));
}

function testsPart() {
  if (!tests.length) return null;
  const shown = tests.filter(test => /[few]/.test(test.results));
  const never = tests.filter(test => !test.state).length;
  const counts = runs.flatMap((run, at) => ["p", "w", "f"].map(kind => ({at, run, kind, count: tests.filter(test => (test.results[at] === "e" ? "f" : test.results[at]) === kind).length}))).filter(one => one.count);
  const order = ["p", "w", "f"], fills = [color("fill-soft"), color("warn"), color("error")];
  const ticks = width => d3.range(0, runs.length, Math.max(1, Math.ceil(runs.length / Math.max(2, Math.floor(width / 70)))));
  const day = at => time(runs[at].started).slice(5, 10);
  const content = [el("p", {class: "hint"}, `${plural(tests.length, "test")}: ${shown.length ? `${shown.length} failed or warned at least once, ` : ""}${never ? `of ${never} no result is known, ` : ""}${tests.length - shown.length - never} always passed. A test is flaky that changed between passing and not at least three times.`)];
  if (counts.length) {
    content.push(chart("Results of tests in each run", `Results of tests in ${plural(runs.length, "run")}`, width => ({
      height: 120, marginLeft: 40, x: {domain: d3.range(runs.length), ticks: ticks(width - 60), tickFormat: day, label: null, type: "band", padding: .1}, y: {label: null, grid: true, ticks: 4},
      color: {domain: order, range: fills}, marks: [Plot.barY(counts, {x: "at", y: "count", fill: "kind", order, title: one => `${time(one.run.started)}: ${one.count} ${WORDS[one.kind]}`})],
    })));
    content.push(legend([[fills[0], "passed"], [fills[1], "warned"], [fills[2], "failed"]]));
  }
  if (shown.length) {
    const top = d3.sort(shown, test => -test.flips, test => test.name).slice(0, 30);
    const cells = top.flatMap(test => [...test.results].map((letter, at) => ({test: test.name, at, letter})).filter(cell => cell.letter !== "."));
    const fill = letter => ({p: color("fill-soft"), w: color("warn"), f: color("error"), e: color("error")}[letter] || color("line"));
    content.push(chart("Tests that failed or warned, run by run", `Results of ${plural(top.length, "test")} run by run`, width => ({
      height: 30 + 20 * top.length, marginLeft: gutter(width), marginTop: 4,
      x: {domain: d3.range(runs.length), ticks: ticks(width - gutter(width)), tickFormat: day, label: null, type: "band", padding: .12}, y: {label: null, domain: top.map(test => test.name), tickSize: 0, tickFormat: name => clipped(name, width)},
      marks: [Plot.cell(cells, {x: "at", y: "test", fill: cell => fill(cell.letter), inset: .5, title: cell => `${cell.test}\n${time(runs[cell.at].started)}: ${WORDS[cell.letter]}`})],
    })));
  }
  content.push(table("Tests", [
    {title: "Test", of: test => test.name, show: test => (test.of.length ? el("button", {type: "button", class: "link", onclick: () => open("node", test.of[0])}, test.name) : test.name), long: true},
    {title: "State", of: test => ["failing", "warning", "flaky", "ok", null].indexOf(test.state), show: test => (test.state ? state({failing: "error", ok: "ok"}[test.state] || "warn", test.state === "ok" ? "passed" : test.state) : unknown())},
    figure("Rows that fail", test => (test.state === "failing" || test.state === "warning" ? test.failures : test.state ? 0 : null)),
    figure("Changes", test => (test.state ? test.flips : null)),
    {...column("Tests", test => byPosition(nodes, test.of).map(node => node.name).join(", ")), long: true},
  ], tests, {sort: 1, down: false, limit: 10}));
  return part("tests", "Tests", ...content);
}

function expectationsPart() {
  if (!doc.expectations.length) return null;
  const points = one => one.at.map((at, i) => ({at, value: one.broken[i]}));
  const last = (one, key) => one[key][one[key].length - 1];
  const charts = d3.sort(doc.expectations, one => -d3.sum(one.broken)).slice(0, 4).filter(one => d3.sum(one.broken));
  return part("expectations", "Expectations and quarantine",
    charts.length ? el("div", {class: "pair"}, charts.map(one => trend(`Rows that broke ${one.name} (${nodes[one.node].name})`, points(one), number, "run"))) : null,
    table("Expectations", [
      {title: "Expectation", of: one => one.name, long: true},
      {title: "Model", of: one => nodes[one.node].name, show: one => nodeLink(nodes[one.node])},
      column("Action", one => one.action),
      figure("Broke it last", one => last(one, "broken")),
      figure("Of rows", one => last(one, "rows")),
      figure("All runs", one => sum(one.broken)),
      figure("Quarantined last", one => last(one, "quarantined")),
      figure("Dropped last", one => last(one, "dropped")),
    ], doc.expectations, {sort: 5, limit: 10}));
}

function storagePart() {
  if (!stored.length) return null;
  const old = node => (node.store.dead_bytes === null ? null : Math.max(0, node.store.dead_bytes - (node.store.reclaimable_bytes || 0)));
  const top = d3.sort(stored, node => -(node.store.bytes + (node.store.dead_bytes || 0))).slice(0, 12);
  const kinds = ["live", "kept for older versions", "reclaimable"], fills = [color("fill"), color("fill-soft"), color("warn")];
  const bars = top.flatMap(node => [[kinds[0], node.store.bytes], [kinds[1], old(node)], [kinds[2], node.store.reclaimable_bytes]].map(([kind, value]) => ({name: node.name, kind, value}))).filter(bar => bar.value);
  const steps = stored.flatMap(node => node.store.steps.map(step => ({node, ...step})));
  return part("storage", "Storage and maintenance",
    chart(`Bytes on disk: the largest ${top.length} of ${stored.length} tables`, `Bytes on disk of ${plural(top.length, "table")}`, width => ({
      height: 26 + 21 * top.length, marginLeft: gutter(width), marginTop: 4, marginBottom: 22, marginRight: 20,
      x: {label: null, tickFormat: short, grid: true, ticks: Math.max(2, Math.floor(width / 160))}, y: {label: null, domain: top.map(node => node.name), tickSize: 0, tickFormat: name => clipped(name, width)},
      color: {domain: kinds, range: fills}, marks: [Plot.barX(bars, {x: "value", y: "name", fill: "kind", order: kinds, insetTop: 2, insetBottom: 2, title: bar => `${bar.name}, ${bar.kind}: ${bytes(bar.value)}`})],
    })),
    legend(kinds.map((kind, i) => [fills[i], kind])),
    table("Storage", [
      {title: "Table", of: node => node.name, show: nodeLink},
      figure("Live", node => node.store.bytes, bytes),
      figure("Older versions", old, bytes),
      figure("Reclaimable", node => node.store.reclaimable_bytes, bytes),
      figure("Files", node => node.store.files),
      figure("Small files", node => node.store.small_files),
      figure("Deleted rows", node => node.store.deleted_rows),
      figure("Versions", node => node.store.versions),
      figure("Kept for", node => node.store.retention_hours, hours => duration(hours * 3600)),
    ], stored, {sort: 1, limit: 10}),
    el("h3", {}, "What maintenance would do"),
    steps.length ? table("What maintenance would do", [
      {title: "Table", of: step => step.node.name, show: step => nodeLink(step.node)},
      column("Step", step => step.do), {...column("Why", step => step.why), long: true}, figure("Gain", step => step.gain, bytes),
    ], steps, {sort: 3, limit: 10}) : el("p", {class: "note"}, "Nothing: no table needs it."));
}

function snapshotsPart() {
  const kept = nodes.filter(node => node.kind === "snapshot" && node.rows.at.length);
  if (!kept.length) return null;
  return part("snapshots", "Growth of snapshots", el("div", {class: "pair"}, kept.slice(0, 8).map(node => trend(`Rows of ${node.name}`, growth(node), number, "change"))));
}
const growth = node => node.rows.at.map((at, i) => ({at, value: node.rows.rows[i]}));

function buildPart() {
  if (!doc.publish) return null;
  return part("publish", "Published build", table("Published views", [
    column("View", line => line.view), column("Table", line => line.table), figure("Readers see version", line => line.published), figure("Newest version", line => line.newest),
    column("Published", line => line.age, age => `${age} ago`), {title: "Held back by", of: line => line["held back by"], show: line => line["held back by"] || "", long: true},
  ], doc.publish, {sort: 0, down: false, limit: 15}));
}
function erasuresPart() {
  if (!doc.erasures.length) return null;
  return part("erasures", "Erasures", table("Erasures", [
    column("Certificate", one => one.request), column("Kind", one => one.kind), column("Began", one => one.begun),
    {title: "State", of: one => one.state, show: one => state(one.state === "closed" ? "ok" : "warn", one.state)},
    figure("Tables", one => one.tables), figure("Open", one => one.open), column("Open until", one => one.until),
  ], doc.erasures, {limit: 10}));
}

// Lineage --------------------------------------------------------------------------------------

let focus = null;
const graph = el("div", {class: "lineage", role: "region", "aria-label": "Lineage", tabindex: 0});
const focused = el("p", {class: "hint", role: "status"});
function reach(from, key) {
  const found = new Set(), open = [from];
  while (open.length) for (const next of nodes[open.pop()][key]) if (!found.has(next)) { found.add(next); open.push(next); }
  return found;
}
function lineagePart() {
  if (nodes.length < 2) return null;
  const all = el("button", {type: "button", onclick: () => focusOn(null)}, "Show all");
  const search = el("input", {type: "search", list: "names", placeholder: "Go to a node", "aria-label": "Go to a node of the lineage", onchange: event => {
    const found = nodes.find(node => node.name === event.target.value);
    if (found) focusOn(found.place);
  }});
  later.push(() => focusOn(null));
  return part("lineage", "Lineage", el("div", {class: "head"}, focused, el("div", {class: "controls"}, search, all, el("datalist", {id: "names"}, nodes.map(node => el("option", {value: node.name}))))), graph);
}
/* Shows a node with all before and after it, or everything; a second click on it opens the node. */
function focusOn(place) {
  focus = place;
  const shown = place === null ? nodes : [...reach(place, "parents"), place, ...reach(place, "children")].map(one => nodes[one]);
  const inside = new Set(shown.map(node => node.place)), depth = new Map();
  const level = node => {
    if (!depth.has(node.place)) {
      depth.set(node.place, 0);
      depth.set(node.place, d3.max(node.parents.filter(p => inside.has(p)), p => level(nodes[p]) + 1) ?? 0);
    }
    return depth.get(node.place);
  };
  const columns = d3.groups(shown, level).sort((a, b) => a[0] - b[0]).map(entry => d3.sort(entry[1], node => node.name));
  const row = new Map();
  // A node stands near the middle of what it reads, or of what reads it: fewer lines cross.
  for (let sweep = 0; sweep < 6; sweep++) {
    const key = sweep % 2 ? "children" : "parents";
    for (const nodesOf of sweep % 2 ? [...columns].reverse() : columns) {
      nodesOf.sort((a, b) => d3.ascending(near(a, key), near(b, key)));
      nodesOf.forEach((node, at) => row.set(node.place, at - nodesOf.length / 2));
    }
  }
  function near(node, key) {
    return d3.mean(node[key].filter(p => row.has(p)), p => row.get(p)) ?? row.get(node.place) ?? 0;
  }
  focused.textContent = place === null ? `${plural(nodes.length, "node")}. Choose one to see what it reads and who reads it.`
    : `${nodes[place].name}: reads ${reach(place, "parents").size}, read by ${reach(place, "children").size}. Choose it again to open it.`;
  const edges = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  edges.setAttribute("aria-hidden", "true");
  graph.replaceChildren(edges, el("div", {class: "columns"}, columns.map(nodesOf => el("div", {class: "column"}, nodesOf.map(node => {
    const about = node.kind === "model" ? node.what || "model" : node.kind;
    return el("button", {type: "button", class: `node ${nodeState(node)}`, id: `node-${node.place}`, "aria-pressed": String(node.place === focus),
      "aria-label": `${node.name}, ${about}, ${node.last ? WORDS[node.last] : "result unknown"}${node.failing ? `, ${node.failing} failing tests` : ""}`,
      onclick: () => (focus === node.place ? open("node", node.place) : focusOn(node.place))}, node.name, el("small", {}, node.failing ? `${about}, ${plural(node.failing, "failing test")}` : about));
  })))));
  drawEdges();
  if (place !== null) {
    const button = document.getElementById(`node-${place}`);
    graph.scrollTo({left: button.offsetLeft - graph.clientWidth / 2 + button.offsetWidth / 2, top: button.offsetTop - graph.clientHeight / 2});
    button.focus({preventScroll: true});
  }
}
function drawEdges() {
  const svg = graph.querySelector("svg"), box = graph.querySelector(".columns");
  if (!svg || !box) return;
  const from = graph.getBoundingClientRect(), link = d3.linkHorizontal();
  const x = left => left - from.left + graph.scrollLeft - graph.clientLeft, y = top => top - from.top + graph.scrollTop - graph.clientTop;
  const edges = nodes.flatMap(node => node.parents.map(parent => [parent, node.place]))
    .map(ends => [...ends, ...ends.map(end => document.getElementById(`node-${end}`))]).filter(edge => edge[2] && edge[3]);
  d3.select(svg).attr("width", box.offsetWidth + 26).attr("height", box.offsetHeight + 26).selectAll("path").data(edges).join("path")
    .attr("class", edge => (focus === edge[0] || focus === edge[1] ? "edge on" : "edge"))
    .attr("d", edge => {
      const [a, b] = [edge[2].getBoundingClientRect(), edge[3].getBoundingClientRect()];
      return link({source: [x(a.right), y(a.top + a.height / 2)], target: [x(b.left), y(b.top + b.height / 2)]});
    });
}

// Details --------------------------------------------------------------------------------------

const dialog = document.getElementById("detail");
const facts = entries => el("dl", {class: "facts"}, entries.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
function open(kind, place) {
  const [title, ...content] = kind === "node" ? nodeDetail(nodes[place]) : runDetail(runs[place]);
  dialog.replaceChildren(el("div", {class: "head"}, el("h2", {id: "detail-title"}, title), el("button", {type: "button", class: "close", onclick: () => dialog.close()}, "Close")), ...content.filter(Boolean));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  redraws.filter(one => dialog.contains(one)).forEach(one => one.draw());
}
/* Of a node in a run; what did not run has none. */
const ofRun = (title, of, letter, show) => ({title, of, num: true, show: row => ("uk".includes(letter(row)) ? "" : or(of(row), show))});
const figures = isView => [["Duration", "seconds", duration], ["CPU", "cpu", duration], ["Read", "read", bytes], ["Written", "written", bytes],
  ...(isView ? [] : [["Inserted", "inserted", number], ["Updated", "updated", number], ["Deleted", "deleted", number]])];
function nodeDetail(node) {
  const points = key => (node.runs[key] ? node.runs[key].map((value, i) => ({at: runs[node.runs.run[i]].started, value, odd: (node.odd[key] || []).includes(i)})) : []);
  const links = list => (list.length ? d3.sort(byPosition(nodes, list), one => one.name).flatMap((one, i) => [i ? ", " : "", nodeLink(one)]) : "nothing");
  const store = node.store || {};
  const isBuilt = ["model", "seed", "snapshot"].includes(node.kind);
  return [
    node.name,
    facts([
      ["Kind", node.kind === "model" ? `model, ${node.what}` : node.kind], ["In the catalog", node.table || "nothing"], ["File", or(node.path || null)],
      ...(isBuilt ? [["Last result", node.last ? result(node.last) : unknown()], ["Usually takes", or(node.usual.seconds, duration)], ["Usual CPU", or(node.usual.cpu, duration)]] : []),
      ...(hasNone(node) ? [] : [["Rows", or(store.rows, number)], ["Size", or(store.bytes, bytes)], ["Rows changed", or(node.fresh && node.fresh.changed, stamp)]]),
    ]),
    node.problem ? el("p", {class: "note"}, node.problem) : null,
    el("p", {class: "hint"}, "Reads ", links(node.parents), ". Read by ", links(node.children), "."),
    isBuilt ? el("div", {class: "pair"}, trend("Duration", points("seconds"), duration, "run"), trend("CPU of the executors", points("cpu"), duration, "run"),
      trend("Bytes read", points("read"), bytes, "run"), trend("Bytes written", points("written"), bytes, "run"), node.store || node.rows.at.length ? trend("Rows", growth(node), number, "change") : null) : null,
    store.steps && store.steps.length ? table("What maintenance would do", [column("Step", s => s.do), {...column("Why", s => s.why), long: true}, figure("Gain", s => s.gain, bytes)], store.steps) : null,
    node.tests.length ? el("h3", {}, "Tests") : null,
    node.tests.length ? table("Tests of this node", [
      {title: "Test", of: t => t.name, long: true}, {title: "State", of: t => t.state, show: t => (t.state ? state({failing: "error", ok: "ok"}[t.state] || "warn", t.state === "ok" ? "passed" : t.state) : unknown())},
      figure("Changes", t => (t.state ? t.flips : null)),
    ], byPosition(tests, node.tests), {limit: 10}) : null,
    node.runs.run ? el("h3", {}, "Runs") : null,
    node.runs.run ? table("Runs of this node", [
      {title: "Began (UTC)", of: i => runs[node.runs.run[i]].started, show: i => runLink(runs[node.runs.run[i]])}, {title: "Result", of: i => node.runs.status[i], show: i => result(node.runs.status[i])},
      ...figures(hasNone(node)).map(([title, key, show]) => ofRun(title, i => (node.runs[key] ? node.runs[key][i] : null), i => node.runs.status[i], show)),
    ], d3.range(node.runs.run.length), {sort: 0, limit: 10}) : null,
  ];
}
function runDetail(run) {
  const own = places(run);
  const timed = d3.sort(own.filter(one => one.get("at") !== null && one.get("seconds") !== null && one.get("seconds") > 0), one => -one.get("seconds")).slice(0, 30);
  const bars = d3.sort(timed, one => one.get("at")).map(one => ({name: one.node.name, from: one.get("at"), to: one.get("at") + one.get("seconds"), letter: one.get("status")}));
  const cost = run.cost || {};
  const failed = tests.filter(test => "fe".includes(test.results[runs.indexOf(run)]));
  return [
    `Run of ${time(run.started)} UTC`,
    facts([["Command", or(run.command)], ["Id", run.id.slice(0, 8)], ["Result", run.status ? state(run.status, run.status === "ok" ? "passed" : run.status === "warn" ? "warned" : "failed") : unknown()], ["Duration", or(run.seconds, duration)],
      ["CPU", or(cost.cpu, duration)], ["Read", or(cost.read, bytes)], ["Written", or(cost.written, bytes)]]),
    failed.length ? el("p", {class: "note"}, `Failed tests: ${failed.map(test => test.name).join(", ")}`) : null,
    bars.length ? chart(`When its nodes ran, in seconds since it began: the longest ${bars.length}`, `When ${plural(bars.length, "node")} ran`, width => ({
      height: 40 + 18 * bars.length, marginLeft: gutter(width), x: {label: null, grid: true, axis: "top", zero: true}, y: {label: null, domain: bars.map(bar => bar.name), tickSize: 0, tickFormat: name => clipped(name, width)},
      marks: [Plot.barX(bars, {x1: "from", x2: "to", y: "name", fill: bar => (bar.letter === "p" ? color("fill") : ofState(STATES[bar.letter])), insetTop: 2, insetBottom: 2, title: bar => `${bar.name}: ${duration(bar.to - bar.from)}`})],
    })) : null,
    table("Nodes of this run", [
      {title: "Node", of: one => one.node.name, show: one => nodeLink(one.node)}, {title: "Result", of: one => one.get("status"), show: one => result(one.get("status"))},
      ...figures(false).map(([title, key, show]) => ofRun(title, one => one.get(key), one => (hasNone(one.node) && show === number ? "k" : one.get("status")), show)),
    ], own, {sort: 2, limit: 25}),
  ];
}

// The page -------------------------------------------------------------------------------------

function main() {
  document.getElementById("title").textContent = `${doc.project} · ${doc.target}`;
  document.getElementById("about").textContent = `${doc.selection ? `Selection ${doc.selection}. ` : ""}${time(doc.since).slice(0, 10)} to ${time(doc.made)} UTC`;
  document.getElementById("footer").textContent = `Made by dbt_delta from dbt's artifacts and the tables' own logs.${doc.left_out ? ` To keep this file small, the oldest ${doc.left_out} runs are left out.` : ""} CPU is that of Spark's executors. "unknown" is what nothing says.`;
  const made = [...overview(), runsPart(), modelsPart(), freshnessPart(), testsPart(), expectationsPart(), storagePart(), snapshotsPart(), lineagePart(), buildPart(), erasuresPart()].filter(Boolean);
  document.getElementById("main").append(...made);
  document.getElementById("parts").append(...made.filter(one => one.id).map(one => el("li", {}, el("a", {href: `#${one.id}`}, SHORT[one.id] || one.querySelector("h2").textContent))));
  redraw();
  later.forEach(draw => draw());
  made.filter(one => one.id).forEach(one => seen.observe(one));
  let waits = null;
  addEventListener("resize", () => { clearTimeout(waits); waits = setTimeout(() => { if (innerWidth !== drawnAt) { drawnAt = innerWidth; redraw(); } }, 150); });
  drawnAt = innerWidth;
  dialog.addEventListener("click", event => event.target === dialog && dialog.close());
}
const THEMES = ["system", "light", "dark"];
document.getElementById("theme").addEventListener("click", event => {
  const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.theme || "system") + 1) % 3];
  document.documentElement.dataset.theme = next;
  event.currentTarget.textContent = `Theme: ${next}`;
});
const seen = new IntersectionObserver(entries => entries.filter(entry => entry.isIntersecting).forEach(entry => {
  document.querySelectorAll("nav a").forEach(link => (link.hash === `#${entry.target.id}` ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current")));
}), {rootMargin: "-20% 0px -70% 0px"});
main();
