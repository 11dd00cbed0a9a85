"use strict";
// What all views of the page are made of. Texts of others go into text nodes alone: nothing here
// reads HTML from a string.

// h("div.card", {title: "x", onclick: f}, child, "text"...)
function h(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const plural = (n, one, many) => number(n) + " " + (n === 1 ? one : many);
const number = (n) => n.toLocaleString("en-US");

function bytes(n) {
  if (n < 10000) return number(n) + " B";
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = n / 1024, unit = 0;
  for (; value >= 9999 && unit + 1 < units.length; ++unit) value /= 1024;
  return (value < 10 ? value.toFixed(2) : value.toFixed(1)) + " " + units[unit];
}

function ratio(x) {
  if (x === "inf") return "beyond any";
  if (x === 0) return "0";
  if (x < 1 && x >= 0.995) return x >= 0.99995 ? "just under 1" : x.toFixed(4);
  if (x >= 100 && x < 1e6) return number(Math.round(x));
  return x >= 0.01 && x < 100 ? x.toPrecision(2).replace(/\.0+$/, "") : x.toExponential(1);
}

function seconds(x) {
  if (x < 0.0995) return (1000 * x).toFixed(x < 0.0095 ? 1 : 0) + " ms";
  if (x < 99.5) return x.toFixed(x < 9.95 ? 2 : 1) + " s";
  const minutes = Math.floor(x / 60);
  return minutes < 120 ? minutes + " min" : Math.floor(minutes / 60) + " h " + (minutes % 60) + " min";
}

// A round step of which about `count` fit into a range.
function roundStep(range, count) {
  const rough = range / Math.max(count, 1);
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return power * ([1, 2, 5].find((m) => m * power >= rough) || 10);
}
// The same for bytes, in powers of two.
const roundBytes = (range, count) => 2 ** Math.ceil(Math.log2(Math.max(range / Math.max(count, 1), 1)));

function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

// Colors are read once for each drawing, not once for each thing that is drawn.
function palette() {
  const names = ["bg", "panel", "ink", "muted", "line", "soft", "accent", "ok", "bad", "open", "known", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "heat0", "heat1", "heat2", "heat3", "code", "font"];
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue("--" + name).trim()]));
}

const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

// A text that can be taken along.
function paste(text, label) {
  const button = h("button.plain", {type: "button", title: "copy", "aria-label": "copy " + (label || "")}, "copy");
  button.addEventListener("click", async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch (refused) {
      const range = document.createRange();  // it can be copied by hand, then
      range.selectNodeContents(box.querySelector("pre"));
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "copied" : "selected";
    setTimeout(() => { button.textContent = "copy"; }, 1500);
  });
  const box = h("div.paste", {tabindex: 0}, h("pre", {}, text), button);
  return box;
}

function select(label, options, onchange, chosen) {
  const box = h("select", {}, options.map(([value, text]) => h("option", {value, selected: value === chosen}, text)));
  box.addEventListener("change", () => onchange(box.value));
  return h("label", {}, label, box);
}

function segments(label, options, chosen, onchange) {
  const group = h("div.segments", {role: "group", "aria-label": label});
  for (const [value, text] of options) {
    const button = h("button", {type: "button", "aria-pressed": String(value === chosen)}, text);
    button.addEventListener("click", () => {
      for (const each of group.children) each.setAttribute("aria-pressed", String(each === button));
      onchange(value);
    });
    group.append(button);
  }
  return group;
}

const facts = (pairs) => h("dl.stats", {}, pairs.map(([term, value, small]) =>
  h("div", {}, h("dt", {}, term), h("dd", {}, value, small ? h("small", {}, " " + small) : null))));

const tip = {
  box: h("div.tip", {hidden: true, role: "status"}),
  show(x, y, lines) {
    this.box.replaceChildren(...lines.map((line, i) => h(i === 0 ? "b" : "div", {}, line)));
    this.box.hidden = false;
    const {width, height} = this.box.getBoundingClientRect();
    this.box.style.left = clamp(x + 14, 4, Math.max(innerWidth - width - 4, 4)) + "px";
    this.box.style.top = (y + 18 + height > innerHeight ? Math.max(y - height - 12, 4) : y + 18) + "px";
  },
  hide() { this.box.hidden = true; },
};

// ---- a table of any length: only the rows in sight are there ----

