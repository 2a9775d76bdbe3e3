// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  const record = JSON.parse(document.getElementById("record").textContent);
  const at = (id) => document.getElementById(id);
  // Every piece of text goes in through here: as a text node, never as markup.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    for (const child of children) if (child !== null && child !== undefined) element.append(child);
    return element;
  };
  const digits = (value, n = 3) => Number(value.toPrecision(n)).toString();
  const duration = (us) => !(us > 0) ? "–" : us < 1 ? digits(us * 1e3) + " ns" : us < 1e3 ? digits(us) + " µs" : us < 1e6 ? digits(us / 1e3) + " ms" : digits(us / 1e6) + " s";
  const times = (ratio) => ratio > 0 ? ratio.toFixed(ratio < 10 ? 2 : 1) + "×" : "–";
  const percent = (fraction) => fraction > 0 ? Math.round(fraction * 100) + " %" : "–";
  const range = (interval) => interval ? times(interval[0]) + " … " + times(interval[1]) : "–";
  const median = (values) => { const sorted = [...values].sort((a, b) => a - b), n = sorted.length; return n ? (sorted[(n - 1) >> 1] + sorted[n >> 1]) / 2 : 0; };
  const accepted = (round) => round.decision.startsWith("ACCEPTED");
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

  // ---- head ----
  const device = record.facts.device || "this machine";
  document.title = record.problem.name + " – " + times(record.headline.speedup) + " – ako";
  at("title").textContent = record.problem.name + " on " + device;
  at("summary").textContent = record.problem.summary;
  at("headline").append(times(record.headline.speedup) + " ", make("small", {}, "the baseline" + (record.headline.interval ? ", 98 % interval " + range(record.headline.interval) : "")));
  at("basis").textContent = record.headline.basis + ".";
  const trustText = { isolated: "isolated: the kernel ran in a sandbox; clock, inputs and check stayed outside", "device-only": "device only: no candidate code on the measuring side", unconfined: "unconfined: this system refused namespaces or filters", reported: "reported by someone else's commands" };
  for (const [name, value, title] of [["Rounds", record.rounds.length + ": " + record.accepted + " accepted, " + record.rolled_back + " rolled back"], ["Ended", record.termination || "still open"], ["Time", duration(record.seconds * 1e6)], ["Trust", record.trust, trustText[record.trust]], ["Pattern", record.problem.pattern], ["Started", record.created]])
    at("chips").append(make("div", title ? { title } : {}, make("dt", {}, name), make("dd", {}, value)));

  // ---- shapes ----
  const table = at("shape-table");
  table.append(make("thead", {}, make("tr", {}, ...["Shape", "Baseline", "Best", "Speed-up", "98 % interval", "Library", "Best / library", "Roof", "Bound by", "Of roof"].map((h) => make("th", { scope: "col" }, h)))));
  const libraryTime = (shape) => make("td", { title: record.library.name || record.library.reason }, shape.library ? duration(shape.library.us) : "–");
  const body = make("tbody");
  for (const shape of record.shapes) {
    const meter = make("span", { class: "meter", "aria-hidden": "true" }, make("i", { style: "width:" + Math.min(100, 100 * shape.efficiency) + "%" }));
    const row = make("tr", {}, make("td", {}, shape.label + (shape.core ? " ·core" : "")), make("td", {}, duration(shape.baseline_us)), make("td", {}, duration(shape.best_us)), make("td", {}, times(shape.speedup)), make("td", {}, range(shape.speedup_interval)), libraryTime(shape), make("td", shape.library ? { title: "98 % interval " + range(shape.library.interval) } : {}, times(shape.library ? shape.library.ratio : 0)), make("td", {}, duration(shape.roof_us)), make("td", {}, shape.roof_bound || "–"), make("td", {}, percent(shape.efficiency), meter));
    body.append(row);
  }
  table.append(body);
  at("shape-note").textContent = record.shapes.some((s) => s.paired) ? "Baseline and best were timed interleaved, in one sitting, on the same fresh inputs; times are medians, speed-ups come from the pairs." : "Baseline and best come from different sittings; treat small differences with care.";
  at("shape-note").textContent += record.library.name ? " Library: " + record.library.name + ", checked like a candidate and timed interleaved with the best kernel in a sitting of their own; best / library is the best kernel's speed over the library's." : " No library was timed: " + record.library.reason + ".";

  // ---- lineage ----
  const diffBlock = (lines) => { const pre = make("pre", { class: "diff", tabindex: "0" }); for (const [kind, text] of lines) pre.append(make("span", { class: kind === "+" ? "add" : kind === "-" ? "del" : "ctx" }, kind + " " + text)); return pre; };
  const smallTable = (heads, rows) => make("div", { class: "scroll", tabindex: "0" }, make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((h) => make("th", { scope: "col" }, h)))), make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...cells.map((c) => make("td", {}, c)))))));
  for (const round of record.rounds) {
    const kind = round.decision === "BASELINE" ? "base" : accepted(round) ? "accepted" : "rolled";
    const inside = make("div", { class: "inside" });
    const say = (name, text) => text && inside.append(make("p", {}, make("strong", {}, name + ": "), text));
    say("Change", round.change); say("Expected", round.expected_gain > 0 ? percent(round.expected_gain) + " less time" + (round.signal ? "; " + round.signal : "") : round.signal);
    say("Verdict", round.outcome_text + " (" + round.trust + ")"); say("Decision", round.decision + " – " + round.reason);
    if (round.comparison) say("Against the incumbent", times(round.comparison.ratio) + ", 98 % interval " + range(round.comparison.interval) + ", " + round.comparison.blocks + " blocks, " + round.comparison.clarity + (round.comparison.confirmed ? ", confirmed in fresh processes" : ""));
    say("Notes", round.notes.join("; "));
    say("Spent", duration(round.spent.total_s * 1e6) + ": compiling " + duration(round.spent.compile_s * 1e6) + ", reference " + duration(round.spent.reference_s * 1e6) + ", checking " + duration(round.spent.check_s * 1e6) + ", timing " + duration(round.spent.time_s * 1e6));
    say("Candidate", round.candidate + ", bucket " + round.bucket + (round.compiler ? ", " + round.compiler : "") + ", seed " + round.seed);
    if (round.timings.length) inside.append(make("h3", {}, "Times"), smallTable(["Shape", "This", "Incumbent", "Faster by", "Error"], round.timings.map((t) => [t.shape, duration(t.candidate_median_us), duration(t.incumbent_median_us), t.incumbent_median_us > 0 ? range(t.interval) : "–", t.error_db ? digits(t.error_db) + " dB" : "–"])));
    if (round.sweep.length) inside.append(make("h3", {}, "Sweep"), smallTable(["Variant", "Outcome", "Against incumbent", "Time"], round.sweep.map((v) => [v.label, v.outcome, v.outcome === "correct" ? times(v.ratio) : "–", duration(v.estimate_us)])));
    if (round.diff && round.diff.length) inside.append(make("h3", {}, "Difference from round " + round.parent), diffBlock(round.diff));
    const source = make("details", {}, make("summary", { style: "display:block" }, "Source"), make("pre", { tabindex: "0" }, make("code", {}, round.source)));
    inside.append(source);
    at("rounds").append(make("details", { id: "round-" + round.number }, make("summary", {}, make("span", { class: "n" }, String(round.number)), make("span", { class: "tag " + kind }, round.decision.toLowerCase()), make("span", {}, round.score > 0 ? times(round.score) : "–"), make("span", { class: "h" }, round.hypothesis)), inside));
  }
  const allRounds = () => document.querySelectorAll("#rounds > details");
  at("open-all").onclick = () => allRounds().forEach((d) => { d.open = true; });
  at("close-all").onclick = () => allRounds().forEach((d) => { d.open = false; });

  // ---- sources ----
  const best = record.rounds.find((round) => round.number === record.best_round);
  at("best-source").textContent = best ? best.source : "No kernel was accepted.";
  at("copy").onclick = async () => {
    try { await navigator.clipboard.writeText(at("best-source").textContent); at("copied").textContent = "Copied."; }
    catch { const selection = getSelection(); selection.removeAllRanges(); const r = document.createRange(); r.selectNodeContents(at("best-source")); selection.addRange(r); at("copied").textContent = "Selected: press Ctrl+C."; }
  };
  at("problem-source").textContent = record.problem.source;

  // ---- machine ----
  const unit = (name, value) => /bytes_per_s/.test(name) ? digits(value / 1e9) + " GB/s" : /flops/.test(name) ? digits(value / 1e9) + " GFLOP/s" : /_hz$/.test(name) ? digits(value / 1e9) + " GHz" : /_s$/.test(name) ? duration(value * 1e6) : digits(value, 4);
  const facts = at("fact-table");
  const fact = (name, value, source) => facts.append(make("tr", {}, make("td", {}, name), make("td", { class: "text" }, value), make("td", { class: "text muted" }, source || "")));
  fact("device", device); fact("cores", String(record.facts.compute_units)); fact("vector bits", String(record.facts.vector_bits));
  if (record.facts.features) fact("features", record.facts.features.join(" "));
  for (const [name, value] of Object.entries(record.facts.facts || {})) fact(name.replaceAll("_", " "), unit(name, value.value), value.source);
  at("footer").textContent = "Made by ako " + record.ako + " from the campaign's records. Problem " + record.problem.id + ". " + record.machine;

  // ---- samples ----
  const roundSelect = at("sample-round"), shapeSelect = at("sample-shape");
  const finals = record.shapes.filter((s) => s.paired && s.best_samples_us.length);
  if (finals.length) roundSelect.append(make("option", { value: "final" }, "final: best against baseline"));
  for (const round of record.rounds) if (round.timings.length) roundSelect.append(make("option", { value: String(round.number) }, round.number + " (" + round.decision.toLowerCase() + ")"));
  const samplesOf = () => roundSelect.value === "final"
    ? finals.map((s) => ({ shape: s.label, a: s.best_samples_us, b: s.baseline_samples_us, names: ["best", "baseline"] }))
    : ((record.rounds.find((r) => String(r.number) === roundSelect.value) || { timings: [] }).timings).map((t) => ({ shape: t.shape, a: t.candidate_us, b: t.incumbent_us, names: ["this round", "incumbent"] }));
  const fillShapes = () => { const before = shapeSelect.value; shapeSelect.replaceChildren(...samplesOf().map((s) => make("option", { value: s.shape }, s.shape))); if ([...shapeSelect.options].some((o) => o.value === before)) shapeSelect.value = before; };
  at("download").onclick = () => { const link = make("a", { href: URL.createObjectURL(new Blob([JSON.stringify(record, null, 1)], { type: "application/json" })), download: record.problem.name + "-ako.json" }); link.click(); setTimeout(() => URL.revokeObjectURL(link.href), 1000); };

  // ---- charts ----
  let charts = [];
  const axis = (text, extra = {}) => ({ title: { display: true, text, color: colour("soft") }, grid: { color: colour("line") }, ticks: { color: colour("soft") }, ...extra });
  const plain = (value) => digits(Number(value));
  const decades = (low, high) => ({ min: 10 ** Math.floor(Math.log10(low)), max: 10 ** Math.ceil(Math.log10(high)) });
  const drawProgress = () => {
    const points = record.rounds.filter((r) => r.score > 0);
    const group = (label, keep, style, name) => ({ type: "scatter", label, data: points.filter(keep).map((r) => ({ x: r.number, y: r.score, r })), pointStyle: style, radius: 6, hoverRadius: 8, borderColor: colour(name), backgroundColor: style === "circle" ? colour(name) : "transparent", borderWidth: 2 });
    const chain = points.filter((r) => r.decision === "BASELINE" || accepted(r));
    const steps = chain.map((r) => ({ x: r.number, y: r.score }));
    const lastRound = record.rounds.length ? record.rounds[record.rounds.length - 1].number : 1;
    if (steps.length) steps.push({ x: lastRound, y: steps[steps.length - 1].y });
    charts.push(new Chart(at("progress-chart"), { data: { datasets: [
      group("accepted", (r) => accepted(r) || r.decision === "BASELINE", "circle", "good"), group("rolled back", (r) => r.decision === "ROLLED BACK", "crossRot", "bad"),
      { type: "line", label: "best so far", data: steps, stepped: true, borderColor: colour("accent"), borderWidth: 2, pointRadius: 0, pointHitRadius: 0 }] },
      options: { maintainAspectRatio: false, animation: false, onClick: (event, hits) => { const hit = hits.find((h) => charts[0].data.datasets[h.datasetIndex].data[h.index].r); if (hit) { const r = charts[0].data.datasets[hit.datasetIndex].data[hit.index].r; const d = at("round-" + r.number); d.open = true; d.scrollIntoView(); } },
        scales: { x: axis("round", { type: "linear", min: 0.5, max: lastRound + 0.5, ticks: { color: colour("soft"), callback: (v) => Number.isInteger(v) ? v : "" } }), y: axis("times faster than the baseline", { beginAtZero: true }) },
        plugins: { legend: { labels: { color: colour("ink"), usePointStyle: true } }, tooltip: { filter: (item) => item.raw.r, callbacks: { label: (item) => "round " + item.raw.r.number + ": " + times(item.raw.r.score) + ", " + item.raw.r.decision.toLowerCase(), afterLabel: (item) => item.raw.r.change } } } } }));
  };
  const drawRoofline = () => {
    const value = (name) => ((record.facts.facts || {})[name] || {}).value;
    const bandwidth = value("copy_bandwidth_bytes_per_s"), peak = value("peak_flops_" + record.arithmetic_type) || value("peak_flops_f32");
    const shapes = record.shapes.filter((s) => s.intensity > 0 && (s.best_us > 0 || s.baseline_us > 0));
    const point = (s, us) => ({ x: s.intensity, y: s.flops / us / 1e3, s, us });
    const series = (label, name, style, pick) => ({ type: "scatter", label, data: shapes.filter((s) => pick(s) > 0).map((s) => point(s, pick(s))), borderColor: colour(name), backgroundColor: style === "circle" ? colour(name) : "transparent", pointStyle: style, radius: 6, borderWidth: 2 });
    const xs = shapes.map((s) => s.intensity), ridge = bandwidth && peak ? peak / bandwidth : 1;
    const x = decades(Math.min(ridge / 4, ...xs) * 0.9, Math.max(ridge * 4, ...xs) * 1.1);
    const roofs = [];
    if (bandwidth && peak) roofs.push({ type: "line", label: "roof: " + digits(bandwidth / 1e9) + " GB/s, " + digits(peak / 1e9) + " GFLOP/s", data: [x.min, ridge, x.max].map((i) => ({ x: i, y: Math.min(i * bandwidth, peak) / 1e9 })), borderColor: colour("soft"), borderWidth: 2, pointRadius: 0, pointHitRadius: 0, tension: 0 });
    const links = shapes.filter((s) => s.best_us > 0 && s.baseline_us > 0).map((s) => ({ type: "line", label: "", data: [point(s, s.baseline_us), point(s, s.best_us)].map(({ x: px, y }) => ({ x: px, y })), borderColor: colour("line"), borderWidth: 1.5, pointRadius: 0, pointHitRadius: 0 }));
    at("roofline-text").textContent = bandwidth && peak ? "Work over compulsory bytes against attained speed. No kernel can stand above the line: memory limits the slope, arithmetic the flat part. Small shapes may live in caches, which are faster than the memory that the line is drawn for." : "This machine was not measured, so no roof is drawn: run ako doctor --measure.";
    charts.push(new Chart(at("roofline-chart"), { data: { datasets: [series("best", "good", "circle", (s) => s.best_us), series("baseline", "warn", "rect", (s) => s.baseline_us), ...roofs, ...links] },
      options: { maintainAspectRatio: false, animation: false, scales: { x: axis("operations per byte", { type: "logarithmic", ...x, ticks: { color: colour("soft"), callback: (v) => Number.isInteger(Math.log10(v)) ? plain(v) : "" } }), y: axis("GFLOP/s", { type: "logarithmic", ticks: { color: colour("soft"), callback: (v) => Number.isInteger(Math.log10(v)) ? plain(v) : "" } }) },
        plugins: { legend: { labels: { color: colour("ink"), usePointStyle: true, filter: (item) => item.text !== "" } }, tooltip: { filter: (item) => item.raw.s, callbacks: { label: (item) => item.raw.s.label + ", " + item.dataset.label + ": " + duration(item.raw.us) + ", " + digits(item.raw.y) + " GFLOP/s" + (item.dataset.label === "best" ? ", " + percent(item.raw.s.efficiency) + " of the roof" : "") } } } } }));
  };
  const drawSamples = () => {
    const chosen = samplesOf().find((s) => s.shape === shapeSelect.value);
    if (!chosen) { at("sample-text").textContent = "No timings."; return; }
    const series = (values, label, name, style) => ({ type: "scatter", label, data: values.map((y, i) => ({ x: i + 1, y })), borderColor: colour(name), backgroundColor: "transparent", pointStyle: style, radius: 4, borderWidth: 1.5 });
    charts.push(new Chart(at("sample-chart"), { data: { datasets: [series(chosen.a, chosen.names[0], "good", "circle"), ...(chosen.b.length ? [series(chosen.b, chosen.names[1], "warn", "rect")] : [])] },
      options: { maintainAspectRatio: false, animation: false, scales: { x: axis("batch, in the order taken", { type: "linear" }), y: axis("µs per launch", { beginAtZero: false }) }, plugins: { legend: { labels: { color: colour("ink"), usePointStyle: true } }, tooltip: { callbacks: { label: (item) => item.dataset.label + ": " + duration(item.raw.y) } } } } }));
    at("sample-text").textContent = chosen.names[0] + ": median " + duration(median(chosen.a)) + " of " + chosen.a.length + " batches" + (chosen.b.length ? "; " + chosen.names[1] + ": median " + duration(median(chosen.b)) + " of " + chosen.b.length : "") + ". The cost of releasing the guest is already subtracted.";
  };
  const draw = () => { charts.forEach((chart) => chart.destroy()); charts = []; drawProgress(); drawRoofline(); drawSamples(); };
  roundSelect.onchange = () => { fillShapes(); draw(); };
  shapeSelect.onchange = draw;
  at("theme").onclick = () => { const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches; document.documentElement.dataset.theme = dark ? "light" : "dark"; draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("hashchange", () => { const target = document.querySelector(location.hash || "#none"); if (target && target.tagName === "DETAILS") target.open = true; });
  fillShapes();
  draw();
})();
