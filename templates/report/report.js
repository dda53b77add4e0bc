"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const regions = data.regions;
const at = id => document.getElementById(id);

/* --- elements ---------------------------------------------------------------------------------- */

function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {}))
    if (key in element && key !== "style" && key !== "role") element[key] = value;
    else element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/* --- numbers as words -------------------------------------------------------------------------- */

const known = number => typeof number === "number";
const whole = number => Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
const millions = number => number < 1e3 && number % 1 ? number.toPrecision(3) : number >= 1e9 ? (number / 1e9).toFixed(2) + " G" : number >= 1e5 ? (number / 1e6).toFixed(2) + " M"
  : number >= 1e3 ? (number / 1e3).toFixed(1) + " k" : String(number);
const kib = bytes => bytes >= 1 << 20 ? (bytes / (1 << 20)).toFixed(2) + " MiB"
  : bytes >= 1024 ? (bytes / 1024).toFixed(1) + " KiB" : bytes + " B";
const percent = (part, all) => all > 0 ? (100 * part / all).toFixed(1) + " %" : "-";
const time = seconds => seconds >= 1 ? seconds.toFixed(2) + " s" : seconds >= 1e-3 ? (1e3 * seconds).toFixed(2) + " ms"
  : (1e6 * seconds).toFixed(1) + " µs";
const sum = (list, of) => list.reduce((total, item) => total + (of(item) || 0), 0);
/* "/model.0/conv/Conv + Sigmoid + Mul": of all but the first what stands behind the last slash. */
const label = (region, most = 3) => region.nodes.slice(0, most).map((name, i) => i ? name.slice(name.lastIndexOf("/") + 1) || name : name).join(" + ") +
  (region.nodes.length > most ? " + " + (region.nodes.length - most) + " more" : "") || region.function;
const seconds = region => region.measured_seconds ?? region.estimated_seconds;
const measured = regions.some(r => known(r.measured_seconds)), estimated = regions.some(r => known(r.estimated_seconds));
const cycles = !estimated && regions.some(r => known(r.estimated_cycles));
const lossy = regions.some(r => known(r.sqnr_db));

/* --- theme ------------------------------------------------------------------------------------- */

const dark = matchMedia("(prefers-color-scheme: dark)");
function setTheme(name) { document.documentElement.dataset.theme = name; }
setTheme(new URLSearchParams(location.search).get("theme") || (dark.matches ? "dark" : "light"));
dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
at("theme").onclick = () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

/* --- what the pointer is at -------------------------------------------------------------------- */

const tip = at("tip");
document.addEventListener("pointermove", event => {
  const over = event.target.closest && event.target.closest("[data-tip]");
  tip.hidden = !over;
  if (!over) return;
  tip.textContent = over.dataset.tip;
  tip.style.left = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(event.clientY + 14, innerHeight - tip.offsetHeight - 8) + "px";
});

function describe(region, i) {
  const lines = ["#" + i + " " + label(region, 8), region.operators + ", " + (region.backend === "c" ? region.kernel : region.backend) +
    ", " + region.precision, "result " + region.output, millions(region.macs) + " MACs, " + kib(region.weight_bytes) + " of weights",
    kib(region.arena_bytes) + " of the arena in use"];
  if (known(region.measured_seconds)) lines.push(time(region.measured_seconds) + " measured");
  else if (known(region.estimated_seconds)) lines.push(time(region.estimated_seconds) + " estimated");
  else if (known(region.estimated_cycles)) lines.push(millions(region.estimated_cycles) + " cycles, estimated");
  if (known(region.sqnr_db)) lines.push("SQNR " + region.sqnr_db.toFixed(1) + " dB, cosine " + region.cosine.toFixed(5));
  return lines.join("\n");
}

function pick(i, scroll) {
  document.querySelectorAll(".picked").forEach(element => element.classList.remove("picked"));
  document.querySelectorAll(`[data-region="${i}"]`).forEach(element => element.classList.add("picked"));
  const row = at("layers").querySelector(`tr[data-region="${i}"]`), node = at("network").querySelector(`[data-region="${i}"]`);
  if (scroll === "row" && row) row.scrollIntoView({ block: "center" });
  if (scroll === "node" && node) node.scrollIntoView({ block: "center", inline: "center" });
}

/* --- summary ----------------------------------------------------------------------------------- */

