"use strict";
/* What relayc compare and searches found, as pictures. report.js, which follows, has the elements, words and data. */

/* --- distributions ----------------------------------------------------------------------------- */

const short = number => number === 0 ? "0" : Math.abs(number) >= 1e4 || Math.abs(number) < 1e-3 ? number.toExponential(1) : number.toPrecision(3);

/* Two histograms: heights are square roots of the counts, so that tails can be seen. */
function spreadCard(r, i) {
  const W = 240, H = 46, card = make("div", { className: "spread", "data-region": i, "data-tip": describe(r, i), onclick: () => pick(i, "row") },
    make("b", {}, `#${i} ${label(r, 1)}`), make("span", { className: "dim" }, (known(r.sqnr_db) ? `SQNR ${r.sqnr_db.toFixed(1)} dB, ` : "") + r.precision));
  const chart = (spread, kind, marks) => {
    const high = Math.max(...spread.histogram, 1), width = W / spread.histogram.length, range = spread.max - spread.min || 1;
    const svg = draw("svg", { viewBox: `0 0 ${W} ${H + 14}`, role: "img", "aria-label": "Histogram of " + kind });
    const x = value => Math.min(Math.max((value - spread.min) / range, 0), 1) * W;
    if (marks) svg.append(draw("rect", { class: "kept", x: x(marks.min), width: Math.max(x(marks.max) - x(marks.min), 1), y: 0, height: H }));
    spread.histogram.forEach((n, k) => { if (n) { const height = Math.max(Math.sqrt(n / high) * (H - 2), 1);
      svg.append(draw("rect", { class: "bin " + kind, x: k * width + .4, width: width - .8, y: H - height, height })); } });
    if (marks) for (const edge of [marks.min, marks.max]) svg.append(draw("line", { class: "kept-edge", x1: x(edge), x2: x(edge), y1: 0, y2: H }));
    svg.append(draw("line", { class: "axis", x1: 0, x2: W, y1: H, y2: H }), draw("text", { class: "dim", x: 0, y: H + 12 }, short(spread.min)),
      draw("text", { class: "dim", x: W / 2, y: H + 12, "text-anchor": "middle" }, `${kind}, σ ${short(spread.std)}`),
      draw("text", { class: "dim", x: W, y: H + 12, "text-anchor": "end" }, short(spread.max)));
    return svg;
  };
  card.append(chart(r.values, "values", r.quantised));
  if (r.noise) card.append(chart(r.noise, "noise"));
  if (r.quantised && known(r.quantised.min)) card.append(make("span", { className: "dim" }, `kept: ${short(r.quantised.min)} to ${short(r.quantised.max)}`));
  return card;
}

function showSpreads() {
  const having = regions.map((r, i) => [r, i]).filter(([r]) => r.values && known(r.values.min) && known(r.values.max)), few = 12;
  if (!having.length) return;
  at("spreads-part").hidden = false;
  at("spread-words").textContent = "Float values (blue) and quantised less float (brown), 32 bins from the least to the greatest; heights are square roots of the counts. " +
    "Green: from the least to the greatest value after quantisation: what lies outside is cut off by the choice of the scale.";
  const worst = [...having].sort((a, b) => (a[0].sqnr_db ?? 1e9) - (b[0].sqnr_db ?? 1e9));
  const lists = [[`Worst ${Math.min(few, having.length)}`, worst.slice(0, few)], [`All ${having.length}, in execution order`, having]];
  const show = which => at("spreads").replaceChildren(...lists[which][1].map(([r, i]) => spreadCard(r, i)));
  if (having.length > few) choose(at("spread-choices"), lists.map(l => l[0]), show);
  else show(1);
}

/* --- searches ---------------------------------------------------------------------------------- */

/* A chart with numbered axes: x and y map numbers to its places. y is logarithmic where numbers are far apart; what is not
   positive stands at the bottom then. */
function plane(title, xs, ys, xWords, yWords, xTitle, yTitle) {
  const W = 1180, H = 260, left = 84, top = 24, scale = (all, log) => {
    const of = log ? Math.log10 : v => v, low = Math.min(...all.map(of)), high = Math.max(...all.map(of)), room = (high - low || Math.abs(high) || 1) * .06;
    return { to: v => (of(v) - low + room) / (high - low + 2 * room), from: p => log ? 10 ** (low - room + p * (high - low + 2 * room)) : low - room + p * (high - low + 2 * room) };
  };
  const positive = ys.filter(v => v > 0), least = Math.min(...positive), far = positive.length > 1 && Math.min(...ys) >= 0 && Math.max(...positive) / least > 30;
  const sx = scale(xs, false), sy = scale(far ? positive : ys, far), x = v => left + sx.to(v) * (W - left - 8), y = v => top + H - sy.to(far ? Math.max(v, least) : v) * H;
  const svg = draw("svg", { viewBox: `0 0 ${W} ${H + top + 36}`, role: "img", "aria-label": title });
  for (let i = 0; i <= 4; i++) {
    const py = top + H - H * i / 4, px = left + (W - left - 8) * i / 4;
    svg.append(draw("line", { class: "axis", x1: left, x2: W - 8, y1: py, y2: py }), draw("text", { class: "dim", x: left - 6, y: py + 4, "text-anchor": "end" }, yWords(sy.from(i / 4))),
      draw("text", { class: "dim", x: px, y: top + H + 16, "text-anchor": i === 0 ? "start" : i === 4 ? "end" : "middle" }, xWords(sx.from(i / 4))));
  }
  svg.append(draw("text", { x: left, y: 13 }, title + ": " + yTitle), draw("text", { class: "dim", x: (left + W) / 2, y: top + H + 32, "text-anchor": "middle" }, xTitle));
  return { svg, x, y };
}

