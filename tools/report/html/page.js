// The page: what the data has, a tab for each view. A view is made when it is first shown.

function themeButton() {
  const order = ["auto", "light", "dark"], words = {auto: "theme: auto", light: "theme: light", dark: "theme: dark"};
  let now = "auto";
  const set = (theme) => {
    now = theme;
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = words[theme];
    redrawAll();
  };
  const button = h("button.plain", {type: "button", onclick: () => {
    set(order[(order.indexOf(now) + 1) % 3]);
    try { localStorage.setItem("graphgate-theme", now); } catch (refused) { /* a file of a mail keeps nothing */ }
  }}, words.auto);
  try { if (order.includes(localStorage.getItem("graphgate-theme"))) set(localStorage.getItem("graphgate-theme")); } catch (refused) { /* the same */ }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  return button;
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const of = (kind) => data.panels.filter((panel) => panel.panel === kind);
  const plans = of("plan"), made = new Map();
  let current = 0;
  const planAt = (i) => { if (!made.has(i)) made.set(i, {plan: new Plan(plans[i]), views: {}}); return made.get(i); };
  const views = [];
  const items = data.sections.reduce((n, section) => n + section.items.length, 0);
  const goTo = {
    step(at) { open("graph"); planAt(current).views.graph.go(at); },
    buffer(i) { open("memory"); planAt(current).views.memory.go(i); },
  };
  const planOf = (item) => {
    const i = plans.findIndex((plan) => plan.place && plan.place === item.place);
    return i < 0 ? null : () => { current = i; open("memory"); };
  };
  // The views of one of several plans.
  const ofPlan = (name, make) => () => {
    const entry = planAt(current);
    if (!entry.views[name]) entry.views[name] = make(entry.plan);
    const view = entry.views[name];
    const plan = entry.plan;
    const chooser = plans.length > 1 ? h("div.bar", {}, select("plan", plans.map((p, i) => [String(i), planTitle(p)]), (value) => { current = Number(value); open(name); }, String(current))) : null;
    const captured = plan.stepCount ? Math.round(1000 * plan.captured_steps / plan.stepCount) / 10 : 0;
    const stats = plan.stepCount ? facts([["peak", bytes(plan.peak)], ["bound", bytes(plan.bound)], ["without reuse", bytes(plan.no_reuse), plan.no_reuse > plan.peak && plan.peak ? "\u00d7 " + (plan.no_reuse / plan.peak).toFixed(1) : ""], ["captured", captured + "%", "of " + plural(plan.stepCount, "step", "steps")], ["partitions", number(plan.partitions.length)], ["buffers", number(plan.count)]]) : facts([["buffers", number(plan.count)], ["peak", bytes(plan.pools[0].size)]]);
    const findings = (plan.findings || []).length ? h("details.fold.block", {}, h("summary.bad", {}, plural(plan.findings.length, "finding", "findings") + " in this plan"), h("ul.lines", {}, plan.findings.map((f) => h("li", {}, h("b", {}, f.rule), ": " + f.message)))) : null;
    return [[chooser, stats, findings, h("div.block", {}, view.element || view)], () => { if (view.shown) view.shown(); }];
  };
  const planTitle = (plan) => {
    const sizes = Object.entries(plan.symbols || {}).map(([name, value]) => name + " = " + value).join(", ");
    return plan.title + (sizes ? " (" + sizes + ")" : "");
  };
  const add = (name, title, count, make) => views.push({name, title, count, make});
  if (items) add("runs", "Runs", items, () => [[runsView(data.sections, planOf)]]);
  of("parting").forEach((panel) => add("divergence", "First divergence", null, () => [[partingView(panel)]]));
  of("matrix").forEach((panel) => add("matrix", panel.corner === "case" ? "Cases \u00d7 versions" : "Mutants \u00d7 judges", panel.rows.length, () => [[matrixView(panel)]]));
  of("timings").forEach((panel) => add("timings", "Timings", null, () => [[timingsView(panel)]]));
  of("campaign").forEach((panel) => add("campaign", "Campaign", null, () => [[campaignView(panel)]]));
  if (plans.length) {
    add("memory", "Memory", null, ofPlan("memory", (plan) => memoryView(plan, goTo.step)));
    const hasSteps = plans.some((plan) => plan.steps.name.length);
    if (hasSteps) add("timeline", "Partitions", null, ofPlan("timeline", (plan) => timelineView(plan, goTo.step)));
    if (hasSteps) add("graph", "Graph", null, ofPlan("graph", (plan) => graphView(plan, goTo)));
  }
  const main = h("main", {id: "view", role: "tabpanel", tabindex: -1});
  const tabs = h("nav.tabs", {role: "tablist", "aria-label": "views"}, views.map((view) => {
    view.button = h("button", {type: "button", role: "tab", id: "tab-" + view.name, "aria-controls": "view", onclick: () => open(view.name)}, view.title, view.count === null ? null : h("span.count", {}, number(view.count)));
    return view.button;
  }));
  tabs.addEventListener("keydown", (event) => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    const at = views.findIndex((view) => view.button === document.activeElement);
    const next = views[(at + by + views.length) % views.length];
    next.button.focus();
    open(next.name);
  });
  const shown = new Map();
  function open(name) {
    const view = views.find((each) => each.name === name) || views[0];
    if (!view) return;
    for (const each of views) {
      each.button.setAttribute("aria-selected", String(each === view));
      each.button.tabIndex = each === view ? 0 : -1;
    }
    const isOfPlan = ["memory", "timeline", "graph"].includes(view.name);
    if (isOfPlan || !shown.has(view.name)) shown.set(view.name, view.make());
    const [children, after] = shown.get(view.name);
    main.setAttribute("aria-labelledby", "tab-" + view.name);
    main.replaceChildren(...children.filter(Boolean));
    tip.hide();
    if (after) after();
    document.body.dataset.view = view.name;
    try { history.replaceState(null, "", "#" + view.name); } catch (refused) { /* a page without an address */ }
  }
  const subjects = data.sections.flatMap((section) => section.subjects).filter((name) => name !== data.verb);
  const only = items === 1 ? data.sections[0].items[0].place : "";
  const title = subjects.length ? [...new Set(subjects)].slice(0, 6).join(" \u2192 ") : only;
  const totals = data.totals.trim().split("\n").pop();
  document.getElementById("page").replaceChildren(
    h("header.top", {}, h("span.pill." + data.class, {}, data.verdict), h("h1", {}, data.verb), h("span.grow"), themeButton(), title || totals ? h("p", {}, [title, totals].filter(Boolean).join(" \u00b7 ")) : null),
    ...(data.interruption ? [h("p.warning", {}, "Incomplete: " + data.interruption + ".")] : []),
    ...(data.left_out ? [h("p.warning", {}, "Left out: " + data.left_out + ".")] : []),
    ...(data.first_bad ? [h("p.warning", {}, "The first bad candidate is ", h("code", {}, data.first_bad), ".")] : []),
    tabs, main, h("footer", {}, "Written by graphgate " + data.version + ". The page holds its data and asks no network."), tip.box);
  const best = {"graphgate plan": "memory", "graphgate plan --verify": "memory", "graphgate check --against": "divergence", "graphgate gate": "matrix", "graphgate fuzz": "campaign"}[data.verb];
  open(views.some((view) => "#" + view.name === location.hash) ? location.hash.slice(1) : best || "runs");
  document.body.dataset.ready = String(Math.round(performance.now()));
}
start();