function showSummary() {
  const verdict = data.verdict, tiles = at("tiles");
  const tile = (number, words) => tiles.append(make("div", { className: "tile" }, make("b", {}, number), make("span", { className: "dim" }, words)));
  at("subtitle").textContent = [data.target !== "generic" ? "for " + data.target : "for any CPU", data.options, "relayc " + data.relayc,
    data.sha256 ? "sha256 " + data.sha256.slice(0, 12) : ""].filter(Boolean).join("  ·  ");
  if (known(verdict.ram.allowed) || known(verdict.flash.allowed)) {
    at("verdict").textContent = (verdict.fits ? "✓ fits " : "✗ does not fit ") + (verdict.board || "the budget");
    at("verdict").className = verdict.fits ? "good" : "bad";
  }
  tile(kib(verdict.flash.needed), data.measured ? "flash: code and constants" : "flash: weights");
  tile(kib(verdict.ram.needed), data.measured ? "RAM: arena, data, stack" : "RAM: arena");
  tile(millions(data.macs), "multiplications (MACs)");
  tile(whole(regions.length), "regions of " + whole(data.onnx_nodes) + " ONNX nodes");
  if (measured) tile(time(sum(regions, r => r.measured_seconds)), "measured, sum of regions");
  if (estimated) tile((data.estimated_regions < regions.length ? "≥ " : "≈ ") + time(data.estimated_seconds), "estimate" +
    (data.estimated_cycles ? ` of ${data.target} at ${verdict.clock_mhz} MHz` : " by the backend's cost model"));
  else if (data.estimated_cycles) tile((data.estimated_regions < regions.length ? "≥ " : "≈ ") + millions(data.estimated_cycles), "cycles, an estimate; --board makes time of them");
  if (lossy) tile(Math.min(...regions.filter(r => known(r.sqnr_db)).map(r => r.sqnr_db)).toFixed(1) + " dB", "worst SQNR of a region");
  for (const score of data.scores) if (known(score.value))
    tile(score.value <= 1 ? (100 * score.value).toFixed(2) + " %" : score.value.toPrecision(4),
      score.name + (known(score.f32) ? ", f32 " + (100 * score.f32).toFixed(2) + " %" : ""));
}

function showMemory() {
  const box = at("memory"), m = data.measured, v = data.verdict;
  const meter = (name, need, parts) => {
    const track = make("div", { className: "track" }), all = Math.max(need.allowed || 0, need.needed, 1);
    parts = parts.filter(part => part[1] > 0);
    parts.forEach((part, i) => track.append(make("i", { style: `width:${100 * part[1] / all}%;background:var(--c${i})`, "data-tip": part[0] + ": " + kib(part[1]) })));
    if (need.allowed) track.append(make("b", { style: `left:${100 * need.allowed / all}%`, "data-tip": "limit: " + kib(need.allowed) }));
    const words = whole(need.needed) + " bytes = " + parts.map(part => part[0] + " " + whole(part[1])).join(" + ") +
      (known(need.allowed) ? `; ${percent(need.needed, need.allowed)} of ${whole(need.allowed)}, ${need.source}` : "");
    box.append(make("div", { className: "meter" }, make("b", { className: need.fits === false ? "bad" : "" }, name), track,
      make("span", { className: "words" }, words)));
  };
  meter("Flash", v.flash, m ? [["code", m.text], ["constants", m.rodata], ["data", m.data]] : [["weights", data.weight_bytes]]);
  meter("RAM", v.ram, [["arena", data.arena.bytes], ...(m ? [["data and bss", m.data + m.bss], ["stack", m.stack || 0]] : [])]);
  box.append(make("p", { className: "dim" }, "Not counted: " + (data.io_bytes ? "inputs and outputs, " + whole(data.io_bytes) + " bytes, which are the caller's" : "nothing of the caller's: inputs and outputs lie in the arena") +
    (m ? "." : "; code and stack, which compile --cc measures.")));
}

/* --- arena ------------------------------------------------------------------------------------- */

