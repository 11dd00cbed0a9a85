// What was judged, as tables: runs, cases beside versions; where two runs part; a campaign.

const outcomeCell = (item) => h("span.words." + item.class, {}, item.outcome);

function runsView(sections, goToPlan) {
  const items = [];
  const hasCases = sections.some((section) => section.cases);
  let which = "items";
  const all = () => sections.flatMap((section) => (which === "cases" && section.cases ? section.cases : section.items).map((item) => Object.assign(item, {subjects: section.subjects})));
  items.push(...all());
  const judgesOf = (item) => [...new Set((item.findings || []).map((f) => f.judge).filter(Boolean))];
  const askedOf = (item) => [...new Set([...(item.judges || []).map((j) => j.name), ...judgesOf(item)])];
  const values = (get) => [...new Set(all().flatMap(get))].sort();
  const filters = {outcome: "", op: "", judge: "", words: ""};
  const main = h("div");
  const side = new Side(main);
  const has = (get) => items.some(get);
  const columns = [
    {title: "outcome", key: (i) => i.outcome, cell: outcomeCell, width: "6.5rem"},
    {title: "what", key: (i) => i.place, cell: (i) => path(i.place), width: "minmax(14rem, 2fr)"},
  ];
  if (has((i) => i.kind)) columns.push({title: "kind", key: (i) => i.kind || "", cell: (i) => i.kind || "", width: "minmax(6rem, 8rem)"});
  if (has((i) => i.ratio)) columns.push({title: "error / allowed", key: (i) => i.ratio ?? -1, cell: (i) => (i.ratio ? ratio(i.ratio) : i.ratio === null ? h("span.bad", {}, "none allowed") : h("span.muted", {}, "\u2013")), width: "7.5rem", number: true});
  if (has((i) => (i.findings || []).length)) {
    columns.push({title: "findings", key: (i) => (i.findings || []).length, cell: (i) => (i.findings || []).length || h("span.muted", {}, "\u2013"), width: "5rem", number: true});
    if (has((i) => judgesOf(i).length)) columns.push({title: "found by", key: (i) => judgesOf(i).join(), cell: (i) => judgesOf(i).join(", ") || h("span.muted", {}, "\u2013"), width: "minmax(6rem, 10rem)"});
  }
  if (has((i) => i.seconds)) columns.push({title: "time", key: (i) => i.seconds || 0, cell: (i) => (i.seconds ? seconds(i.seconds) : h("span.muted", {}, "\u2013")), width: "5rem", number: true});
  columns.push({title: "why", key: (i) => i.reason, cell: (i) => h("span", {title: i.reason}, i.reason || h("span.muted", {}, "\u2013")), width: "minmax(14rem, 3fr)"});
  const table = new Table("What was judged", columns, (item) => tell(item));
  const count = h("span.muted", {"aria-live": "polite"});
  const apply = () => {
    const rows = all().filter((item) => (!filters.outcome || item.outcome === filters.outcome) && (!filters.op || (item.ops || []).includes(filters.op)) && (!filters.judge || askedOf(item).includes(filters.judge)) &&
      (!filters.words || (item.place + " " + item.reason).toLowerCase().includes(filters.words.toLowerCase())));
    table.set(rows);
    count.textContent = number(rows.length) + " of " + number(all().length);
  };
  const filter = (name, label, list) => (list.length > 1 || (list.length && name === "op") ? select(label, [["", "any"], ...list.map((v) => [v, v])], (value) => { filters[name] = value; apply(); }, "") : null);
  const words = h("input", {type: "search", placeholder: "words"});
  words.addEventListener("input", () => { filters.words = words.value; apply(); });
  const bar = h("div.bar", {});
  const fill = () => bar.replaceChildren(...[hasCases ? segments("rows", [["items", "what differs"], ["cases", "cases"]], which, (value) => { which = value; fill(); apply(); }) : null,
    filter("outcome", "outcome", values((i) => [i.outcome])), filter("op", "op", values((i) => i.ops || [])), filter("judge", "judge", values(askedOf)), h("label", {}, "with", words), h("span.grow"), count].filter(Boolean));
  const tell = (item) => {
    const findings = (item.findings || []).slice(0, 100);
    side.show(h("span", {}, outcomeCell(item), " ", h("code", {}, item.place)),
      item.reason ? h("p", {}, item.reason) : null,
      item.replay ? [h("h4", {}, "run it again"), paste(item.replay, "the line")] : null,
      goToPlan(item) ? h("p.block", {}, h("button.link", {type: "button", onclick: goToPlan(item)}, "show its plan")) : null,
      (item.remarks || []).length ? [h("h4", {}, "where it begins, and what else is known"), h("ul", {}, item.remarks.map((r) => h("li", {}, r)))] : null,
      findings.length ? [h("h4", {}, plural((item.findings || []).length, "finding", "findings")), h("ul", {}, findings.map((f) => h("li", {}, h("b", {}, f.rule), " ", h("span.muted", {}, [f.judge, f.executor].filter(Boolean).join(", ")), h("div", {}, f.message), f.drawing ? h("pre.paste", {tabindex: 0}, f.drawing) : null)))] : null,
      (item.judges || []).length ? [h("h4", {}, "judges"), h("ul", {}, item.judges.map((j) => h("li", {}, h("b", {}, j.name), " ", j.executor ? h("span.muted", {}, j.executor + " ") : null, h("span.words." + (j.outcome === "PASS" ? "ok" : j.outcome === "FAIL" ? "bad" : "open"), {}, j.outcome), j.checks ? " " + plural(j.checks, "check", "checks") : "", j.seconds ? ", " + seconds(j.seconds) : "", j.remark ? h("div.muted", {}, j.remark) : null)))] : null,
      (item.files || []).length ? [h("h4", {}, "files"), h("ul", {}, item.files.slice(0, 50).map((f) => h("li.code", {}, f)))] : null,
      (item.ops || []).length ? h("details.fold", {}, h("summary", {}, plural(item.ops.length, "op", "ops")), h("p.code", {}, item.ops.join(", "))) : null,
      item.text ? h("details.fold", {open: !findings.length}, h("summary", {}, "as the terminal has it"), h("pre.paste", {tabindex: 0}, item.text)) : null);
  };
  fill();
  apply();
  main.append(bar, table.element);
  return side.element;
}

