// The graph of a plan: a step in each row that its operands allow, edges for the buffers it reads.

// Rows by longest path, places in a row by where the operands stand. Linear but for the sorting.
function layOut(plan) {
  const uses = plan.uses(), n = plan.stepCount;
  const depth = new Int32Array(n), place = new Float64Array(n);
  for (let at = 0; at < n; ++at) {
    for (const [from] of uses.into.get(at) || []) if (from >= 0 && from < at) depth[at] = Math.max(depth[at], depth[from] + 1);
  }
  const rows = [];
  for (let at = 0; at < n; ++at) (rows[depth[at]] ||= []).push(at);
  const widest = rows.reduce((m, row) => Math.max(m, row.length), 1);
  const settle = (row) => row.forEach((at, i) => { place[at] = (i - (row.length - 1) / 2); });
  rows.forEach(settle);
  const middle = (list, other) => {
    const known = list.filter(([at]) => at >= 0);
    return known.length ? known.reduce((sum, [at]) => sum + place[at], 0) / known.length : other;
  };
  for (let sweep = 0; sweep < 3; ++sweep) {
    for (let r = 0; r < rows.length; ++r) {
      const row = rows[sweep % 2 ? rows.length - 1 - r : r];
      const map = sweep % 2 ? uses.outOf : uses.into;
      const wish = new Map(row.map((at) => [at, middle(map.get(at) || [], place[at])]));
      row.sort((a, b) => wish.get(a) - wish.get(b));
      settle(row);
      // A row of one goes where its operands are; so chains are straight.
      if (row.length === 1) place[row[0]] = wish.get(row[0]);
    }
  }
  return {depth, place, rows, widest};
}

const isRated = (value) => value !== null && value !== undefined;