function showArena() {
  const arena = data.arena, n = Math.max(regions.length, 1), W = 1180, H = 300, left = 70, top = 8;
  if (!arena.blocks.length) { at("arena").hidden = true; return; }
  const high = Math.max(arena.bytes, arena.order_lower_bound || 0), x = i => left + i * (W - left - 8) / n, y = bytes => top + H - bytes * H / high;
  const svg = draw("svg", { viewBox: `0 0 ${W} ${H + 44}`, role: "img", "aria-label": "Arena over time" });
  const peak = regions.reduce((most, r, i) => r.arena_bytes > regions[most].arena_bytes ? i : most, 0);
  for (let i = 0; i <= 4; i++) {
    const bytes = high * i / 4;
    svg.append(draw("line", { class: "axis", x1: left, x2: W - 8, y1: y(bytes), y2: y(bytes) }),
      draw("text", { class: "dim", x: left - 6, y: y(bytes) + 4, "text-anchor": "end" }, kib(Math.round(bytes))));
  }
  arena.blocks.forEach((b, i) => {
    const width = Math.max(x(b.last_read + 1) - x(b.written), .8), height = Math.max(b.bytes * H / high, .8);
    svg.append(draw("rect", { class: "block", x: x(b.written), y: y(b.offset + b.bytes), width, height,
      fill: b.scratch ? "var(--scratch)" : `var(--c${[0, 2, 4, 1, 3][i % 5]})`,
      "data-tip": `${b.what}\n${whole(b.bytes)} bytes at ${whole(b.offset)}\nfrom region ${b.written} to ${b.last_read}` }));
    if (width > 60 && height > 14) {
      const words = b.what.length * 6 > width - 8 ? b.what.slice(0, Math.max(Math.floor((width - 8) / 6) - 1, 1)) + "…" : b.what;
      const text = draw("text", { x: x(b.written) + 4, y: y(b.offset + b.bytes / 2) + 4, style: "pointer-events:none;fill:#fff" }, words);
      svg.append(text);
    }
  });
  for (const [bytes, kind, words] of [[arena.bytes, "peak", "arena " + kib(arena.bytes)], [arena.lower_bound, "bound", "bound"]])
    if (bytes) svg.append(draw("line", { class: kind, x1: left, x2: W - 8, y1: y(bytes) + (kind === "bound" ? 2 : 0), y2: y(bytes) + (kind === "bound" ? 2 : 0), "data-tip": words + ": " + whole(bytes) + " bytes" }));
  const step = Math.max(1, Math.ceil(n / 20));
  for (let i = 0; i < n; i += step)
    svg.append(draw("text", { class: "dim", x: (x(i) + x(i + 1)) / 2, y: top + H + 16, "text-anchor": "middle" }, String(i)));
  svg.append(draw("text", { class: "dim", x: (left + W) / 2, y: top + H + 34, "text-anchor": "middle" }, "region, in execution order"));
  at("arena-picture").append(svg);
  at("arena-words").textContent = `${whole(arena.bytes)} bytes (red); no offsets in this order need less than ${whole(arena.lower_bound)} (green, dashed)` +
    `${arena.optimal ? ": optimal" : ""}. Without sharing ${whole(arena.without_sharing)}. Most is in use at region ${peak}, ${label(regions[peak])}: ` +
    `${whole(regions[peak].arena_bytes)} bytes.`;
}

/* --- costs ------------------------------------------------------------------------------------- */

const costs = [["Flash", r => r.weight_bytes, kib, "weights"], ["MACs", r => r.macs, millions, "multiplications"],
  ["RAM", r => r.arena_bytes, kib, "of the arena, in use"]];
if (measured) costs.push(["Time", r => r.measured_seconds, time, "measured"]);
if (estimated) costs.push(["Time, estimated", r => r.estimated_seconds, time, "estimated"]);
else if (cycles) costs.push(["Cycles, estimated", r => r.estimated_cycles, millions, "estimated"]);

function choose(box, names, show, first = 0) {
  const buttons = names.map((name, i) => make("button", { type: "button", onclick: () => set(i) }, name));
  const set = i => { buttons.forEach((button, k) => button.setAttribute("aria-pressed", k === i)); show(i); };
  box.append(...buttons);
  set(first);
}