// ---- what beside what ----

function matrixView(panel) {
  const main = h("div");
  const side = new Side(main);
  const filters = {word: "", words: ""};
  const wordsOf = (row) => [row.word, ...row.cells.map((c) => c.word)].filter(Boolean);
  const letter = {ok: "\u25cf", bad: "\u2716", open: "\u25d0", known: "\u25b2", none: "\u00b7"};
  const show = (cell) => h("span." + cell.class, {title: cell.text || cell.word}, letter[cell.class] + (cell.word ? " " + cell.word : "") + (cell.kind ? ", " + cell.kind : ""));
  const rank = {bad: 0, open: 1, known: 2, ok: 3, none: 4};
  const isNarrow = panel.columns.length > 6;
  // What is worse comes first.
  const worst = (row) => row.cells.reduce((m, c) => Math.min(m, rank[c.class]), row.class ? rank[row.class] : 4);
  if (panel.rows.some((row) => worst(row) < 2)) panel.rows.sort((a, b) => worst(a) - worst(b));
  const columns = [{title: panel.corner, key: (r) => r.name, cell: (r) => h("code", {title: r.text || r.name}, r.name), width: "minmax(9rem, 1.6fr)"}];
  if (panel.rows.some((r) => r.word)) columns.push({title: "verdict", key: (r) => r.word, cell: (r) => h("span.words." + r.class, {}, r.word), width: "minmax(7rem, 9rem)"});
  panel.columns.forEach((name, i) => columns.push({title: name, key: (r) => rank[r.cells[i].class], cell: (r) => (isNarrow && r.cells[i].class === "ok" ? h("span.ok", {title: r.cells[i].word}, "\u25cf") : show(r.cells[i])), width: isNarrow ? "minmax(5.5rem, 1fr)" : "minmax(8rem, 1fr)"}));
  const table = new Table(panel.title, columns, (row) => side.show(h("code", {}, row.name), row.text ? h("p.muted", {}, row.text) : null, row.word ? h("p", {}, h("span.words." + row.class, {}, row.word), row.message ? ": " + row.message : "") : null,
    row.replay ? [h("h4", {}, "run it again"), paste(row.replay, "the line")] : null,
    h("h4", {}, "by column"), h("ul", {}, panel.columns.map((name, i) => (row.cells[i].class === "none" ? null : h("li", {}, h("b", {}, name), " ", show(row.cells[i]), row.cells[i].text ? h("div.muted", {}, row.cells[i].text) : null))).filter(Boolean))));
  const count = h("span.muted", {"aria-live": "polite"});
  const apply = () => {
    const rows = panel.rows.filter((r) => (!filters.word || wordsOf(r).includes(filters.word)) && (!filters.words || (r.name + " " + (r.text || "")).toLowerCase().includes(filters.words.toLowerCase())));
    table.set(rows);
    count.textContent = number(rows.length) + " of " + number(panel.rows.length);
  };
  const words = h("input", {type: "search", placeholder: "words"});
  words.addEventListener("input", () => { filters.words = words.value; apply(); });
  const known = [...new Set(panel.rows.flatMap(wordsOf))].sort(), kinds = new Set(panel.rows.flatMap((r) => r.cells.map((c) => c.class)));
  const sums = panel.columns.map((name, i) => [name, panel.rows.filter((r) => r.cells[i].class === "bad").length, panel.rows.filter((r) => r.cells[i].class !== "none").length]);
  apply();
  main.append(panel.rows.some((r) => r.word) ? facts(sums.map(([name, , any]) => [name, number(any)])) : facts(sums.map(([name, bad, any]) => [name, bad ? number(bad) + " worse" : "nothing worse", "of " + number(any)])),
    h("div.bar", {}, select("with", [["", "anything"], ...known.map((w) => [w, w])], (value) => { filters.word = value; apply(); }, ""), h("label", {}, "named", words), h("span.grow"), count), table.element,
    h("div.legend", {}, [["ok", "good"], ["bad", "worse"], ["open", "open"], ["known", "known before"], ["none", "nothing"]].filter(([kind]) => kinds.has(kind)).map(([kind, text]) => h("span." + kind, {}, letter[kind] + " " + text))));
  return side.element;
}

