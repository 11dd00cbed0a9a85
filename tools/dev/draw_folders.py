#!/usr/bin/env python3
"""Draws which folder includes which, from the #include lines of all sources but tests.

  tools/dev/draw_folders.py            writes docs/house.svg and docs/optimized.svg
  tools/dev/draw_folders.py --check    exit 1 where these files are not what would be written

A box is a folder; an arrow goes to what it includes. Arrows that follow from others are left out:
what includes spec/, which includes base/, has no arrow to base/. Folders that include each other have
red arrows.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("base", "spec", "interop", "reference", "optimized", "conformance", "fuzz", "tools")
NESTED = [["kernels", "elements"]] + [["runtime", part] for part in ("cuda", "device", "emulated", "host")]
WIDTH, BOX_HEIGHT, ROW = 1180, 28, 78


def sources():
    for top in FOLDERS:
        for path in sorted((ROOT / top).rglob("*")):
            name = path.relative_to(ROOT).as_posix()
            is_test = re.search(r"_test\.|/tests/|_fuzzer\.|tools/dev/", name)
            if path.suffix in (".h", ".cpp", ".cuh") and not is_test:
                yield name


def house_folder(name):
    """spec/ops/a.h -> spec; conformance/run/a.h -> conformance/run; golden texts have none."""
    parts = name.split("/")[:-1]
    if not parts:
        return None
    if parts[0] in ("conformance", "fuzz", "tools") and len(parts) > 1:
        return "/".join(parts[:2])
    return parts[0]


def optimized_folder(name):
    """optimized/runtime/host/a.h -> runtime/host; optimized/compile.h -> compile; others have none."""
    parts = name.split("/")
    if parts[0] != "optimized":
        return None
    if len(parts) == 2:
        stem = parts[1].split(".")[0]
        return stem if stem in ("compile", "executor", "optimized", "registry") else "kernel, launch, tensor"
    return "/".join(parts[1:3]) if parts[1:3] in NESTED else parts[1]


def graph(folder_of):
    nodes, edges = set(), collections.defaultdict(set)
    for name in sources():
        folder = folder_of(name)
        if folder is None:
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        nodes.add(folder)
        for target in re.findall(r'^#include "([^"]+)"', text, re.M):
            other = folder_of(target)
            if other is not None and other != folder:
                edges[folder].add(other)
    return sorted(nodes), {node: edges[node] & nodes for node in nodes}


def components(nodes, edges):
    """Sets of folders that reach each other (Tarjan)."""
    index, low, stack, found = {}, {}, [], {}

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges[node]):
            if other not in index:
                visit(other)
            if other not in found:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            members = stack[stack.index(node):]
            del stack[stack.index(node):]
            for member in members:
                found[member] = node

    for node in nodes:
        if node not in index:
            visit(node)
    return found


def levels_of(nodes, edges, component):
    """0 for who includes nothing; else one above the highest that it includes."""
    known = {}

    def level(node):
        if node not in known:
            known[node] = 0
            below = [m for n in nodes if component[n] == component[node] for m in edges[n]]
            known[node] = 1 + max((level(m) for m in below if component[m] != component[node]), default=-1)
        return known[node]

    return {node: level(node) for node in nodes}


def reduced(nodes, edges, component):
    """Without arrows that follow from others; of those to folders that include each other, one."""
    def reach(node, seen):
        for other in edges[node]:
            if other not in seen:
                seen.add(other)
                reach(other, seen)
        return seen

    kept, shown = [], set()
    for node in nodes:
        for other in sorted(edges[node]):
            here, there = component[node], component[other]
            ways = (m for m in edges[node] if component[m] not in (here, there))
            if here == there or ((node, there) not in shown and not any(other in reach(m, set()) for m in ways)):
                kept.append((node, other))
                shown.add((node, there))
    return kept


def draw(folder_of, title):
    nodes, edges = graph(folder_of)
    component = components(nodes, edges)
    level = levels_of(nodes, edges, component)
    arrows = reduced(nodes, edges, component)
    rows = [[n for n in nodes if level[n] == i] for i in range(max(level.values()) + 1)]
    place = {}
    for _ in range(8):  # beside whom they point to and who points to them
        for row in rows:
            def pull(node):
                near = [place[b] for a, b in arrows if a == node and b in place]
                near += [place[a] for a, b in arrows if b == node and a in place]
                return (sum(near) / len(near) if near else WIDTH / 2, node)

            row.sort(key=pull)
            for i, node in enumerate(row):
                place[node] = WIDTH * (i + 0.5) / len(row)
    height = ROW * len(rows) + 20

    def top(node):
        return 10 + ROW * (len(rows) - 1 - level[node])

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
           f'font-family="sans-serif" font-size="12"><title>{title}</title>',
           '<!-- Generated by tools/dev/draw_folders.py; edit the code instead. -->',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>']
    for a, b in arrows:
        is_mutual = component[a] == component[b]
        x1, y1, x2, y2 = place[a], top(a) + BOX_HEIGHT, place[b], top(b)
        if level[a] == level[b]:
            y1 = y2 = top(a) + BOX_HEIGHT / 2
        middle = (y1 + y2) / 2
        colour = "#c0392b" if is_mutual else "#8a94a0"
        out.append(f'<path d="M{x1:.0f} {y1:.0f}C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} {x2:.0f} {y2:.0f}" '
                   f'fill="none" stroke="{colour}"/>')
        if level[a] != level[b]:
            out.append(f'<path d="M{x2 - 4:.0f} {y2 - 7:.0f}L{x2:.0f} {y2:.0f}L{x2 + 4:.0f} {y2 - 7:.0f}" '
                       f'fill="none" stroke="{colour}"/>')
    for node in nodes:
        wide = 8 * len(node) + 16
        x, y = place[node] - wide / 2, top(node)
        out.append(f'<rect x="{x:.0f}" y="{y}" width="{wide}" height="{BOX_HEIGHT}" rx="5" fill="#eef3f8" '
                   f'stroke="#34495e"/>')
        out.append(f'<text x="{place[node]:.0f}" y="{y + 18}" text-anchor="middle">{node}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    pictures = {
        "docs/house.svg": draw(house_folder, "Which folder includes which"),
        "docs/optimized.svg": draw(optimized_folder, "Which folder of optimized/ includes which"),
    }
    stale = [n for n, t in pictures.items() if not (ROOT / n).exists() or (ROOT / n).read_text(encoding="utf-8") != t]
    if sys.argv[1:] == ["--check"]:
        for name in stale:
            print(f"{name}: does not show the code; run tools/dev/draw_folders.py")
        return 1 if stale else 0
    if sys.argv[1:]:
        sys.exit(f"draw_folders.py: expected --check or nothing, found '{sys.argv[1]}'")
    for name in stale:
        (ROOT / name).write_text(pictures[name], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