function showCosts(which) {
  const [, of, words] = costs[which], all = sum(regions, of), most = 25, box = make("div", { className: "bars" });
  const sorted = regions.map((r, i) => [r, i]).filter(([r]) => of(r) > 0).sort((a, b) => of(b[0]) - of(a[0]));
  const isPeak = costs[which][0] === "RAM", top = sorted.length ? of(sorted[0][0]) : 1;
  for (const [r, i] of sorted.slice(0, most))
    box.append(make("span", { "data-tip": describe(r, i), onclick: () => pick(i, "row") }, label(r)),
      make("span", {}, make("i", { style: `width:${100 * of(r) / top}%;background:var(--c${which})` })),
      make("span", {}, words(of(r)) + (isPeak ? "" : "  " + percent(of(r), all))));
  const rest = sorted.slice(most);
  if (rest.length && !isPeak) box.append(make("span", { className: "dim" }, rest.length + " more"), make("span", {}), make("span", {}, words(sum(rest, e => of(e[0]))) + "  " + percent(sum(rest, e => of(e[0])), all)));
  at("costs").replaceChildren(sorted.length ? box : make("p", { className: "dim" }, "none"));
}

/* --- losses ------------------------------------------------------------------------------------ */

function showLosses() {
  if (!lossy) return;
  const W = 1180, H = 150, left = 70, n = regions.length, x = i => left + i * (W - left - 8) / n, width = (W - left - 8) / n;
  const chart = (title, of, words) => {
    const values = regions.map(of), finite = values.filter(Number.isFinite), high = Math.max(...finite, 1e-12);
    const svg = draw("svg", { viewBox: `0 0 ${W} ${H + 30}`, role: "img", "aria-label": title });
    for (let i = 0; i <= 2; i++)
      svg.append(draw("line", { class: "axis", x1: left, x2: W - 8, y1: 18 + H - H * i / 2, y2: 18 + H - H * i / 2 }),
        draw("text", { class: "dim", x: left - 6, y: 22 + H - H * i / 2, "text-anchor": "end" }, words(high * i / 2)));
    svg.append(draw("text", { x: left, y: 11 }, title));
    values.forEach((value, i) => {
      if (!Number.isFinite(value)) return;
      const height = Math.max(Math.max(value, 0) * H / high, 1);
      svg.append(draw("rect", { class: "block", x: x(i) + width * .08, y: 18 + H - height, width: width * .84, height, fill: "var(--c0)", "data-tip": describe(regions[i], i) }));
    });
    return svg;
  };
  at("quantisation").hidden = false;
  at("losses").append(chart("SQNR in dB, by region: higher is better", r => r.sqnr_db ?? NaN, v => v.toFixed(0)),
    chart("1 − cosine, by region: lower is better", r => known(r.cosine) ? 1 - r.cosine : NaN, v => v.toPrecision(2)));
  const worst = regions.map((r, i) => [r, i]).filter(([r]) => known(r.sqnr_db)).sort((a, b) => a[0].sqnr_db - b[0].sqnr_db).slice(0, 5);
  at("loss-words").textContent = `Results of regions against f32, with the errors of all earlier ones (${data.losses_from}). Worst: ` +
    worst.map(([r, i]) => `#${i} ${label(r, 1)} ${r.sqnr_db.toFixed(1)} dB`).join(", ") + ".";
}

/* --- network ----------------------------------------------------------------------------------- */

/* Rows by the longest way from an input; in a row by the mean place of what is read. */
function layout() {
  const rank = [], rows = [];
  regions.forEach((r, i) => {
    rank[i] = Math.max(0, ...r.sources.map(from => rank[from] + 1));
    (rows[rank[i]] ||= []).push(i);
  });
  const place = [];
  rows.forEach(row => {
    const wish = i => { const from = regions[i].sources.map(source => place[source]); return from.length ? sum(from, p => p) / from.length : 0; };
    row.sort((a, b) => wish(a) - wish(b) || a - b);
    row.forEach((i, k) => { place[i] = k - (row.length - 1) / 2; });
  });
  return { rank, place, n: rows.length };
}

function hot(of) {
  const high = Math.max(...regions.map(r => of(r) || 0), 1e-30);
  return { fill: r => `color-mix(in srgb, var(--c5) ${Math.round(100 * Math.sqrt((of(r) || 0) / high))}%, var(--c6))`, legend: null };
}

function kinds(of) {
  const names = [...new Set(regions.map(of))];
  return { fill: r => `var(--c${names.indexOf(of(r)) % 8})`, legend: names };
}