// ---- where two runs part ----

function partingView(panel) {
  if (!panel.parts) return h("div.card", {}, h("p.lead", {}, panel.left + " and " + panel.right + " do not part."), h("p.muted", {}, plural(panel.nodes, "node run", "node runs") + " compared."), h("ul.lines", {}, (panel.remarks || []).map((r) => h("li", {}, r))));
  const parts = [];
  const node = (name, op) => [h("code", {}, "'" + name + "'"), " ", h("span.muted.code", {}, op)];
  const isOther = panel.other_node && (panel.other_node !== panel.node || panel.other_op !== panel.op);
  parts.push(h("div.card", {}, h("p.lead", {}, "In call " + panel.call + ", ", panel.left, " and ", panel.right, " part at ", ...(panel.node ? node(panel.node, panel.op) : node(panel.other_node, panel.other_op)), isOther && panel.node ? [", where " + panel.right + " has ", ...node(panel.other_node, panel.other_op)] : "", "."),
    panel.off ? h("p", {}, "Off is ", h("b.bad", {}, panel.off), ".") : null, panel.element ? h("p.block", {}, panel.element) : null, h("p.muted.block", {}, plural(panel.nodes, "node run", "node runs") + " compared.")));
  const heat = panel.elements ? h("div.card", {}, h("h2", {}, "Which elements"), heatMap(panel.elements)) : null;
  const list = (title, lines) => (lines && lines.length ? h("div.card", {}, h("h2", {}, title), h("ul.lines", {}, lines.map((line) => h("li", {}, line)))) : null);
  const lists = [list("What it read", panel.read), list("Behind it, call by call", panel.calls), list("What mends it", panel.mended_by), list("Remarks", panel.remarks)].filter(Boolean);
  return h("div", {}, parts, heat ? h("div.pair.block", {}, heat, h("div", {}, lists)) : h("div.pair.block", {}, lists));
}

