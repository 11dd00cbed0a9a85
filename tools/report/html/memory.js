// A plan's memory over time, and its partitions and streams.

// What the panel of a plan says, made ready: times are positions in the order of execution.
class Plan {
  constructor(panel) {
    Object.assign(this, panel);
    const b = panel.buffers;
    this.count = b.name.length;
    this.stepCount = panel.steps.name.length;
    let least = Infinity, most = 0;
    for (let i = 0; i < this.count; ++i) {
      least = Math.min(least, b.first[i]);
      most = Math.max(most, b.last[i] + 1);
    }
    this.begin = this.stepCount ? 0 : (this.count ? least : 0);
    this.end = Math.max(this.stepCount, most, this.begin + 1);
    this.partitions = panel.partitions || [];
    this.edges = panel.edges || [];
    this.badBuffers = new Set();
    this.badSteps = new Set();
    for (const finding of panel.findings || []) {
      finding.buffers.forEach((name) => this.badBuffers.add(name.replace(/^\$/, "")));
      finding.nodes.forEach((name) => this.badSteps.add(name));
    }
  }
  // Who makes and who reads each buffer; made when it is first asked for.
  uses() {
    if (this.used) return this.used;
    this.used = {writers: new Map(), readers: new Map(), into: new Map(), outOf: new Map()};
    const add = (map, key, value) => { if (map.has(key)) map.get(key).push(value); else map.set(key, [value]); };
    for (let i = 0; i < this.edges.length; i += 3) {
      const [from, to, buffer] = [this.edges[i], this.edges[i + 1], this.edges[i + 2]];
      if (from >= 0) add(this.used.writers, buffer, from);
      add(this.used.readers, buffer, to);
      if (to >= 0) add(this.used.into, to, [from, buffer]);
      if (from >= 0) add(this.used.outOf, from, [to, buffer]);
    }
    return this.used;
  }
  step(at) {
    return at < this.stepCount ? "'" + this.steps.name[at] + "'" : "";
  }
  stepWords(at) {
    return this.stepCount ? "step " + at + " " + this.step(at) : "time " + at;
  }
  partitionAt(at) { return this.partitions.find((p) => p.begin <= at && at < p.end); }

  // Buffers of a pool as boxes, in one of two layouts: as planned, or each at bytes of its own.
  boxes(pool, ownBytes) {
    const b = this.buffers, kind = this.pools[pool].kind, align = this.pools[pool].alignment || 1;
    const boxes = [];
    for (let i = 0; i < this.count; ++i) {
      if (b.pool[i] === pool) boxes.push({i, name: b.name[i], size: b.size[i], first: b.first[i], last: b.last[i], low: b.offset[i], bad: this.badBuffers.has(b.name[i])});
    }
    boxes.sort((x, y) => x.first - y.first || x.low - y.low);
    let next = 0;
    for (const box of boxes) {
      if (kind === "heap") box.low = next++, box.high = next;
      else if (ownBytes) box.low = next, box.high = next + box.size, next += Math.ceil(box.size / align) * align;
      else box.high = box.low + box.size;
    }
    return boxes;
  }
  // Bytes in use at each time, as [time, bytes] where they change; sizes are aligned.
  live(pool) {
    const b = this.buffers, align = this.pools[pool].alignment || 1, change = new Map();
    const add = (time, by) => change.set(time, (change.get(time) || 0) + by);
    for (let i = 0; i < this.count; ++i) {
      if (b.pool[i] !== pool) continue;
      const size = Math.ceil(b.size[i] / align) * align;
      add(b.first[i], size);
      add(b.last[i] + 1, -size);
    }
    let now = 0;
    return [...change].sort((x, y) => x[0] - y[0]).map(([time, by]) => [time, now += by]);
  }
}

// The window of time that the charts of a plan share.
function windowOf(plan, charts) {
  const view = {x0: 0, x1: plan.end - plan.begin, limit: plan.end - plan.begin, least: 2};
  view.changed = () => charts.forEach((chart) => chart.redraw());
  return view;
}