function graphView(plan, goTo) {
  if (!plan.stepCount) return {element: h("p.empty", {}, "This is a packing alone: it has no steps."), go() {}};
  const {depth, place, rows} = layOut(plan);
  const ratios = plan.steps.ratio || null;
  const main = h("div");
  const side = new Side(main);
  const wide = 11.5, tall = 2.9, gapX = 1.4, gapY = 2.1;  // in rem
  let scale = 1, middleX = 0, middleY = 0, chosen = null, size = {width: 1, height: 1}, unit = 16;
  const toX = (at) => size.width / 2 + (place[at] * (wide + gapX) * unit - middleX) * scale;
  const toY = (at) => size.height / 2 + (depth[at] * (tall + gapY) * unit - middleY) * scale;
  const fill = (at, colors) => {
    const value = ratios ? ratios[at] : null;
    if (ratios && isRated(value)) {
      if (value === "inf" || value > 1) return colors.heat3;
      return value > 0.5 ? colors.heat2 : value > 0.05 ? colors.heat1 : colors.heat0;
    }
    if (ratios) return colors.panel;
    const partition = plan.partitionAt(at);
    return partition && !partition.captured ? colors.c1 : colors.c0;
  };
  const light = (color, colors) => ratios && (color === colors.heat3 || color === colors.heat1 || color === colors.heat2);
  const chart = new Chart("Graph of " + plural(plan.stepCount, "step", "steps") + ". Arrow keys follow edges: up to an operand, down to a reader, left and right in the row.", () => clamp(innerHeight - 15 * rem(), 22 * rem(), 60 * rem()), {
    draw(context, width, height, colors) {
      unit = this.unit;
      size = {width, height};
      context.fillStyle = colors.soft;
      context.fillRect(0, 0, width, height);
      const boxW = wide * unit * scale, boxH = tall * unit * scale;
      const seen = (at) => { const x = toX(at), y = toY(at); return x > -boxW && x < width + boxW && y > -boxH && y < height + boxH; };
      const shown = [];
      // Only the rows in sight.
      const pitch = (tall + gapY) * unit * scale;
      const firstRow = Math.max(Math.floor((0 - size.height / 2) / pitch + middleY * scale / pitch) - 1, 0);
      const lastRow = Math.min(Math.ceil((size.height / 2) / pitch + middleY * scale / pitch) + 1, rows.length - 1);
      for (let r = firstRow; r <= lastRow; ++r) for (const at of rows[r]) if (seen(at)) shown.push(at);
      const uses = plan.uses(), drawn = new Set();
      context.lineWidth = Math.max(0.065 * unit * scale, 0.8);
      const edge = (from, to, strong) => {
        const x0 = toX(from), y0 = toY(from) + boxH / 2, x1 = toX(to), y1 = toY(to) - boxH / 2, bend = Math.max((y1 - y0) / 2, 8 * scale);
        context.strokeStyle = strong ? colors.accent : colors.muted;
        context.globalAlpha = strong ? 1 : chosen === null ? 0.55 : 0.28;
        context.beginPath();
        context.moveTo(x0, y0);
        context.bezierCurveTo(x0, y0 + bend, x1, y1 - bend, x1, y1);
        context.stroke();
      };
      if (shown.length < 4000) {
        for (const at of shown) {
          for (const [from] of uses.into.get(at) || []) if (from >= 0) drawn.add(from * plan.stepCount + at);
          for (const [to] of uses.outOf.get(at) || []) if (to >= 0) drawn.add(at * plan.stepCount + to);
        }
        for (const key of drawn) edge(Math.floor(key / plan.stepCount), key % plan.stepCount, false);
        if (chosen !== null) {
          for (const [from] of uses.into.get(chosen) || []) if (from >= 0) edge(from, chosen, true);
          for (const [to] of uses.outOf.get(chosen) || []) if (to >= 0) edge(chosen, to, true);
        }
      }
      context.globalAlpha = 1;
      const words = scale > 0.38;
      context.textAlign = "left";
      context.textBaseline = "middle";
      for (const at of shown) {
        const x = toX(at) - boxW / 2, y = toY(at) - boxH / 2, back = fill(at, colors);
        context.fillStyle = ratios ? back : colors.panel;
        context.beginPath();
        context.roundRect(x, y, boxW, boxH, 5 * scale);
        context.fill();
        context.strokeStyle = at === chosen ? colors.ink : plan.badSteps.has(plan.steps.name[at]) ? colors.bad : colors.line;
        context.lineWidth = at === chosen || plan.badSteps.has(plan.steps.name[at]) ? 0.16 * unit : 0.06 * unit;
        context.stroke();
        const partition = plan.partitionAt(at);
        context.fillStyle = partition && !partition.captured ? colors.c1 : colors.c0;
        context.fillRect(x + 2 * scale, y + 4 * scale, Math.max(4 * scale, 1.5), boxH - 8 * scale);
        if (!words) continue;
        const dark = light(back, colors);
        context.font = "600 " + 0.86 * unit * scale + "px " + colors.font;
        context.fillStyle = dark ? "#14151a" : colors.ink;
        drawText(context, plan.steps.name[at], x + 13 * scale, y + boxH * 0.33, boxW - 20 * scale);
        context.font = 0.76 * unit * scale + "px " + colors.code;
        context.fillStyle = dark ? "#14151a" : colors.muted;
        const told = ratios && isRated(ratios[at]) ? ratio(ratios[at]) + "  " : "";
        drawText(context, told + opWords(plan, at), x + 13 * scale, y + boxH * 0.69, boxW - 20 * scale);
      }
    },
    hit(px, py) {
      const boxW = wide * unit * scale / 2, boxH = tall * unit * scale / 2;
      const row = Math.round(((py - size.height / 2) / scale + middleY) / ((tall + gapY) * unit));
      for (const at of rows[row] || []) if (Math.abs(toX(at) - px) <= boxW && Math.abs(toY(at) - py) <= boxH) return at;
      return null;
    },
    choose(at) { chosen = at; chart.redraw(); tellStep(at); },
    tell(px, py) {
      const at = this.hit(px, py);
      if (at === null) return null;
      const value = ratios ? ratios[at] : null;
      return [plan.steps.name[at], opWords(plan, at), plan.stepWords(at), ...(isRated(value) ? ["error " + ratio(value) + " of its bound"] : [])];
    },
    press(event) {
      const uses = plan.uses();
      if (event.key === "+" || event.key === "=") zoom(1.4);
      else if (event.key === "-") zoom(1 / 1.4);
      else if (event.key === "0") fit();
      else if (event.key.startsWith("Arrow")) {
        if (chosen === null) { go(0); return true; }
        const near = (list) => list.map(([at]) => at).filter((at) => at >= 0)[0];
        const row = rows[depth[chosen]], i = row.indexOf(chosen);
        const next = event.key === "ArrowUp" ? near(uses.into.get(chosen) || []) : event.key === "ArrowDown" ? near(uses.outOf.get(chosen) || []) : row[i + (event.key === "ArrowRight" ? 1 : -1)];
        if (next !== undefined) go(next);
      } else return false;
      return true;
    },
  });
  const zoom = (factor, px, py) => {
    const next = clamp(scale * factor, 0.02, 2.5);
    if (px !== undefined) {
      middleX += (px - size.width / 2) * (1 / scale - 1 / next);
      middleY += (py - size.height / 2) * (1 / scale - 1 / next);
    }
    scale = next;
    chart.redraw();
  };
  const fit = () => {
    unit = rem();
    const least = place.reduce((m, p) => Math.min(m, p), 0), most = place.reduce((m, p) => Math.max(m, p), 0);
    const w = (most - least + 1) * (wide + gapX) * unit, t = rows.length * (tall + gapY) * unit;
    const box = chart.canvas.getBoundingClientRect();
    const width = box.width || 900, height = box.height || 500;
    // Small enough to see the shape, large enough to read: a long graph begins at its top.
    scale = clamp(Math.min(width / w, height / t), width < 500 ? 0.65 : 0.8, 1.15);
    middleX = (least + most) / 2 * (wide + gapX) * unit;
    middleY = t * scale > height ? height / 2 / scale - tall * unit : (rows.length - 1) * (tall + gapY) * unit / 2;
    chart.redraw();
  };
  const go = (at) => {
    unit = rem();
    middleX = place[at] * (wide + gapX) * unit;
    middleY = depth[at] * (tall + gapY) * unit;
    if (scale < 0.4) scale = 0.7;
    // Nothing is above the first row, or below the last.
    const half = size.height / 2 / scale - tall * unit, end = (rows.length - 1) * (tall + gapY) * unit;
    middleY = end > 2 * half ? clamp(middleY, half, end - half) : end / 2;
    chosen = at;
    chart.redraw();
    tellStep(at);
  };
  const tellStep = (at) => {
    const uses = plan.uses(), value = ratios ? ratios[at] : null, partition = plan.partitionAt(at);
    const buffer = (i) => (i < 0 ? "" : h("button.link", {type: "button", onclick: () => goTo.buffer(i)}, "$" + plan.buffers.name[i]));
    const list = (edges, word) => h("ul", {}, edges.slice(0, 60).map(([other, i]) => h("li", {}, buffer(i), " ", other < 0 ? h("span.muted", {}, word) : h("button.link", {type: "button", onclick: () => go(other)}, plan.step(other)))));
    const into = uses.into.get(at) || [], out = uses.outOf.get(at) || [];
    side.show("'" + plan.steps.name[at] + "'",
      pairs([["op", h("code", {}, opWords(plan, at))], ["step", String(at)], ["error", isRated(value) ? h("b" + (value === "inf" || value > 1 ? ".bad" : ""), {}, ratio(value) + " of its bound") : ratios ? "not judged alone" : null],
        ["partition", partition ? plan.partitions.indexOf(partition) + (partition.captured ? ", captured" : ", eager: " + partition.reason) : null], ["stream", String(plan.steps.stream[at])]]),
      (plan.findings || []).filter((f) => f.nodes.includes(plan.steps.name[at])).map((f) => h("p.bad.block", {}, f.rule + ": " + f.message)),
      plan.steps.body[at].length ? [h("h4", {}, "fused of"), h("ul", {}, plan.steps.body[at].map(([name, op]) => h("li", {}, "'" + name + "' ", h("code.muted", {}, op))))] : null,
      into.length ? [h("h4", {}, "reads"), list(into, "there before the call")] : null, out.length ? [h("h4", {}, "read by"), list(out, "an output")] : null);
  };
  const search = h("input", {type: "search", placeholder: "name or op"});
  search.addEventListener("change", () => {
    const n = plan.stepCount, begin = chosen === null ? 0 : chosen + 1;
    for (let i = 0; search.value && i < n; ++i) {
      const at = (begin + i) % n;
      if (plan.steps.name[at].includes(search.value) || opWords(plan, at).includes(search.value)) return go(at);
    }
  });
  chart.canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1 / 1.2 : 1.2, ...chart.at(event));
  }, {passive: false});
  chart.element.classList.add("grab");
  chart.drag = true;
  const fingers = new Map();
  chart.canvas.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, chart.at(event)); chart.dragged = false; });
  for (const name of ["pointerup", "pointercancel", "pointerleave"]) chart.canvas.addEventListener(name, (event) => fingers.delete(event.pointerId));
  chart.canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons || !fingers.has(event.pointerId)) return;
    const now = chart.at(event), before = fingers.get(event.pointerId);
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const was = Math.hypot(before[0] - other[0], before[1] - other[1]), is = Math.hypot(now[0] - other[0], now[1] - other[1]);
      if (was > 4) zoom(is / was, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (chart.dragged || Math.hypot(now[0] - before[0], now[1] - before[1]) > 3) {
      chart.dragged = true;
      middleX -= (now[0] - before[0]) / scale;
      middleY -= (now[1] - before[1]) / scale;
      chart.redraw();
    } else return;
    fingers.set(event.pointerId, now);
  });
  const button = (text, title, act) => h("button.plain", {type: "button", title, "aria-label": title, onclick: act}, text);
  chart.element.prepend(h("div.tools", {}, h("span", {}, plural(plan.stepCount, "step", "steps") + (ratios ? ", colored by error over bound" : "")), button("+", "zoom in", () => zoom(1.4)), button("\u2212", "zoom out", () => zoom(1 / 1.4)), button("all", "show all", fit)));
  let worst = null;
  if (ratios) ratios.forEach((value, at) => { const now = value === "inf" ? Infinity : value; if (isRated(now) && (worst === null || now > (ratios[worst] === "inf" ? Infinity : ratios[worst]))) worst = at; });
  const legend = ratios ? h("div.legend", {}, h("span", {}, h("i.k-h0"), "error under 0.05 of the bound"), h("span", {}, h("i.k-h1"), "to 0.5"), h("span", {}, h("i.k-h2"), "to 1"), h("span", {}, h("i.k-h3"), "outside"), h("span", {}, "Stripe: ", h("i.k-captured"), "captured ", h("i.k-eager"), "eager."))
    : h("div.legend", {}, h("span", {}, h("i.k-captured"), "in a captured partition"), h("span", {}, h("i.k-eager"), "eager"), h("span", {}, "Nodes are not judged here: with --judge-nodes they are colored by their error."));
  main.append(h("div.bar", {}, h("label", {}, "find", search), worst !== null ? h("button.plain", {type: "button", onclick: () => go(worst)}, "worst node") : null), h("div.card", {}, chart.element, legend));
  let isFitted = false;
  return {element: side.element, go, shown() { if (!isFitted) { isFitted = true; requestAnimationFrame(fit); } }};
}

function opWords(plan, at) {
  const body = plan.steps.body[at];
  return body.length ? "fused: " + body.map(([, op]) => op.replace(/^aten\./, "").replace(/\.default$/, "")).join(", ") : plan.steps.op[at];
}
