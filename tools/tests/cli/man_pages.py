#!/usr/bin/env python3
"""Writes the manual pages, has their reader's own checker look at each, and reads them as a user does.

    man_pages.py GRAPHGATE

Each verb has a page, each option that --help names stands in it, and so do the examples. Ends with 77
where there is no mandoc."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from help_text import examples_in, help_of, options_in, verbs_of

SKIPPED = 77


def run(*words: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run(words, text=True, capture_output=True, **more)


def faults_of(graphgate: str, path: str, verb: list[str]) -> list[str]:
    # A date would change with every build: none is given.
    lint = run("mandoc", "-T", "lint", "-W", "warning", path)
    faults = [line for line in lint.stdout.splitlines() if "missing date" not in line]
    shown = run("mandoc", "-T", "utf8", "-O", "width=1000", path, check=True).stdout
    shown = re.sub(".\b", "", shown)
    if run(graphgate, "help", "--man", *verb, check=True).stdout != open(path).read():
        faults.append("`help --man` prints another page")
    text = help_of(graphgate, verb)
    for option in options_in(text):
        if not re.search(rf"^ +(-\w, )?{option}\b", shown, re.M):
            faults.append(f"{option} is not in it")
    for example in examples_in(text):
        if example not in shown:
            faults.append(f"the example {example!r} is not in it")
    for line in re.findall(r"^Exit code: (.*)$", text, re.M):
        if line not in shown:
            faults.append("its exit codes are not in it")
    return faults


def main(graphgate: str) -> int:
    if not shutil.which("mandoc"):
        print("there is no mandoc here")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        run(graphgate, "help", "--man-folder", folder, check=True)
        pages = {"-".join(["graphgate", *verb]) + ".1": verb for verb in verbs_of(graphgate, [])}
        faults = []
        if sorted(os.listdir(folder)) != sorted(pages):
            faults.append(f"{sorted(os.listdir(folder))} are written, expected {sorted(pages)}")
        for page, verb in pages.items():
            path = os.path.join(folder, page)
            faults += [f"{page}: {fault}" for fault in faults_of(graphgate, path, verb)]
    for fault in faults:
        print(fault)
    print(f"{len(pages)} pages, {len(faults)} faults")
    return 1 if faults or len(pages) < 15 else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