function heatMap(map) {
  const most = map.distances.reduce((m, d) => (d === null ? m : Math.max(m, d)), 0);
  const least = map.distances.reduce((m, d) => (d ? Math.min(m, d) : m), Infinity);
  const steps = ["heat1", "heat2", "heat3"];
  // By the order of magnitude, since errors spread over many.
  const level = (i) => {
    if (!map.shares[i]) return null;
    const d = map.distances[i];
    if (d === null || most <= 0) return 1;
    return most === least ? 1 : clamp((Math.log(d || least) - Math.log(least)) / (Math.log(most) - Math.log(least)), 0, 1);
  };
  let plot, chosen = null;
  const last = map.sizes[map.sizes.length - 1], rows = map.sizes.slice(0, -1).reduce((a, b) => a * b, 1);
  const range = (i, count, all) => { const a = Math.ceil(i * all / count), b = Math.ceil((i + 1) * all / count) - 1; return a >= b ? String(a) : a + " to " + b; };
  const cell = (px, py) => {
    if (!plot) return null;
    const c = Math.floor((px - plot.left) / plot.cell), r = Math.floor((py - plot.top) / plot.tall);
    return c < 0 || r < 0 || c >= map.columns || r >= map.rows ? null : r * map.columns + c;
  };
  const words = (i) => {
    const r = Math.floor(i / map.columns), c = i % map.columns, d = map.distances[i];
    return ["row " + range(r, map.rows, rows) + ", column " + range(c, map.columns, last), map.shares[i] ? Math.round(100 * map.shares[i]) + "% of these elements differ" : "nothing differs", ...(map.shares[i] ? ["at most by " + (d === null ? "something that is no number" : d.toPrecision(4))] : [])];
  };
  const chart = new Chart("Heat map of the elements that differ, " + map.rows + " by " + map.columns + " cells. Arrow keys go from cell to cell.", (width) => {
    const size = Math.min((width - 4.6 * rem()) / map.columns, 1.15 * rem());
    return map.rows * Math.max(size, Math.min(0.8 * rem(), 200 / map.rows)) + 1.8 * rem();
  }, {
    draw(context, width, height, colors) {
      const unit = this.unit;
      const size = Math.min((width - 4.6 * unit) / map.columns, 1.15 * unit);
      plot = {left: 4.2 * unit, top: 4, cell: size, tall: Math.max(size, Math.min(0.8 * unit, 200 / map.rows))};
      const gap = size > 5 ? 1 : 0;
      for (let i = 0; i < map.shares.length; ++i) {
        const at = level(i);
        context.fillStyle = at === null ? colors.heat0 : steps.map((s) => colors[s])[at < 0.34 ? 0 : at < 0.67 ? 1 : 2];
        context.fillRect(plot.left + i % map.columns * size, plot.top + Math.floor(i / map.columns) * plot.tall, size - gap, plot.tall - gap);
      }
      if (chosen !== null) {
        context.strokeStyle = colors.ink;
        context.lineWidth = 2;
        context.strokeRect(plot.left + chosen % map.columns * size, plot.top + Math.floor(chosen / map.columns) * plot.tall, size, plot.tall);
      }
      context.font = small(unit, colors);
      context.fillStyle = colors.muted;
      context.textBaseline = "top";
      context.textAlign = "left";
      context.fillText("0", plot.left, plot.top + map.rows * plot.tall + 4);
      context.textAlign = "right";
      if (map.columns * size > 3 * unit) context.fillText(String(last - 1), plot.left + map.columns * size, plot.top + map.rows * plot.tall + 4);
      context.fillText("0", plot.left - 6, plot.top);
      context.textBaseline = "bottom";
      if (map.rows * plot.tall > 2 * unit) context.fillText(String(rows - 1), plot.left - 6, plot.top + map.rows * plot.tall);
    },
    tell(px, py) { const i = cell(px, py); return i === null ? null : words(i); },
    press(event) {
      const by = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: map.columns, ArrowUp: -map.columns}[event.key];
      if (!by) return false;
      chosen = chosen === null ? 0 : clamp(chosen + by, 0, map.shares.length - 1);
      said.textContent = words(chosen).join(", ");
      chart.redraw();
      return true;
    },
  });
  const said = h("p.muted", {"aria-live": "polite"});
  const from = (share) => (most > least ? Math.exp(Math.log(least) + share * (Math.log(most) - Math.log(least))) : most).toPrecision(2);
  chart.element.append(h("figcaption", {}, "A tensor of sizes [" + map.sizes.join(", ") + "]: the last dimension to the right, the others down."),
    h("div.legend", {}, h("span", {}, h("i.k-h0"), "the same"), most > least ? [h("span", {}, h("i.k-h1"), "differs, up to " + from(0.34)), h("span", {}, h("i.k-h2"), "up to " + from(0.67)), h("span", {}, h("i.k-h3"), "up to " + from(1) + (map.distances.includes(null) ? ", or no number" : ""))] : h("span", {}, h("i.k-h3"), "differs" + (most ? " by " + from(1) : ""))), said);
  return chart.element;
}