function timeAxis(context, colors, plan, view, box, unit) {
  const step = Math.max(roundStep(view.x1 - view.x0, box.width / (5 * unit)), 1);
  context.fillStyle = colors.muted;
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  context.textAlign = "center";
  context.textBaseline = "top";
  for (let t = Math.ceil(view.x0 / step) * step; t < view.x1; t += step) {
    const x = Math.round(box.left + (t - view.x0) / (view.x1 - view.x0) * box.width) + 0.5;
    context.beginPath();
    context.moveTo(x, box.top);
    context.lineTo(x, box.top + box.height);
    context.stroke();
    context.fillText(number(t + plan.begin), clamp(x, box.left + unit, box.left + box.width - unit), box.top + box.height + 4);
  }
}

function bytesAxis(context, colors, box, most, unit, count) {
  const step = roundBytes(most, count);
  context.fillStyle = colors.muted;
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let value = 0; value <= most; value += step) {
    const y = box.top + box.height - value / most * box.height;
    context.fillText(value === 0 ? "0" : bytes(value), box.left - 6, clamp(y, box.top + unit * 0.4, box.top + box.height - unit * 0.3));
  }
}

const small = (unit, colors) => 0.76 * unit + "px " + colors.font;

// Bytes in use over time, with peak and bound.
function liveChart(plan, pool, view, most) {
  const live = plan.live(pool), peak = plan.pools[pool].size;
  const bound = live.reduce((m, [, value]) => Math.max(m, value), 0);
  let box;
  const at = (time) => {
    let low = 0, high = live.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (live[middle][0] <= time) low = middle + 1;
      else high = middle;
    }
    return low ? live[low - 1][1] : 0;
  };
  const chart = new Chart("Bytes in use over time: at most " + bytes(bound) + " of an arena of " + bytes(peak), () => 8 * rem(), {
    draw(context, width, height, colors) {
      const unit = this.unit;
      box = {left: 4.6 * unit, top: 6, width: width - 5 * unit, height: height - 6 - 1.6 * unit};
      context.font = small(unit, colors);
      timeAxis(context, colors, plan, view, box, unit);
      bytesAxis(context, colors, box, most, unit, 3);
      const x = (t) => box.left + (t - plan.begin - view.x0) / (view.x1 - view.x0) * box.width;
      const y = (value) => box.top + box.height * (1 - value / most);
      context.save();
      context.beginPath();
      context.rect(box.left, box.top - 2, box.width, box.height + 2);
      context.clip();
      context.beginPath();
      context.moveTo(x(plan.begin), y(0));
      let now = 0;
      for (const [time, value] of live) {
        context.lineTo(x(time), y(now));
        context.lineTo(x(time), y(value));
        now = value;
      }
      context.lineTo(x(plan.end), y(now));
      context.lineTo(x(plan.end), y(0));
      context.globalAlpha = 0.75;
      context.fillStyle = colors.c0;
      context.fill();
      context.globalAlpha = 1;
      const line = (value, dash, stroke) => {
        context.strokeStyle = stroke;
        context.lineWidth = 0.1 * unit;
        context.setLineDash(dash);
        context.beginPath();
        context.moveTo(box.left, y(value));
        context.lineTo(box.left + box.width, y(value));
        context.stroke();
        context.setLineDash([]);
      };
      line(peak, [], colors.ink);
      line(bound, [0.4 * unit, 0.3 * unit], colors.ok);
      context.restore();
    },
    tell(x) {
      if (!box || x < box.left || x > box.left + box.width) return null;
      const time = Math.floor(view.x0 + (x - box.left) / box.width * (view.x1 - view.x0)) + plan.begin;
      return [bytes(at(time)) + " in use", plan.stepWords(time)];
    },
  });
  return chart;
}

