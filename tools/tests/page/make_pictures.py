#!/usr/bin/env python3
"""Makes the pictures of docs/html_report.md: make_pictures.py GRAPHGATE GOLDEN FOLDER.

Each view of real pages, as a browser shows it. Small with pngquant, where that is installed.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile

import browser
import page_test

# Name, page, view, what is done before the picture, and the size.
CHOOSE_ROW = "document.querySelectorAll('.table .rows [role=row]')[{}].click()"
PICTURES = [
    ("runs", "check", "runs", CHOOSE_ROW.format(2), (1280, 760)),
    ("memory", "plan", "memory", "", (1280, 800)),
    ("partitions", "streams", "timeline", CHOOSE_ROW.format(1), (1280, 700)),
    ("graph", "check", "graph", "document.querySelector('.bar button').click()", (1280, 800)),
    ("divergence", "against", "divergence", "", (1280, 860)),
    ("gate", "gate", "matrix", "", (1280, 560)),
    ("campaign", "fuzz", "campaign", CHOOSE_ROW.format(0), (1280, 880)),
]


def shrink(path):
    if shutil.which("pngquant"):
        subprocess.run(["pngquant", "--force", "--skip-if-larger", "--nofs", "--speed", "1", "--output", path, "96", path],
                       check=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("graphgate")
    parser.add_argument("golden")
    parser.add_argument("folder")
    parser.add_argument("--theme", default="light")
    parser.add_argument("--width", type=int, default=0)
    parser.add_argument("--height", type=int, default=0)
    parser.add_argument("--pages", help="a folder with pages that page_test.py --keep has made")
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser.Browser(browser.find()) as page:
        folder = pathlib.Path(args.pages or scratch)
        if not args.pages:
            page_test.pages(args, folder)
        page.theme(args.theme)
        for name, file, view, before, size in PICTURES:
            page.size(args.width or size[0], args.height or size[1])
            page.open(folder / f"{file}.html", view)
            if before:
                page.run(before)
                page.settle()
            path = os.path.join(args.folder, f"page_{name}.png")
            page.picture(path)
            shrink(path)
            print(f"{path}: {os.path.getsize(path)} bytes")


if __name__ == "__main__":
    main()