// ---- a campaign ----

// Lines over one axis: series of {name, points [[x, y]...], color}, steps where `stairs`.
function curves(label, series, xWords, yWords, stairs) {
  const most = (get) => series.reduce((m, s) => s.points.reduce((n, p) => Math.max(n, get(p)), m), 0) || 1;
  const right = most((p) => p[0]), top = most((p) => p[1]);
  let plot;
  return new Chart(label, () => 12 * rem(), {
    draw(context, width, height, colors) {
      const unit = this.unit;
      plot = {left: 3.6 * unit, top: 8, width: width - 4.4 * unit, height: height - 8 - 1.7 * unit};
      const x = (v) => plot.left + v / right * plot.width, y = (v) => plot.top + plot.height * (1 - v / top);
      context.font = small(unit, colors);
      context.strokeStyle = colors.line;
      context.fillStyle = colors.muted;
      context.textAlign = "right";
      context.textBaseline = "middle";
      const yStep = roundStep(top, 4);
      for (let v = 0; v <= top; v += yStep) {
        context.beginPath();
        context.moveTo(plot.left, y(v));
        context.lineTo(plot.left + plot.width, y(v));
        context.stroke();
        context.fillText(yWords(v), plot.left - 6, y(v));
      }
      context.textBaseline = "top";
      const xStep = roundStep(right, plot.width / (5.5 * unit));
      for (let v = 0; v <= right; v += xStep) {
        context.textAlign = v === 0 ? "left" : "center";
        context.fillText(xWords(v), clamp(x(v), plot.left, plot.left + plot.width - unit), plot.top + plot.height + 5);
      }
      for (const s of series) {
        context.strokeStyle = colors[s.color];
        context.lineWidth = 0.13 * unit;
        context.beginPath();
        let before = null;
        for (const [px, py] of s.points) {
          if (before === null) context.moveTo(x(px), y(py));
          else {
            if (stairs) context.lineTo(x(px), y(before));
            context.lineTo(x(px), y(py));
          }
          before = py;
        }
        context.stroke();
      }
    },
    tell(px) {
      if (!plot) return null;
      const at = (px - plot.left) / plot.width * right;
      if (at < 0 || at > right) return null;
      const lines = series.map((s) => { const before = s.points.filter((p) => p[0] <= at).pop(); return s.name + ": " + (before ? yWords(before[1]) : "0"); });
      return [xWords(Math.round(at)), ...lines];
    },
  });
}

// Where the time went: by judge, by stage, and what each worker was idle.
function timingsView(panel) {
  const share = (row) => (panel.whole > 0 ? (100 * row.seconds / panel.whole).toFixed(1) + "%" : "");
  const list = (title, rows, name) => {
    const table = new Table(title, [
      {title, key: (row) => row[name], cell: (row) => h("span", {title: row[name]}, row[name]), width: "minmax(13rem, 2fr)"},
      {title: "seconds", key: (row) => row.seconds, cell: (row) => row.seconds.toFixed(3), width: "7rem", number: true},
      {title: "share", key: (row) => row.seconds, cell: share, width: "5rem", number: true},
      {title: "times", key: (row) => row.times || 0, cell: (row) => (row.times ? number(row.times) : ""), width: "7rem", number: true},
    ], () => {});
    table.set(rows);
    return h("div.block", {}, table.element);
  };
  const lanes = facts([["by the clock", seconds(panel.seconds)], ["in all", seconds(panel.whole), plural(panel.lanes.length, "lane", "lanes")], ["idle", seconds(panel.idle)], ...panel.lanes.map((lane) => [lane.lane, seconds(lane.idle), "idle"])]);
  return h("div", {}, lanes, list("by judge", panel.judges, "judge"), list("by stage", panel.stages, "stage"));
}