function showNetwork() {
  const { rank, place, n } = layout(), wide = 210, high = 52, boxW = 192, boxH = 34;
  const least = Math.min(0, ...place), most = Math.max(0, ...place), W = (most - least + 1) * wide + 20, H = n * high + 16;
  const X = i => (place[i] - least) * wide + 10 + (wide - boxW) / 2, Y = i => rank[i] * high + 8;
  const svg = draw("svg", { width: W, height: H, viewBox: `0 0 ${W} ${H}`, style: "margin:0 auto" }), nodes = [];
  regions.forEach((r, i) => {
    for (const from of r.sources) {
      const x1 = X(from) + boxW / 2, y1 = Y(from) + boxH, x2 = X(i) + boxW / 2, y2 = Y(i), far = rank[i] - rank[from] > 1 && Math.abs(x1 - x2) < 1;
      const side = far ? boxW / 2 + 12 : 0;
      svg.append(draw("path", { class: "edge", d: far ? `M${x1} ${y1} C${x1 + side} ${y1 + 30} ${x2 + side} ${y2 - 30} ${x2} ${y2}`
        : `M${x1} ${y1} C${x1} ${y1 + 12} ${x2} ${y2 - 12} ${x2} ${y2}` }));
    }
  });
  regions.forEach((r, i) => {
    const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
    const node = draw("g", { class: "node", "data-region": i, "data-tip": describe(r, i) },
      draw("rect", { x: X(i), y: Y(i), width: boxW, height: boxH, rx: 5 }),
      draw("text", { x: X(i) + 8, y: Y(i) + 14, style: "fill:#fff;font-weight:600" }, cut(r.operators === "-" ? r.function : r.operators.replace("BatchNormalization", "BN"), 25)),
      draw("text", { x: X(i) + 8, y: Y(i) + 28, style: "fill:#fff" }, cut(`#${i}  ${r.output}  ${r.precision}`, 31)));
    node.onclick = () => pick(i, "row");
    nodes.push(node);
  });
  svg.append(...nodes);
  at("network").append(svg);
  at("network").scrollLeft = (W - at("network").clientWidth) / 2;
  const colours = [["Format", kinds(r => r.precision)], ["Backend", kinds(r => r.backend)], ["Kernel", kinds(r => r.kernel || r.backend)], ["MACs", hot(r => r.macs)], ["Flash", hot(r => r.weight_bytes)], ["RAM", hot(r => r.arena_bytes)]];
  if (measured || estimated) colours.push([measured ? "Time, measured" : "Time, estimated", hot(seconds)]);
  else if (cycles) colours.push(["Cycles, estimated", hot(r => r.estimated_cycles)]);
  if (lossy) colours.push(["Loss", hot(r => known(r.cosine) ? 1 - r.cosine : 0)]);
  const several = colours.findIndex(([, scheme]) => scheme.legend && scheme.legend.length > 1);
  choose(at("colour-choices"), colours.map(c => c[0]), which => {
    const scheme = colours[which][1];
    nodes.forEach((node, i) => node.firstChild.setAttribute("fill", scheme.fill(regions[i])));
    at("legend").replaceChildren(...(scheme.legend ? scheme.legend.map((name, i) => make("span", {}, make("i", { style: `background:var(--c${i % 8})` }), name))
      : [make("span", {}, make("i", { style: "background:var(--c6)" }), "little"), make("span", {}, make("i", { style: "background:var(--c5)" }), "most")]));
  }, Math.max(several, 0));
}

/* --- table ------------------------------------------------------------------------------------- */

const columns = [
  ["#", (r, i) => i, v => v], ["Nodes", r => label(r), v => v, "name"], ["Operators", r => r.operators, v => v],
  ["Kernel", r => r.backend === "c" ? r.kernel : r.backend, v => v], ["Result", r => r.output, v => v], ["Format", r => r.precision, v => v],
  ["MACs", r => r.macs, v => v ? millions(v) : "-", "n", r => percent(r.macs, data.macs)], ["Weights", r => r.weight_bytes, v => v ? kib(v) : "-", "n"],
  ["RAM", r => r.arena_bytes, kib, "n"], ["Scratch", r => r.scratch_bytes, v => v ? kib(v) : "-", "n"],
];
if (measured) columns.push(["Measured", r => r.measured_seconds ?? -1, v => v < 0 ? "-" : time(v), "n"]);
if (estimated) columns.push(["Estimate", r => r.estimated_seconds ?? -1, v => v < 0 ? "-" : time(v), "n"]);
if (cycles) columns.push(["Cycles, est.", r => r.estimated_cycles ?? -1, v => v < 0 ? "-" : millions(v), "n"]);
if (lossy) columns.push(["SQNR", r => r.sqnr_db ?? Infinity, v => Number.isFinite(v) ? v.toFixed(1) + " dB" : "-", "n"], ["Cosine", r => r.cosine ?? 2, v => v > 1 ? "-" : v.toFixed(5), "n"]);