// columns: {title, key(row) to sort by, cell(row) gives a node or a text, width, number}.
class Table {
  constructor(label, columns, onselect) {
    this.columns = columns;
    this.onselect = onselect;
    this.all = [];
    this.rows = [];
    this.chosen = null;
    this.sorted = null;
    this.template = columns.map((c) => c.width).join(" ");
    // All rows are as wide as the least of every column, or as the table.
    this.least = columns.reduce((sum, c) => sum + parseFloat(c.width.replace("minmax(", "")) + 0.8, 0.8) + "rem";
    this.head = h("div.head", {role: "row"}, columns.map((c, i) => {
      const button = h("button", {type: "button"}, c.title);
      button.addEventListener("click", () => this.sortBy(i));
      return h("div" + (c.number ? ".number" : ""), {role: "columnheader"}, c.key ? button : c.title);
    }));
    this.head.style.gridTemplateColumns = this.template;
    this.head.style.minWidth = this.least;
    this.body = h("div.rows", {role: "rowgroup"});
    this.element = h("div.table", {role: "table", tabindex: 0, "aria-label": label}, this.head, this.body);
    this.element.addEventListener("scroll", () => this.draw());
    this.element.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }
  set(rows) {
    this.all = rows;
    this.order();
  }
  sortBy(i) {
    this.sorted = this.sorted && this.sorted.i === i ? (this.sorted.up ? {i, up: false} : null) : {i, up: true};
    [...this.head.children].forEach((cell, at) => {
      const is = this.sorted && this.sorted.i === at;
      cell.setAttribute("aria-sort", is ? (this.sorted.up ? "ascending" : "descending") : "none");
      const button = cell.querySelector("button");
      if (button) button.textContent = this.columns[at].title + (is ? (this.sorted.up ? " \u2191" : " \u2193") : "");
    });
    this.order();
  }
  order() {
    this.rows = this.all.slice();
    if (this.sorted) {
      const key = this.columns[this.sorted.i].key, sign = this.sorted.up ? 1 : -1;
      this.rows.sort((a, b) => {
        const x = key(a), y = key(b);
        return sign * (typeof x === "string" ? x.localeCompare(y) : x - y);
      });
    }
    this.element.setAttribute("aria-rowcount", this.rows.length);
    this.draw();
  }
  draw() {
    const height = Math.round(2.15 * rem());
    this.body.style.height = this.rows.length * height + "px";
    const first = Math.max(Math.floor(this.element.scrollTop / height) - 8, 0);
    const last = Math.min(first + Math.ceil((this.element.clientHeight || 600) / height) + 18, this.rows.length);
    const made = [];
    for (let i = first; i < last; ++i) {
      const row = this.rows[i];
      const line = h("div", {role: "row", "aria-rowindex": i + 1, "aria-selected": String(row === this.chosen)},
        this.columns.map((c) => h("div" + (c.number ? ".number" : ""), {role: "cell"}, c.cell(row))));
      line.style.gridTemplateColumns = this.template;
      line.style.minWidth = this.least;
      line.style.height = height + "px";
      line.style.top = i * height + "px";
      line.addEventListener("click", () => this.choose(row));
      made.push(line);
    }
    this.body.replaceChildren(...(made.length ? made : [h("p.empty", {}, "Nothing is like that.")]));
  }
  choose(row) {
    this.chosen = row;
    this.draw();
    if (row) this.onselect(row);
  }
  press(event) {
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -1e9, End: 1e9};
    if (!(event.key in steps) || event.target !== this.element || !this.rows.length) return;
    event.preventDefault();
    const at = clamp(this.rows.indexOf(this.chosen) + steps[event.key], 0, this.rows.length - 1);
    const height = Math.round(2.15 * rem()), top = at * height;
    const inside = this.element.clientHeight - this.head.offsetHeight;
    if (top < this.element.scrollTop) this.element.scrollTop = top;
    if (top + height > this.element.scrollTop + inside) this.element.scrollTop = top + height - inside;
    this.choose(this.rows[at]);
  }
}

// ---- a canvas that is as sharp as the screen, redrawn when anything changes ----