function pointWords(p) {
  const lines = [p.what + (p.state === "trial" ? "" : ` (${p.state})`)];
  if (known(p.loss)) lines.push("loss " + p.loss.toPrecision(4));
  if (known(p.cosine)) lines.push("cosine " + p.cosine.toFixed(6));
  if (known(p.value)) lines.push((data.points && data.points.metric || "metric") + " " + p.value.toPrecision(5));
  if (known(p.flash)) lines.push("flash " + kib(p.flash) + (known(p.ram) ? ", RAM " + kib(p.ram) : ""));
  if (known(p.seconds)) lines.push(time(p.seconds));
  return lines.join("\n");
}

function showTrials() {
  const tried = data.trials ? data.trials.tried.filter(t => known(t.loss)) : [];
  if (!tried.length) return;
  const { svg, x, y } = plane("Trials", tried.map((t, i) => i), tried.map(t => t.loss), v => String(Math.max(0, Math.round(v))), v => v.toPrecision(2), "trial", "loss of each, and the least so far");
  let least = Infinity;
  const way = tried.map((t, i) => { least = Math.min(least, t.loss); return `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(least).toFixed(1)}`; });
  tried.forEach((t, i) => svg.append(draw("circle", { class: "dot", cx: x(i), cy: y(t.loss), r: tried.length > 300 ? 2 : 3.5, "data-tip": pointWords(t) })));
  svg.append(draw("path", { class: "way", d: way.join("") }));
  at("trials").append(svg);
}

function showFront(points, of, words, title) {
  const metric = data.points.metric, useValue = metric && points.filter(p => known(p.value)).length > 1;
  const height = p => useValue ? p.value : p.loss, shown = points.filter(p => known(of(p)) && known(height(p)));
  if (!shown.length) return make("p", { className: "dim" }, "no point has both numbers");
  const { svg, x, y } = plane("Points", shown.map(of), shown.map(height), words, v => v.toPrecision(4), title, useValue ? metric : "loss");
  const front = shown.filter(p => p.state !== "dropped").sort((a, b) => of(a) - of(b));
  svg.append(draw("path", { class: "way", d: front.map((p, i) => `${i ? "L" : "M"}${x(of(p)).toFixed(1)} ${y(height(p)).toFixed(1)}`).join(""), "stroke-dasharray": "4 4" }));
  for (const p of shown) {
    svg.append(draw("circle", { class: "dot " + p.state, cx: x(of(p)), cy: y(height(p)), r: 5, "data-tip": pointWords(p) }));
    if (p.state !== "dropped" && front.length <= 16) svg.append(draw("text", { class: "dim", x: Math.min(x(of(p)) + 8, 1080), y: y(height(p)) - 6 }, p.what.slice(0, 24)));
  }
  return svg;
}

function showSearch() {
  if (!data.trials && !data.points) return;
  at("search").hidden = false;
  at("search-words").textContent = [data.trials ? `${whole(data.trials.tried.length)} trials of ${data.trials.from}.` : "", data.points ? `Points of ${data.points.from}: ` +
    "blue on the Pareto front, grey dropped, green recommended." : ""].filter(Boolean).join(" ");
  showTrials();
  const points = data.points ? data.points.tried : [];
  if (!points.length) return;
  const axes = [["Flash", p => p.flash, kib, "flash"], ["RAM", p => p.ram, kib, "RAM"], ["Time", p => p.seconds, time, "time"]].filter(axis => points.some(p => known(axis[1](p))));
  if (axes.length) choose(at("front-choices"), axes.map(a => a[0]), which => at("front").replaceChildren(showFront(points, axes[which][1], axes[which][2], axes[which][3])));
  const head = ["Network", "State", ...axes.map(a => a[0]), "Loss", data.points.metric || "Cosine"], body = make("tbody"), last = p => data.points.metric ? p.value : p.cosine;
  for (const p of points)
    body.append(make("tr", {}, make("td", { className: "name" }, p.what), make("td", {}, p.state), ...axes.map(a => make("td", { className: "n" }, known(a[1](p)) ? a[2](a[1](p)) : "-")),
      make("td", { className: "n" }, known(p.loss) ? p.loss.toPrecision(4) : "-"), make("td", { className: "n" }, known(last(p)) ? last(p).toPrecision(5) : "-")));
  at("points").append(make("table", {}, make("thead", {}, make("tr", {}, ...head.map((name, i) => make("th", { scope: "col", className: i > 1 ? "n" : "" }, name)))), body));
}