function showTable() {
  const table = at("layers"), head = make("tr"), body = table.tBodies[0];
  const rows = regions.map((r, i) => {
    const row = make("tr", { "data-region": i, onclick: () => pick(i, "node") });
    for (const [name, of, words, kind] of columns) {
      const cell = make("td", { className: kind || "" });
      if (name === "MACs" && data.macs > 0) cell.append(make("span", { className: "share", style: `width:${(48 * r.macs / data.macs).toFixed(1)}px`, "data-tip": percent(r.macs, data.macs) }));
      cell.append(String(words(of(r, i))));
      row.append(cell);
    }
    return row;
  });
  let by = -1, down = false;
  columns.forEach(([name, of, , kind], c) => head.append(make("th", { className: kind === "n" ? "n" : "", scope: "col" }, make("button", { type: "button", onclick: event => {
    down = by === c ? !down : kind === "n";
    by = c;
    const order = regions.map((r, i) => i).sort((a, b) => {
      const x = of(regions[a], a), y = of(regions[b], b), less = x < y ? -1 : x > y ? 1 : a - b;
      return down ? -less : less;
    });
    body.replaceChildren(...order.map(i => rows[i]));
    head.querySelectorAll("th").forEach(th => th.removeAttribute("aria-sort"));
    event.target.closest("th").setAttribute("aria-sort", down ? "descending" : "ascending");
    head.querySelectorAll("button").forEach((button, k) => { button.textContent = columns[k][0] + (k === c ? (down ? " ▾" : " ▴") : ""); });
  } }, name))));
  table.tHead.append(head);
  body.append(...rows);
  const total = { MACs: millions(data.macs), Weights: kib(data.weight_bytes), RAM: kib(data.arena.bytes), Measured: measured ? time(sum(regions, r => r.measured_seconds)) : "", Estimate: estimated ? time(data.estimated_seconds) : "",
    "Cycles, est.": cycles ? millions(data.estimated_cycles) : "" };
  table.tFoot.append(make("tr", {}, ...columns.map(([name, , , kind], i) => make("td", { className: kind === "n" ? "n" : "" }, i === 1 ? "all" : total[name] || ""))));
  const count = () => { at("shown").textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`; };
  at("filter").oninput = () => {
    const words = at("filter").value.toLowerCase().split(/\s+/);
    rows.forEach(row => { const text = row.textContent.toLowerCase(); row.hidden = !words.every(word => text.includes(word)); });
    count();
  };
  count();
  at("table-words").textContent = ["Weights: of arrays that the region is the first to read. RAM: bytes of the arena in use while it runs.",
    measured ? `Measured: on the machine that wrote ${data.times_from}, regions one by one, warm.` : "",
    data.estimated_cycles ? `Estimate: ${millions(data.estimated_cycles)} cycles of ${data.target} (C compiled with -O2), fitted to instruction counts and static models of the core; without waits for flash, caches or interrupts; no measurement.` : "",
    estimated && regions.some(r => r.backend !== "c" && known(r.estimated_seconds)) ? "Estimate of backends: by their cost models, no measurement." : ""].filter(Boolean).join(" ");
}

function showOrigin() {
  const rows = [["Model", data.model], ["SHA-256", data.sha256], ["Options", data.options || "none"], ["Target", data.target], ["relayc", data.relayc], ["C compiler", data.measured && data.measured.compiler],
    ["Board", data.verdict.board && `${data.verdict.board} (${data.verdict.chip || ""}${data.verdict.clock_mhz ? ", " + data.verdict.clock_mhz + " MHz" : ""})`],
    ...data.inputs.map(v => ["Input", `${v.name}: ${v.dtype} ${v.shape}`]), ...data.outputs.map(v => ["Output", `${v.name}: ${v.dtype} ${v.shape}`])];
  for (const [name, value] of rows) if (value) at("origin").tBodies[0].append(make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, String(value))));
}

showSummary();
showMemory();
showArena();
choose(at("cost-choices"), costs.map(cost => cost[0]), showCosts);
showLosses();
showSpreads();
showSearch();
showTable();
showNetwork();
showOrigin();