const charts = new Set();
class Chart {
  // draw(context, width, height, colors) in CSS pixels; hit(x, y) gives a thing or null.
  constructor(label, height, parts) {
    Object.assign(this, parts);
    this.height = height;
    this.canvas = h("canvas", {tabindex: 0, role: "img", "aria-label": label});
    this.element = h("figure.chart", {}, this.canvas);
    this.canvas.addEventListener("pointermove", (event) => this.move(event));
    this.canvas.addEventListener("pointerleave", () => { tip.hide(); if (this.leave) this.leave(); });
    this.canvas.addEventListener("blur", () => tip.hide());
    this.canvas.addEventListener("click", (event) => {
      if (this.dragged) return;
      const [x, y] = this.at(event);
      const thing = this.hit ? this.hit(x, y) : null;
      if (thing !== null && this.choose) this.choose(thing);
    });
    this.canvas.addEventListener("keydown", (event) => { if (this.press && this.press(event)) event.preventDefault(); });
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.canvas);
    charts.add(this);
  }
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
  move(event) {
    if (event.buttons && this.drag) return;
    const [x, y] = this.at(event);
    const lines = this.tell ? this.tell(x, y) : null;
    if (lines) tip.show(event.clientX, event.clientY, lines);
    else tip.hide();
  }
  redraw() {
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => { this.waits = false; this.drawNow(); });
  }
  drawNow() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const height = typeof this.height === "function" ? this.height(width) : this.height;
    const scale = devicePixelRatio || 1;
    this.canvas.style.height = height + "px";
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const context = this.canvas.getContext("2d");
    context.scale(scale, scale);
    this.unit = rem();
    this.draw(context, width, height, palette());
  }
  // Zoom and pan of `view`, {x0, x1} in [0, limit]; buttons, wheel with Ctrl, drag, pinch, keys.
  zoomable(view, plot) {
    const zoom = (factor, at) => {
      const middle = at === undefined ? (view.x0 + view.x1) / 2 : at;
      const span = clamp((view.x1 - view.x0) * factor, Math.min(view.least || 4, view.limit), view.limit);
      const share = (middle - view.x0) / (view.x1 - view.x0);
      view.x0 = clamp(middle - share * span, 0, view.limit - span);
      view.x1 = view.x0 + span;
      view.changed();
    };
    const pan = (by) => {
      const span = view.x1 - view.x0;
      view.x0 = clamp(view.x0 + by, 0, view.limit - span);
      view.x1 = view.x0 + span;
      view.changed();
    };
    this.zoomKeys = (event) => {
      const span = view.x1 - view.x0;
      if (event.key === "+" || event.key === "=") zoom(0.6);
      else if (event.key === "-") zoom(1 / 0.6);
      else if (event.key === "0") zoom(1e12);
      else if (event.key === "[") pan(-span / 4);
      else if (event.key === "]") pan(span / 4);
      else return false;
      return true;
    };
    const button = (text, title, act) => h("button.plain", {type: "button", title, "aria-label": title, onclick: act}, text);
    this.element.prepend(h("div.tools", {}, h("span", {}, this.title || ""), button("+", "zoom in", () => zoom(0.6)), button("\u2212", "zoom out", () => zoom(1 / 0.6)), button("all", "show all", () => zoom(1e12))));
    const scaleX = () => (view.x1 - view.x0) / plot().width;
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const [x] = this.at(event);
      zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, view.x0 + (x - plot().left) * scaleX());
    }, {passive: false});
    const fingers = new Map();
    this.drag = true;
    this.canvas.addEventListener("pointerdown", (event) => { fingers.set(event.pointerId, event.clientX); this.dragged = false; });
    const lift = (event) => { fingers.delete(event.pointerId); };
    for (const name of ["pointerup", "pointercancel", "pointerleave"]) this.canvas.addEventListener(name, lift);
    this.canvas.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId) || !event.buttons) return;
      const before = fingers.get(event.pointerId), by = event.clientX - before;
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const was = Math.abs(before - other), is = Math.abs(event.clientX - other);
        if (was > 4 && is > 4) zoom(was / is);
      } else if (Math.abs(by) > 3 || this.dragged) {
        this.dragged = true;
        pan(-by * scaleX());
      } else {
        return;
      }
      fingers.set(event.pointerId, event.clientX);
    });
  }
}
const redrawAll = () => charts.forEach((chart) => (chart.canvas.isConnected ? chart.redraw() : null));

function drawText(context, text, x, y, most) {
  if (most !== undefined && context.measureText(text).width > most) {
    let end = Math.min(text.length, Math.ceil(most / (context.measureText("0").width || 6)));
    while (end > 1 && context.measureText(text.slice(0, end) + "\u2026").width > most) --end;
    text = end > 1 ? text.slice(0, end) + "\u2026" : "";
  }
  context.fillText(text, x, y);
}

// A path; where it does not fit, its last name. The folder comes second, and goes to a line that is out of sight.
function path(text) {
  const slash = text.lastIndexOf("/");
  return h("code.path", {title: text, "aria-label": text}, h("span", {}, text.slice(slash + 1)), slash < 0 ? null : h("span.folder", {}, text.slice(0, slash + 1)));
}

// The side with what was chosen; `close` takes it away.
class Side {
  constructor(main) {
    this.box = h("aside.card.details", {hidden: true, "aria-live": "polite"});
    this.element = h("div.split", {}, main, this.box);
  }
  show(title, ...children) {
    this.box.replaceChildren(h("h3", {}, h("span", {}, title), h("button.plain", {type: "button", "aria-label": "close", onclick: () => this.hide()}, "\u00d7")), ...children.flat().filter(Boolean));
    this.box.hidden = false;
    this.element.classList.add("has-details");
  }
  hide() {
    this.box.hidden = true;
    this.element.classList.remove("has-details");
  }
}
const pairs = (list) => h("dl", {}, list.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([term, value]) => [h("dt", {}, term), h("dd", {}, value)]).flat());
