#!/usr/bin/env python3
"""Whether what pages show is what comes out: run_transcripts.py GRAPHGATE PAGE...

A transcript is indented by four spaces: `$ command`, and below it what the command prints, standard output and errors.
A line `...` stands for any lines, `...` in a line for any part of it. Where nothing is shown, nothing is compared,
and the command may end with any exit code that is no usage error and no defect; `$ echo $?` is the code of the command
before. Lines `# ...` are no commands.

A page docs/NAME.md with a folder docs/NAME/ runs in a copy of that folder, any other in a folder that has the
repository's golden/, docs/ and tools/. A command with `python3 -m graphgate_torch` needs PyTorch: it runs with
GRAPHGATE_TORCH_PYTHON, and is left out where that names nothing. Hours (`--time 8h`) become seconds.

GRAPHGATE_WRITE_DOCS=1 writes what came out into the pages, except where `...` stands.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = os.environ.get("GRAPHGATE_TORCH_PYTHON", "")
TORCH = "python3 -m graphgate_torch"
INDENT = "    "
USAGE, DEFECT = 4, 5


class Shown:
    """A command of a page, and the lines [begin, end) that show what it prints."""

    def __init__(self, command, number):
        self.command, self.begin, self.end = command, number + 1, number + 1


def commands(lines):
    found, number = [], 0
    while number < len(lines):
        if not lines[number].startswith(INDENT + "$ "):
            number += 1
            continue
        shown = Shown(lines[number][len(INDENT) + 2:], number)
        while shown.command.endswith("\\"):  # goes on in the next line
            shown.command = shown.command[:-1] + lines[shown.begin].strip()
            shown.begin += 1
        number = shown.begin
        while number < len(lines) and is_printed(lines, number):
            number += 1
        shown.end = number
        found.append(shown)
    return found


def is_printed(lines, number):
    """Whether the line shows what a command prints: indented, or empty between two such lines."""
    if not lines[number]:
        return number + 1 < len(lines) and is_printed(lines, number + 1)
    return lines[number].startswith(INDENT) and not lines[number].startswith(INDENT + "$ ")


def line_matches(expected, printed):
    """`...` for any part; each other part is sought behind the one before."""
    first, *rest = expected.split("...")
    if not rest:
        return printed == expected
    at = len(first)
    if not printed.startswith(first) or not printed[at:].endswith(rest[-1]):
        return False
    for part in rest[:-1]:
        found = printed.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return at + len(rest[-1]) <= len(printed)


def matches(expected, printed):
    """Line for line; a line `...` for any lines, which end where the next expected one is first found."""
    at, is_open = 0, False
    for line in expected:
        if line.strip() == "...":
            is_open = True
            continue
        while is_open and at < len(printed) and not line_matches(line, printed[at]):
            at += 1
        if at == len(printed) or not line_matches(line, printed[at]):
            return False
        at, is_open = at + 1, False
    return at == len(printed) or is_open


def make_folder(folder, page, graphgate):
    name = os.path.splitext(os.path.basename(page))[0]
    own = os.path.join(ROOT, "docs", name)
    there = os.path.join(folder, "work")
    if os.path.isdir(own) and os.path.dirname(page) == os.path.join(ROOT, "docs"):
        shutil.copytree(own, there)
    else:
        os.makedirs(os.path.join(there, "build", "release"))
        os.symlink(graphgate, os.path.join(there, "build", "release", "graphgate"))
        for each in ("golden", "docs", "tools"):
            os.symlink(os.path.join(ROOT, each), os.path.join(there, each))
    programs = os.path.join(folder, "bin")
    os.mkdir(programs)
    os.symlink(graphgate, os.path.join(programs, "graphgate"))
    return there, programs


# What replay lines tell of, where it is set (tools/report/replay_line.cpp); pages show it nowhere.
TOLD = ("PYTHONPATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS", "ATEN_CPU_CAPABILITY", "CXX")
TOLD_BEGINNINGS = ("TORCH", "PYTORCH_", "VLLM_")


def environment(programs):
    inherited = {name: value for name, value in os.environ.items()
                 if name not in TOLD and not name.startswith(("GRAPHGATE_", *TOLD_BEGINNINGS))}
    return {**inherited, "PATH": programs + os.pathsep + os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1",
            "NO_COLOR": "1"}


def run(command, there, programs):
    command = re.sub(r"--time \d+h", "--time 2s", command)
    variables = environment(programs)
    if TORCH in command:
        command = command.replace(TORCH, f"{PYTHON} -m graphgate_torch")
        variables["PYTHONPATH"] = os.path.join(ROOT, "tools", "adapters", "torch")
    ran = subprocess.run(["bash", "-c", command], cwd=there, env=variables, text=True, check=False,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=600)
    return ran.returncode, ran.stdout.rstrip("\n").split("\n") if ran.stdout.strip() else []


def complain(page, shown, printed, code):
    print(f"{os.path.relpath(page, ROOT)}:{shown.begin}: '{shown.command}' ended with {code} and printed")
    print("".join(f"{INDENT}{line}\n" for line in printed), end="")


def check(page, graphgate):
    """Returns how many commands ran, how many were left out, and how many print something else."""
    with open(page, encoding="utf-8") as file:
        lines = file.read().split("\n")
    written, ran, left_out, wrong, code = list(lines), 0, 0, 0, 0
    shift = 0
    with tempfile.TemporaryDirectory() as folder:
        there, programs = make_folder(folder, page, graphgate)
        for shown in commands(lines):
            expected = [line[len(INDENT):] for line in lines[shown.begin:shown.end]]
            if TORCH in shown.command and not PYTHON:
                left_out += 1
                continue
            ran += 1
            if shown.command == "echo $?":
                printed = [str(code)]
            else:
                code, printed = run(shown.command, there, programs)
            if not expected and code not in (USAGE, DEFECT):
                continue
            if code != DEFECT and matches(expected, printed):
                continue
            if os.environ.get("GRAPHGATE_WRITE_DOCS") and not any("..." in line for line in expected):
                new = [(INDENT + line).rstrip() for line in printed]
                written[shown.begin + shift:shown.end + shift] = new
                shift += len(new) - len(expected)
                continue
            wrong += 1
            complain(page, shown, printed, code)
    if written != lines:
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(written))
    return ran, left_out, wrong


def main():
    graphgate, total, failed = os.path.abspath(sys.argv[1]), 0, 0
    for page in sys.argv[2:]:
        ran, left_out, wrong = check(os.path.abspath(page), graphgate)
        print(f"{os.path.basename(page)}: {ran} commands ran, {left_out} left out for want of PyTorch, {wrong} differ")
        total, failed = total + ran, failed + wrong
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
