#!/usr/bin/env python3
"""Writes docs/cli.md from what `graphgate VERB --help` says.

  tools/dev/write_cli_page.py GRAPHGATE            writes the page
  tools/dev/write_cli_page.py GRAPHGATE --check    exit 1 where the page is not what would be written
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"
OF_EXECUTOR = "Planner of the optimized executor"  # a group of flags that stand in docs/options.md
OF_ALL = ("--help", "--text-limit")
HEAD = """# Every flag

Generated from `--help` by `tools/dev/write_cli_page.py`: edit the texts in `tools/cli/`. What the verbs are for is in
[verbs](verbs.md), and so are [exit codes](verbs.md#exit-codes) and [what FILE, FOLDER and OUTPUT mean](verbs.md#files).

Each verb also takes `--help`, and those that read texts take `--text-limit BYTES`, the most that is read of each.
"""


def help_of(graphgate, words):
    return subprocess.run([graphgate, *words, "--help"], capture_output=True, text=True, check=True).stdout


def groups_of(text):
    """Yields (heading, [(left, right)]): what stands below each heading, and the text beside it."""
    heading, rows = "", []
    for line in text.split("\n"):
        found = re.match(r"^(\S.*):$", line)
        if found:
            yield heading, rows
            heading, rows = found[1], []
        elif re.match(r"^  \S", line):
            left, _, right = line.strip().partition("  ")
            if len(left) > 26 and not right:  # its text is in the next line, or one space away
                left, right = line.strip(), ""
            rows.append([left, right.strip()])
        elif re.match(r"^ {20,}\S", line) and rows:
            rows[-1][1] = (rows[-1][1] + " " + line.strip()).strip()
        elif line and not line.startswith(" "):
            yield heading, rows
            heading, rows = "", []
    yield heading, rows


def split_left(left):
    """`-j,--jobs INT:INT in [1 - 1024]` into the flag and its value."""
    flag, _, value = left.partition(" ")
    value = re.sub(r"^(INT|UINT|FLOAT|TEXT):(?=[{\[]|INT|UINT|FLOAT|POSITIVE)", "", value)
    value = re.sub(r"(INT|UINT|FLOAT) in \[(.*?) - (.*?)\]", r"\2 to \3", value)
    value = re.sub(r"POSITIVE", "a number over 0", value)
    value = re.sub(r" ?Excludes: (.*)", r" not with \1", re.sub(r" ?Needs: (.*)", r" with \1", value))
    value = re.sub(r"=\[?([^\s\]]+)\]?(?= |$)", r", default \1", value)
    value = value.replace("{", "").replace("}", "").replace(",", ", ").replace(",  ", ", ").strip()
    return re.sub(r"\{.*?\}$", "", flag).replace(",", ", "), value


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def section(graphgate, words):
    text = help_of(graphgate, words)
    lines = [f"\n## {' '.join(words)}\n", text.split("\n", maxsplit=1)[0][0].upper() + text.split("\n")[0][1:] + ".\n"]
    rows, examples, has_executor = [], [], False
    for heading, found in groups_of(text):
        if heading == OF_EXECUTOR:
            has_executor = True
            known = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
            for left, _ in found:
                name = re.search(r"--([a-z-]+)", left)[1]
                if f"\n| `{name}` |" not in known:
                    sys.exit(f"docs/options.md has no row for --{name} of {' '.join(words)}")
        elif heading.startswith("Example"):
            examples += [" ".join(row).strip() for row in found]
        elif heading != "Subcommands":
            rows += [row for row in found if not any(flag in row[0] for flag in OF_ALL)]
    if rows:
        lines.append("| flag | value | what |\n| --- | --- | --- |")
        for left, right in rows:
            flag, value = split_left(left)
            lines.append(f"| `{flag}` | {cell(value)} | {cell(right)} |")
        lines.append("")
    if has_executor:
        lines.append("It takes all [options of the executor](options.md), too.\n")
    if examples:
        lines += ["```", *examples, "```"]
    return "\n".join(lines).rstrip("\n") + "\n"


def verbs(graphgate, words=()):
    """Yields the words of each verb, and of those below it."""
    below = [row[0].split()[0] for heading, rows in groups_of(help_of(graphgate, words)) if heading == "Subcommands"
             for row in rows]
    for name in below:
        yield (*words, name)
        yield from verbs(graphgate, (*words, name))


def main():
    graphgate = sys.argv[1]
    found = list(verbs(graphgate))
    if len(found) < 14:
        sys.exit(f"{graphgate} --help lists {len(found)} verbs")
    text = HEAD + "".join(section(graphgate, words) for words in found)
    if "--check" not in sys.argv[2:]:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        print("docs/cli.md is not what --help says; run tools/dev/write_cli_page.py GRAPHGATE")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