// Time to the right, addresses up: a box for each buffer.
// `planned`: of a layout without reuse, the bytes that the plan takes instead.
function memoryChart(plan, pool, ownBytes, view, most, planned, onchoose) {
  const boxes = plan.boxes(pool, ownBytes), heap = plan.pools[pool].kind === "heap";
  const top = heap ? boxes.length || 1 : most;
  let plot, chosen = null;
  const x = (t) => plot.left + (t - plan.begin - view.x0) / (view.x1 - view.x0) * plot.width;
  const y = (value) => plot.top + plot.height * (1 - value / top);
  const find = (px, py) => {
    if (!plot) return null;
    const time = view.x0 + (px - plot.left) / plot.width * (view.x1 - view.x0) + plan.begin;
    const place = (1 - (py - plot.top) / plot.height) * top;
    for (let i = boxes.length; i-- > 0;) {
      const box = boxes[i];
      if (box.first <= time && time < box.last + 1 && box.low <= place && place < box.high) return i;
    }
    return null;
  };
  const words = (box) => "$" + box.name + ", " + bytes(box.size);
  const places = (box) => (heap ? "in a heap" : "bytes [" + number(box.low) + ", " + number(box.high) + ")");
  const chart = new Chart((ownBytes ? "Without reuse" : "Memory as planned") + ": " + plural(boxes.length, "buffer", "buffers") + ". Arrow keys go from buffer to buffer, plus and minus zoom.", (width) => clamp(width * 0.55, 15 * rem(), Math.max(28 * rem(), innerHeight - 34 * rem())) + (planned ? 9.2 * rem() : 0), {
    draw(context, width, height, colors) {
      const unit = this.unit;
      plot = {left: 4.6 * unit, top: 6, width: width - 5 * unit, height: height - 6 - 1.6 * unit};
      context.font = small(unit, colors);
      context.fillStyle = colors.soft;
      context.fillRect(plot.left, plot.top, plot.width, plot.height);
      timeAxis(context, colors, plan, view, plot, unit);
      if (!heap) bytesAxis(context, colors, plot, top, unit, 6);
      context.save();
      context.beginPath();
      context.rect(plot.left, plot.top, plot.width, plot.height);
      context.clip();
      const last = view.x1 + plan.begin, first = view.x0 + plan.begin;
      context.textAlign = "left";
      context.textBaseline = "middle";
      const bad = [];
      for (let i = 0; i < boxes.length; ++i) {
        const box = boxes[i];
        if (box.last + 1 < first || box.first > last || box.size === 0) continue;
        const left = x(box.first), right = x(box.last + 1), high = y(box.high), low = y(box.low);
        const gap = right - left > 4 && low - high > 4 ? 0.75 : 0;
        context.fillStyle = colors["c" + (box.i % 8)];
        context.fillRect(left + gap, high + gap, Math.max(right - left - 2 * gap, 0.8), Math.max(low - high - 2 * gap, 0.8));
        if (box.bad) bad.push([left, high, right - left, low - high]);
        const shown = Math.max(left, plot.left), room = Math.min(right, plot.left + plot.width) - shown - 8;
        if (room > 2.2 * unit && low - high > unit) {
          context.fillStyle = colors.ink;
          drawText(context, "$" + box.name, shown + 4, (high + low) / 2, room);
        }
      }
      context.strokeStyle = colors.bad;
      context.lineWidth = 0.16 * unit;
      for (const [left, high, wide, tall] of bad) context.strokeRect(left + 1, high + 1, Math.max(wide - 2, 1), Math.max(tall - 2, 1));
      if (!heap) {
        context.lineWidth = 0.1 * unit;
        context.strokeStyle = colors.ink;
        const peak = boxes.reduce((m, box) => Math.max(m, box.high), 0);
        context.beginPath();
        context.moveTo(plot.left, y(peak));
        context.lineTo(plot.left + plot.width, y(peak));
        context.stroke();
      }
      if (planned) {
        context.strokeStyle = context.fillStyle = colors.accent;
        context.lineWidth = 0.1 * unit;
        context.setLineDash([0.15 * unit, 0.2 * unit]);
        context.beginPath();
        context.moveTo(plot.left, y(planned));
        context.lineTo(plot.left + plot.width, y(planned));
        context.stroke();
        context.setLineDash([]);
        context.textAlign = "right";
        context.fillText("planned: " + bytes(planned), plot.left + plot.width - 6, y(planned) - 0.6 * unit);
      }
      if (chosen !== null) {
        const box = boxes[chosen];
        context.strokeStyle = colors.ink;
        context.lineWidth = 0.16 * unit;
        context.strokeRect(x(box.first), y(box.high), Math.max(x(box.last + 1) - x(box.first), 2), Math.max(y(box.low) - y(box.high), 2));
      }
      context.restore();
    },
    hit: find,
    choose(i) { chosen = i; chart.redraw(); onchoose(boxes[i].i); },
    tell(px, py) {
      const i = find(px, py);
      if (i === null) return null;
      const box = boxes[i];
      return [words(box), places(box), "from " + plan.stepWords(box.first), "to " + plan.stepWords(box.last)];
    },
    press(event) {
      if (this.zoomKeys(event)) return true;
      const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
      if (!by || !boxes.length) return false;
      this.choose(clamp(chosen === null ? 0 : chosen + by, 0, boxes.length - 1));
      return true;
    },
  });
  chart.title = ownBytes ? "each buffer at bytes of its own" : "as planned";
  chart.zoomable(view, () => plot || {left: 0, width: 1});
  chart.mark = (buffer) => {
    chosen = boxes.findIndex((box) => box.i === buffer);
    if (chosen < 0) chosen = null;
    chart.redraw();
  };
  return chart;
}