function campaignView(panel) {
  const outcomes = Object.entries(panel.outcomes || {});
  const main = h("div");
  const side = new Side(main);
  const rate = panel.seconds > 0 ? panel.cases / panel.seconds : 0;
  main.append(facts([["cases", number(panel.cases), "in " + seconds(panel.seconds)], ["rate", rate.toFixed(1), "cases a second"], ["features", number(panel.features.seen), "another with probability " + ratio(panel.features.probability_of_another)], ["new findings", number(panel.new)], ["known", number(panel.known)], ...outcomes.map(([name, count]) => [name, number(count)])]));
  const charts = [];
  const xCases = (v) => number(v), card = (title, chart, words) => h("div.card", {}, h("h2", {}, title), chart.element, words ? h("figcaption", {}, words) : null);
  if (panel.cases) {
    charts.push(card("Features seen, by case", curves("Features over cases", [{name: "features", points: [[0, 0], ...panel.features.curve], color: "c0"}], xCases, xCases, true), "What a case has that none had before it. Where the curve is flat, more of the same finds nothing."));
    if (panel.signatures.seen) charts.push(card("Findings, by case", curves("Findings over cases", [{name: "findings", points: [[0, 0], ...panel.signatures.curve], color: "bad"}], xCases, xCases, true)));
  }
  if (panel.points.length > 1) charts.push(card("Cases a second, over time", curves("Cases a second over time", [{name: "cases a second", points: panel.points.map((p) => [p[0], p[2]]), color: "c2"}], (v) => (v ? seconds(v) : "0 s"), (v) => String(+v.toFixed(1)), false)));
  main.append(h("div.pair", {}, charts));
  const table = new Table("Findings", [
    {title: "outcome", key: (f) => f.outcome, cell: (f) => h("span.words." + (f.outcome === "XFAIL" ? "known" : f.outcome === "FAIL" ? "bad" : "open"), {}, f.outcome), width: "6.5rem"},
    {title: "finding", key: (f) => f.name, cell: (f) => h("code", {title: f.name}, f.name), width: "minmax(13rem, 2fr)"},
    {title: "cases", key: (f) => f.cases, cell: (f) => number(f.cases), width: "4rem", number: true},
    {title: "first", key: (f) => (f.at || [0])[0], cell: (f) => h("code", {}, f.first), width: "minmax(6rem, 7rem)"},
    {title: "looked at", key: (f) => f.status, cell: (f) => f.status + (f.reduced_nodes ? ", " + plural(f.reduced_nodes, "node", "nodes") : ""), width: "minmax(9rem, 11rem)"},
    {title: "what", key: (f) => f.message, cell: (f) => h("span", {title: f.message}, f.message), width: "minmax(14rem, 3fr)"},
  ], (f) => {
    side.show(h("code", {}, f.name), h("p", {}, f.message), h("p.block", {}), pairs([["outcome", f.outcome], ["shows in", plural(f.cases, "case", "cases") + ", first " + f.first], ["signature", h("code", {}, f.signature)], ["known as", [f.known, f.issue].filter(Boolean).join(", ")], ["remark", f.remark], ["file", f.path]]),
      h("h4", {}, "run it again"), paste(f.replay, "the line"),
      (f.history || []).length ? [h("h4", {}, "history"), h("ul", {}, f.history.map(([at, what]) => h("li", {}, h("span.muted", {}, seconds(at) + " "), what)))] : null,
      f.script ? [h("h4", {}, "script, needs PyTorch alone"), paste(f.script, "the script")] : null,
      f.case ? [h("h4", {}, f.reduced_nodes ? "reduced case" : "case"), paste(f.case, "the case")] : null);
  });
  table.set(panel.findings);
  main.append(h("div.block", {}, panel.findings.length ? table.element : h("p.card.muted", {}, "Nothing was found.")));
  const inconclusive = panel.inconclusive || [];
  if (inconclusive.length) main.append(h("details.fold", {}, h("summary", {}, plural(inconclusive.length, "cause", "causes") + " of cases that are neither good nor bad"), h("ul.lines.card", {}, inconclusive.map((one) => h("li", {}, h("b", {}, one.cause), " in " + plural(one.cases, "case", "cases") + ", first ", h("code", {}, one.first), h("div.muted", {}, one.message))))));
  return side.element;
}
