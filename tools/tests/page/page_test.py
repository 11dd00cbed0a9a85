#!/usr/bin/env python3
"""The page of --html in a headless Chromium: page_test.py GRAPHGATE GOLDEN [--pictures FOLDER].

Each verb writes its page; each view opens without a word in the console and without asking the network, in light
and dark, on a telephone and on a large screen, and can be used with keys. With --pictures the pictures of
docs/html_report.md are made. Exit code 77 where there is no Chromium.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import browser


def graphgate(args, folder, words, codes=(0,)):
    """Runs in the folder, so that pages name no place of this machine."""
    done = subprocess.run([os.path.abspath(args.graphgate), *map(str, words)], cwd=folder, capture_output=True,
                          text=True)
    assert done.returncode in codes, f"{words}: exit code {done.returncode}: {done.stdout}{done.stderr}"
    return done.stdout


def decoder(compare):
    """A decoder of two layers with masks; `compare` is what layer 0 hides by."""
    lines, hidden = [], "%x"
    for layer, op in (("0", compare), ("1", "le")):
        lines += [f"  %mask_{layer} : bool[32, 32] = aten.{op}.Tensor(%columns, %rows)",
                  f"  %scores_{layer} : f32[32, 32] = aten.mm.default({hidden}, %x)",
                  f"  %kept_{layer} : f32[32, 32] = aten.where.ScalarOther(%mask_{layer}, %scores_{layer}, 0.0)",
                  f"  %h_{layer} : f32[32, 32] = aten.tanh.default(%kept_{layer})"]
        hidden = f"%h_{layer}"
    numbers = ", ".join(map(str, range(32)))
    return ("graphgate-case 1\nname \"decoder\"\nseed 1\nprogram \"decoder\" {\n  input %x : f32[32, 32]\n"
            "  input %rows : i64[32, 1]\n  input %columns : i64[1, 32]\n  buffer %cache \"cache\" : f32[32, 32]\n"
            + "\n".join(lines) + f"\n  %linear_8 : f32[32, 32] = aten.mm.default({hidden}, %x)\n"
            "  %w : f32[32, 32] = aten.copy_.default(%cache, %linear_8)\n  output %linear_8\n}\n"
            "weights \"decoder\" seed 7\ninputs \"i\" of \"decoder\" {\n  x seed 3\n"
            f"  rows : i64[32, 1] = [{numbers}]\n  columns : i64[1, 32] = [{numbers}]\n}}\n"
            "scenario {\n  call decoder inputs=i\n  call decoder inputs=i\n}\n")


def large_plan(count):
    """A plan of so many buffers, as text: each step reads the two before it; bytes are used again."""
    slots = 12
    arena = slots * 256
    lines = ["plan \"large\" strict {", "  pool @input input on cpu 64 align 64",
             f"  pool @arena arena on cpu {arena} align 64", "  buffer $x @input [0, 64)"]
    for i in range(count):
        begin = i % slots * 256
        lines.append(f"  buffer $b{i} @arena [{begin}, {begin + 64 * (1 + i % 4)})")
    lines += ["  input user \"x\" %x : f32[4, 4] $x", "  block @main {", "    partition 0 captured {", "      in $x",
              f"      out $b{count - 1}"]
    before = ["%x", "%x"]
    for i in range(count):
        lines.append(f"      %v{i} : f32[4, 4] $b{i} = aten.add.Tensor({before[0]}, {before[1]})")
        before = [before[1], f"%v{i}"]
    return "\n".join([*lines, "    }", "  }", f"  output %v{count - 1}", "}"]) + "\n"


def pages(args, folder):
    """Writes a page of each verb. Returns, by name, its path and the views it has to have."""
    made = {}
    if not (folder / "golden").exists():
        (folder / "golden").symlink_to(os.path.abspath(args.golden))
    model = "golden/models/vllm_like.pt2"

    def page(name, words, views, codes=(0,)):
        graphgate(args, folder, [*words, "--html", f"{name}.html"], codes)
        made[name] = (folder / f"{name}.html", views)

    def below(place, pattern, count):
        return sorted(path.relative_to(folder) for path in (folder / place).glob(pattern))[:count]

    plan_views = ["memory", "timeline", "graph"]
    page("plan", ["plan", model], ["runs", *plan_views])
    page("streams", ["plan", model, "--streams", "2"],
         ["runs", *plan_views])
    (folder / "before.plan").write_text(graphgate(args, folder, ["plan", model, "--no-reuse", "--text"]))
    page("diff", ["plan", model, "--diff", "before.plan"], ["runs", *plan_views], (1,))
    page("verify", ["plan", "--verify", *below("golden/plans/bad", "V3*.plan", 3)], ["runs", *plan_views], (1,))
    page("check", ["check", "--timings", "--judge-nodes", "--deviation", "lifetimes_touch_wrongly", "golden/models/quant_mixed.pt2",
                   model, *below("golden/cases/catalogue", "b*.case", 12)], ["runs", "timings", *plan_views], (0, 1, 2))
    for name, compare in (("wrong", "lt"), ("right", "le")):
        (folder / f"{name}.case").write_text(decoder(compare), encoding="utf-8")
    page("against", ["check", "wrong.case", "--against", "right.case"], ["runs", "divergence"], (1,))
    page("gate", ["gate", "--baseline", "torch-2.11.0", "--candidate", "torch-2.9.1", "--candidate", "torch-2.9.0",
                  "--corpus", "golden/cases/catalogue", "--limit", "16", "--reruns", "0"], ["runs", "matrix"],
         (0, 1, 2, 3))
    page("fuzz", ["fuzz", "--timings", "--cases", "24", "--jobs", "2", "--seed", "7", "--judges", "verifier", "--deviation",
                  "lifetimes_touch_wrongly", "--corpus", "corpus", "--reduce-time", "1", "--overwrite"],
         ["runs", "timings", "campaign"], (1,))
    page("mutants", ["mutants", "--filter", "frees_", "golden/cases/catalogue"], ["runs", "matrix"], (0, 1))
    hostile = folder / "<" / "script><script>alert(1)<" / "script>.plan"
    hostile.parent.mkdir(parents=True, exist_ok=True)
    hostile.write_text((folder / "before.plan").read_text())
    page("hostile", ["plan", "--verify", hostile.relative_to(folder)], ["runs", "memory"])
    (folder / "large.plan").write_text(large_plan(10_000), encoding="utf-8")
    page("large", ["plan", "--verify", "large.plan"], ["runs", *plan_views], (0, 1))
    return made


class Checks:
    def __init__(self, page):
        self.page = page
        self.failed = []

    def hold(self, what, where):
        if not what:
            self.failed.append(where)
            print("FAIL", where)

    def quiet(self, where):
        self.hold(not self.page.trouble, f"{where}: the browser says {self.page.trouble}")
        self.page.trouble.clear()


# What each view has to show, as an expression of the page.
SHOWN = {
    "runs": "document.querySelectorAll('.table .rows [role=row]').length > 0",
    "memory": "document.querySelectorAll('main canvas').length >= 2",
    "timeline": "document.querySelectorAll('main canvas').length == 1 && "
                "document.querySelectorAll('.table .rows [role=row]').length > 0",
    "graph": "document.querySelectorAll('main canvas').length == 1",
    "divergence": "document.querySelector('main').innerText.includes('part at') && "
                  "document.querySelectorAll('main canvas').length == 1",
    "matrix": "document.querySelectorAll('.table .rows [role=row]').length > 0",
    "timings": "document.querySelectorAll('.table .rows [role=row]').length > 2 && "
               "document.querySelector('main').innerText.includes('idle')",
    "campaign": "document.querySelectorAll('main canvas').length >= 2 && "
                "document.querySelectorAll('.table .rows [role=row]').length > 0",
}
# Whether something but the background is drawn.
PAINTED = """[...document.querySelectorAll('main canvas')].every((canvas) => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let i = 0; i < data.length; i += 4 * 97) seen.add(data[i] + ',' + data[i + 1] + ',' + data[i + 2]);
  return seen.size > 3;
})"""


def check_views(page, checks, name, path, views):
    for theme, width, height in (("light", 1280, 900), ("dark", 360, 740), ("light", 3840, 2160)):
        page.theme(theme)
        page.size(width, height)
        for view in views:
            where = f"{name}, {view}, {theme}, {width} wide"
            page.open(path, view)
            checks.quiet(where)
            checks.hold(page.run("document.body.dataset.view") == view, where + ": another view is shown")
            checks.hold(page.run(SHOWN[view]), where + ": something is missing")
            checks.hold(page.run(PAINTED), where + ": a canvas is empty")
            wide = page.run("document.documentElement.scrollWidth")
            checks.hold(wide <= width, f"{where}: the page is {wide} wide")


def check_keys(page, checks, made):
    """A page can be used with keys alone."""
    page.size(1280, 900)
    page.open(made["plan"][0], "memory")
    page.run("document.querySelector('main canvas').focus()")
    page.press("ArrowRight", 3)
    checks.hold(page.run("!document.querySelector('.details').hidden"), "keys, memory: no buffer is told of")
    page.press("+")
    page.open(made["plan"][0], "graph")
    page.run("document.querySelector('main canvas').focus()")
    page.press("ArrowDown", 2)
    checks.hold(page.run("!document.querySelector('.details').hidden"), "keys, graph: no step is told of")
    # From a step to a buffer that it reads.
    page.run("document.querySelector('.details li button.link').click()")
    checks.hold(page.run("document.body.dataset.view") == "memory" and
                page.run("document.querySelector('.details h3').innerText").startswith("$"),
                "graph: a buffer's name does not lead to it")
    page.open(made["check"][0], "runs")
    page.run("document.querySelector('.table').focus()")
    page.press("ArrowDown", 2)
    checks.hold(page.run("document.querySelectorAll('.details li, .details p').length > 0"), "keys, runs: no row is told of")
    page.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    page.press("ArrowRight")
    checks.hold(page.run("document.body.dataset.view") != "runs", "keys, tabs: the arrow goes nowhere")
    checks.quiet("keys")


def check_filters(page, checks, made):
    page.open(made["check"][0], "runs")
    all_rows = page.run("Number(document.querySelector('.table').getAttribute('aria-rowcount'))")
    page.run("""(() => { const box = document.querySelector('.bar input'); box.value = 'quant';
                 box.dispatchEvent(new Event('input')); })()""")
    some = page.run("Number(document.querySelector('.table').getAttribute('aria-rowcount'))")
    checks.hold(0 < some < all_rows, f"filter: {some} of {all_rows} rows")
    page.run("document.querySelector('.table .head button').click()")
    checks.hold(page.run("document.querySelectorAll('[aria-sort=ascending]').length == 1"), "sorting: no column is")
    checks.quiet("filters")


def check_large(page, checks, made):
    path = made["large"][0]
    page.size(1280, 900)
    page.theme("light")
    for view in ("memory", "graph", "timeline"):
        spent = page.open(path, view)
        print(f"10,000 buffers, {os.path.getsize(path) / 1e6:.1f} MB, {view}: opened and drawn in {spent:.2f} s")
    checks.hold(page.run("document.querySelectorAll('*').length < 2000"), "large: the page has too many elements")
    checks.quiet("large")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphgate")
    parser.add_argument("golden")
    parser.add_argument("--keep", help="a folder for the pages")
    args = parser.parse_args()
    path = browser.find()
    if not path:
        print("skipped: there is no Chromium (apt-get install chromium, or GRAPHGATE_CHROMIUM=PATH)")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        begin = time.monotonic()
        made = pages(args, folder)
        print(f"{len(made)} pages in {time.monotonic() - begin:.1f} s")
        with browser.Browser(path) as page:
            checks = Checks(page)
            for name, (file, views) in made.items():
                text = file.read_text(encoding="utf-8")
                checks.hold("://" not in text.split('id="data">')[0], f"{name}: names an address")
                json.loads(text.split('id="data">')[1].split("</script>")[0])
                if name != "large":
                    check_views(page, checks, name, file, views)
            check_keys(page, checks, made)
            check_filters(page, checks, made)
            check_large(page, checks, made)
        print(f"{len(checks.failed)} failed, {time.monotonic() - begin:.1f} s")
        return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