// What is known of a buffer, for the side.
function tellBuffer(side, plan, i, goToStep) {
  const b = plan.buffers, uses = plan.uses(), pool = plan.pools[b.pool[i]];
  const list = (steps) => h("ul", {}, [...new Set(steps)].slice(0, 40).map((at) => h("li", {}, at < 0 ? "an output of the program" : h("button.link", {type: "button", onclick: () => goToStep(at)}, plan.stepWords(at)))));
  const writers = uses.writers.get(i) || [], readers = uses.readers.get(i) || [];
  side.show("$" + b.name[i],
    pairs([["size", bytes(b.size[i])], ["pool", "@" + pool.name + ", " + pool.kind], ["bytes", pool.kind === "heap" ? "each call's own" : "[" + number(b.offset[i]) + ", " + number(b.offset[i] + b.size[i]) + ")"],
      ["first", plan.stepWords(b.first[i])], ["last", plan.stepWords(b.last[i])], ["lives", plural(b.last[i] - b.first[i] + 1, "step", "steps")]]),
    (plan.findings || []).filter((f) => f.buffers.some((name) => name.replace(/^\$/, "") === b.name[i])).map((f) => h("p.bad.block", {}, f.rule + ": " + f.message)),
    writers.length ? [h("h4", {}, "written by"), list(writers)] : null, readers.length ? [h("h4", {}, "read by"), list(readers)] : null);
}

function memoryView(plan, goToStep) {
  const before = plan.before ? new Plan(plan.before) : null;
  const arenas = plan.pools.map((pool, i) => i).filter((i) => plan.buffers.pool.includes(i));
  if (!arenas.length) return {element: h("p.empty", {}, "The plan has no buffers."), go() {}};
  arenas.sort((a, b) => (plan.pools[b].kind === "arena") - (plan.pools[a].kind === "arena") || plan.pools[b].size - plan.pools[a].size);
  let pool = arenas[0], mode = innerWidth < 700 || !(before || plan.no_reuse > plan.peak || !plan.stepCount) ? "planned" : "both";
  const main = h("div");
  const side = new Side(main);
  const holder = h("div");
  const poolSelect = select("pool", arenas.map((i) => [String(i), "@" + plan.pools[i].name + ", " + plan.pools[i].kind + ", " + bytes(plan.pools[i].size)]), (value) => { pool = Number(value); build(); }, String(pool));
  const modes = segments("layout", [["before", before ? "before" : "without reuse"], ["planned", before ? "after" : "planned"], ["both", "both"]], mode, (value) => { mode = value; build(); });
  const search = h("input", {type: "search", placeholder: "name of a buffer"});
  let marks = [];
  const go = (i) => {
    if (plan.buffers.pool[i] !== pool) {
      pool = plan.buffers.pool[i];
      poolSelect.querySelector("select").value = String(pool);
      build();
    }
    marks.forEach((mark) => mark(i));
    tellBuffer(side, plan, i, goToStep);
  };
  search.addEventListener("change", () => {
    const word = search.value.replace(/^\$/, "");
    const names = plan.buffers.name, exact = names.indexOf(word);
    const i = exact >= 0 ? exact : names.findIndex((name) => name.includes(word));
    if (i >= 0 && word) go(i);
  });
  const build = () => {
    const kind = plan.pools[pool].kind, isArena = kind === "arena" && mode !== "planned";
    modes.hidden = kind !== "arena";
    const other = before ? before.pools.findIndex((each) => each.name === plan.pools[pool].name) : -1;
    const planned = plan.boxes(pool, false).reduce((m, box) => Math.max(m, box.high), plan.pools[pool].size || 1);
    const unreused = isArena ? (before ? (other < 0 ? 0 : Math.max(before.pools[other].size, 1)) : plan.boxes(pool, true).reduce((m, box) => Math.max(m, box.high), 1)) : 0;
    // One scale for both shows what reuse saves, as long as the smaller one can still be read.
    const isOneScale = unreused <= 3 * planned && planned <= 3 * Math.max(unreused, 1);
    const most = (own) => Math.max(isOneScale && isArena ? Math.max(planned, unreused) : own, 1);
    marks = [];
    const cards = [];
    const add = (whose, own, title, size) => {
      const list = [], at = whose === plan ? pool : other;
      const view = windowOf(whose, list);
      const chart = memoryChart(whose, at, own, view, most(size), own && mode === "both" ? planned : 0, (i) => tellBuffer(side, whose, i, goToStep));
      chart.element.querySelector(".tools span").textContent = title + bytes(size) + (isArena && mode === "both" && !isOneScale ? ", on a scale of its own" : "");
      list.push(chart);
      if (whose === plan) marks.push(chart.mark);
      const card = h("div.card", {}, chart.element);
      if (kind !== "heap" && !own) {
        const live = liveChart(whose, at, view, most(size));
        list.push(live);
        card.append(live.element);
      }
      cards.push(card);
    };
    if (isArena && before && other >= 0) add(before, false, "before, " + before.title + ": ", unreused);
    if (isArena && !before) add(plan, true, "without reuse: ", unreused);
    if (kind !== "arena" || mode !== "before") add(plan, false, before ? "after, " + plan.title + ": " : "planned: ", planned);
    holder.replaceChildren(h("div.pair", {}, cards),
      h("div.legend", {}, kind === "heap" ? null : [h("span", {}, h("i.k-live"), "bytes in use"), h("span", {}, h("i.line.k-peak"), "peak: what the pool takes"), h("span", {}, h("i.line.dash.k-bound"), "bound: the most that is in use at once")], plan.badBuffers.size ? h("span", {}, h("i.k-bad"), "named in a finding") : null, h("span", {}, "Drag to move, + and \u2212 or Ctrl and wheel to zoom, arrow keys for the next buffer.")));
  };
  build();
  const rows = [...plan.buffers.name.keys()];
  const b = plan.buffers;
  const table = new Table("Buffers", [
    {title: "buffer", key: (i) => b.name[i], cell: (i) => h("code", {}, "$" + b.name[i]), width: "minmax(9rem, 2fr)"},
    {title: "size", key: (i) => b.size[i], cell: (i) => bytes(b.size[i]), width: "6rem", number: true},
    {title: "pool", key: (i) => b.pool[i], cell: (i) => "@" + plan.pools[b.pool[i]].name, width: "6rem"},
    {title: "offset", key: (i) => b.offset[i], cell: (i) => number(b.offset[i]), width: "7rem", number: true},
    {title: "first", key: (i) => b.first[i], cell: (i) => number(b.first[i]), width: "4.5rem", number: true},
    {title: "last", key: (i) => b.last[i], cell: (i) => number(b.last[i]), width: "4.5rem", number: true},
  ], go);
  table.set(rows);
  table.element.style.maxHeight = "24rem";
  main.append(h("div.bar", {}, arenas.length > 1 ? poolSelect : null, modes, h("label", {}, "find", search)), holder, h("details.fold", {}, h("summary", {}, "All " + plural(rows.length, "buffer", "buffers") + " as a table"), table.element));
  return {element: side.element, go};
}

// ---- partitions and streams ----

function timelineView(plan, goToStep) {
  if (!plan.stepCount) return h("p.empty", {}, "This is a packing alone: it has no steps.");
  const streams = plan.steps.stream.reduce((m, s) => Math.max(m, s), 0) + 1;
  const list = [];
  const view = windowOf(plan, list);
  let plot, chosen = null;
  const x = (t) => plot.left + (t - view.x0) / (view.x1 - view.x0) * plot.width;
  const stepAt = (px) => clamp(Math.floor(view.x0 + (px - plot.left) / plot.width * (view.x1 - view.x0)), 0, plan.stepCount - 1);
  const recorded = new Map();
  plan.steps.records.forEach((events, at) => events.forEach((event) => recorded.set(event, at)));
  const main = h("div");
  const side = new Side(main);
  const band = 2.6, lane = 2.4;
  const tellStep = (at) => {
    const partition = plan.partitionAt(at);
    side.show(plan.stepWords(at), pairs([["op", h("code", {}, plan.steps.op[at])], ["stream", String(plan.steps.stream[at])],
      ["partition", partition ? plan.partitions.indexOf(partition) + ", " + (partition.captured ? "captured" : "eager") : null], ["cut out by", partition ? partition.reason : null],
      ["waits for", plan.steps.waits[at].map((e) => "event " + e + (recorded.has(e) ? " of " + plan.step(recorded.get(e)) : "")).join(", ")], ["records", plan.steps.records[at].map((e) => "event " + e).join(", ")]]),
      plan.steps.body[at].length ? [h("h4", {}, "fused of"), h("ul", {}, plan.steps.body[at].map(([name, op]) => h("li", {}, "'" + name + "' ", h("code.muted", {}, op))))] : null,
      h("p.block", {}, h("button.link", {type: "button", onclick: () => goToStep(at)}, "show it in the graph")));
  };
  const tellPartition = (p) => {
    const names = (title, words) => (words.length ? [h("h4", {}, title), h("p.code", {}, words.map((w) => "$" + w).join(", "))] : null);
    side.show("partition " + plan.partitions.indexOf(p), pairs([["runs", p.captured ? "captured, as one graph" : "eager, step by step"], ["cut out by", p.reason], ["block", "@" + p.block], ["steps", p.begin + " to " + (p.end - 1)], ["symbols", p.symbols.join(", ")]]),
      names("in", p.in), names("in, freed", p.freed), names("out", p.out), names("constants", p.constants));
  };
  const chart = new Chart("Partitions and streams over " + plural(plan.stepCount, "step", "steps") + ". Arrow keys go from step to step.", () => (band + 0.9 + streams * lane + 1.7) * rem(), {
    draw(context, width, height, colors) {
      const unit = this.unit;
      plot = {left: 4.6 * unit, top: 4, width: width - 5 * unit, height: height - 4 - 1.6 * unit};
      context.font = small(unit, colors);
      timeAxis(context, colors, plan, view, plot, unit);
      context.textAlign = "right";
      context.textBaseline = "middle";
      context.fillStyle = colors.muted;
      context.fillText("partition", plot.left - 6, plot.top + band * unit / 2);
      for (let s = 0; s < streams; ++s) context.fillText("stream " + s, plot.left - 6, plot.top + (band + 0.9 + (s + 0.5) * lane) * unit);
      context.save();
      context.beginPath();
      context.rect(plot.left, 0, plot.width, height);
      context.clip();
      context.textAlign = "left";
      for (const [i, p] of plan.partitions.entries()) {
        if (p.end <= p.begin) continue;
        const left = x(p.begin), right = x(p.end);
        if (right < plot.left || left > plot.left + plot.width) continue;
        context.globalAlpha = 0.16;
        context.fillStyle = p.captured ? colors.c0 : colors.c1;
        context.fillRect(left, plot.top, right - left, plot.height);
        context.globalAlpha = 1;
        const gap = right - left > 3 ? 1 : 0;
        context.fillRect(left + gap, plot.top, Math.max(right - left - 2 * gap, 0.8), band * unit);
        const shown = Math.max(left, plot.left), room = Math.min(right, plot.left + plot.width) - shown - 8;
        if (room > unit) {
          context.fillStyle = colors.ink;
          drawText(context, i + (p.captured ? " captured" : " eager"), shown + 4, plot.top + 0.8 * unit, room);
          if (!p.captured) drawText(context, p.reason, shown + 4, plot.top + 1.85 * unit, room);
          else drawText(context, plural(p.end - p.begin, "step", "steps"), shown + 4, plot.top + 1.85 * unit, room);
        }
      }
      const first = Math.max(Math.floor(view.x0), 0), last = Math.min(Math.ceil(view.x1), plan.stepCount);
      const wide = plot.width / (view.x1 - view.x0);
      const top = (s) => plot.top + (band + 0.9 + s * lane) * unit;
      for (let at = first; at < last; ++at) {
        const s = plan.steps.stream[at], gap = wide > 4 ? 1 : 0;
        const isBad = plan.badSteps.has(plan.steps.name[at]);
        context.fillStyle = isBad ? colors.bad : plan.steps.body[at].length ? colors.c4 : colors.c2;
        context.fillRect(x(at) + gap, top(s), Math.max(wide - 2 * gap, 0.8), lane * unit - 6);
        if (at === chosen) {
          context.strokeStyle = colors.ink;
          context.lineWidth = 0.16 * unit;
          context.strokeRect(x(at), top(s), Math.max(wide, 2), lane * unit - 6);
        }
        if (wide > 3 * unit) {
          context.fillStyle = colors.ink;
          drawText(context, plan.steps.name[at], x(at) + 5, top(s) + (lane * unit - 6) / 2, wide - 10);
        }
      }
      if (wide > 3) {
        context.strokeStyle = context.fillStyle = colors.muted;
        context.lineWidth = 0.08 * unit;
        for (let at = first; at < last; ++at) {
          for (const event of plan.steps.waits[at]) {
            if (!recorded.has(event)) continue;
            const from = recorded.get(event);
            const a = [x(from + 1), top(plan.steps.stream[from]) + lane * unit / 2 - 3], b = [x(at), top(plan.steps.stream[at]) + lane * unit / 2 - 3];
            context.beginPath();
            context.moveTo(...a);
            context.bezierCurveTo((a[0] + b[0]) / 2, a[1], (a[0] + b[0]) / 2, b[1], ...b);
            context.stroke();
            context.beginPath();
            context.arc(b[0], b[1], 0.17 * unit, 0, 7);
            context.fill();
          }
        }
      }
      context.restore();
    },
    hit(px, py) {
      if (!plot || px < plot.left) return null;
      const at = stepAt(px);
      return py < plot.top + band * this.unit ? {partition: plan.partitionAt(at)} : {step: at};
    },
    choose(thing) {
      if (thing.partition) tellPartition(thing.partition);
      else if (thing.step !== undefined) { chosen = thing.step; chart.redraw(); tellStep(chosen); }
    },
    tell(px, py) {
      if (!plot || px < plot.left || px > plot.left + plot.width) return null;
      const at = stepAt(px), p = plan.partitionAt(at);
      if (py < plot.top + band * this.unit && p) return ["partition " + plan.partitions.indexOf(p) + (p.captured ? " captured" : " eager"), p.reason || plural(p.end - p.begin, "step", "steps"), "steps " + p.begin + " to " + (p.end - 1)];
      return [plan.stepWords(at), plan.steps.op[at], "stream " + plan.steps.stream[at]];
    },
    press(event) {
      if (this.zoomKeys(event)) return true;
      const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!by) return false;
      chosen = clamp(chosen === null ? 0 : chosen + by, 0, plan.stepCount - 1);
      if (chosen < view.x0 || chosen >= view.x1) {
        const span = view.x1 - view.x0;
        view.x0 = clamp(chosen - span / 2, 0, view.limit - span);
        view.x1 = view.x0 + span;
      }
      chart.redraw();
      tellStep(chosen);
      return true;
    },
  });
  list.push(chart);
  chart.zoomable(view, () => plot || {left: 0, width: 1});
  const table = new Table("Partitions", [
    {title: "#", key: (p) => plan.partitions.indexOf(p), cell: (p) => plan.partitions.indexOf(p), width: "3rem", number: true},
    {title: "runs", key: (p) => Number(p.captured), cell: (p) => (p.captured ? "captured" : "eager"), width: "5.5rem"},
    {title: "steps", key: (p) => p.end - p.begin, cell: (p) => number(p.end - p.begin), width: "4rem", number: true},
    {title: "from", cell: (p) => h("code", {}, p.end > p.begin ? plan.step(p.begin) : ""), width: "minmax(9rem, 1fr)"},
    {title: "cut out by", key: (p) => p.reason, cell: (p) => p.reason || h("span.muted", {}, "\u2013"), width: "minmax(12rem, 2fr)"},
    {title: "in", key: (p) => p.in.length + p.freed.length, cell: (p) => p.in.length + p.freed.length, width: "3.2rem", number: true},
    {title: "out", key: (p) => p.out.length, cell: (p) => p.out.length, width: "3.2rem", number: true},
  ], (p) => {
    const span = Math.max((p.end - p.begin) * 1.4, Math.min(8, view.limit));
    view.x0 = clamp((p.begin + p.end - span) / 2, 0, Math.max(view.limit - span, 0));
    view.x1 = Math.min(view.x0 + span, view.limit);
    view.changed();
    tellPartition(p);
  });
  table.set(plan.partitions.slice());
  table.element.style.maxHeight = "26rem";
  main.append(h("div.card", {}, chart.element, h("div.legend", {}, h("span", {}, h("i.k-captured"), "captured partition"), h("span", {}, h("i.k-eager"), "eager partition, with what cut it out"), h("span", {}, h("i.k-fused"), "fused step"), h("span", {}, "Lines between streams are events that a step waits for."))), h("div.block", {}, table.element));
  return side.element;
}
