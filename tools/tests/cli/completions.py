#!/usr/bin/env python3
"""Asks a shell to complete command lines of graphgate, and looks at what it offers.

    completions.py GRAPHGATE bash|zsh|fish

The shell is one that runs, on a terminal where it needs one, and has the script of `graphgate
completion SHELL` and nothing else. What it has to offer is read from --help. Ends with 77 where there
is no such shell."""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

from help_text import help_of, options_in, verbs_in

SKIPPED = 77
FOLDER = {"models": None, "a program.pt2": "", "mine.case": ""}
DEADLINE = 60  # seconds for an answer of a shell: none takes one


def fail(text: str) -> None:
    raise SystemExit("completions.py: " + text)


class Terminal:
    """A shell in a terminal, in which `graphgate` prints its arguments and runs nothing."""

    def __init__(self, words: list[str], folder: str, setup: str, prompt: str = ""):
        """`prompt`: what the setup has the shell print whenever it begins to edit a line."""
        self.prompt = prompt
        self.process, self.file = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, {**os.environ, "TERM": "dumb", "PS1": "", "HOME": folder,
                                         "ZDOTDIR": folder, "COLUMNS": "200"})
        # High enough for every list, so that no shell asks before it shows one.
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", 2000, 200, 0, 0))
        self.seen = ""
        self.type(setup + "; echo READ''Y\r")
        self.wait_for("READY")

    def type(self, text: str) -> None:
        os.write(self.file, text.encode())

    def type_line(self, text: str) -> None:
        """Types behind a prompt: what comes sooner goes to no editor of lines."""
        if self.prompt:
            self.wait_for(self.prompt)
        self.type(text)

    def wait_for(self, sign: str) -> str:
        """What the terminal showed up to the sign."""
        end = time.monotonic() + DEADLINE
        while sign not in self.seen:
            if not select.select([self.file], [], [], max(0, end - time.monotonic()))[0]:
                fail(f"no {sign!r} in {self.seen!r}")
            self.seen += os.read(self.file, 65536).decode(errors="replace")
        before, self.seen = self.seen.split(sign, 1)
        return before

    def words_after(self, line: str) -> list[str]:
        """The words that the line has once a tab is typed behind it."""
        self.type_line(line + "\t\r")
        self.wait_for("<BEGIN>")
        return re.findall(r"<([^>]*)>", self.wait_for("<END>"))

    def close(self) -> None:
        self.type("\x03exit\r")
        os.close(self.file)
        os.waitpid(self.process, 0)


PRINT_WORDS = "graphgate() { printf '<BEGIN>'; printf '<%s>' \"$@\"; printf '<END>'; }"


class Bash:
    def __init__(self, script: str, folder: str):
        self.script, self.folder = script, folder
        self.terminal = None

    def offers(self, line: str) -> list[str]:
        # bash splits words at `=` too.
        words = [word for word in re.split(r" |(=)", line) if word]
        if line.endswith(" "):
            words.append("")
        done = subprocess.run(
            ["bash", "--norc", "-c",
             'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _graphgate;'
             'printf "%s\\n" "${COMPREPLY[@]}"', "-", self.script, *words],
            cwd=self.folder, text=True, capture_output=True, timeout=DEADLINE)
        return done.stdout.split()

    def completed(self, line: str) -> list[str]:
        if not self.terminal:
            self.terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], self.folder,
                                     f"source {self.script}; {PRINT_WORDS}")
        return self.terminal.words_after(line)

    def close(self) -> None:
        if self.terminal:
            self.terminal.close()


class Zsh:
    def __init__(self, script: str, folder: str):
        self.terminal = Terminal(
            ["zsh", "-f", "-i"], folder,
            "unsetopt auto_remove_slash prompt_cr prompt_sp beep list_beep auto_menu; LISTMAX=10000; "
            f"autoload -Uz compinit && compinit -u -D; source {script}; {PRINT_WORDS}; "
            "zle-line-init() { print -n '<PROM''PT>' }; zle -N zle-line-init", "<PROMPT>")

    def offers(self, line: str) -> list[str]:
        # A list of many, then the line thrown away.
        self.terminal.type_line(line + "\x04\x15echo LIST''ED\r")
        return re.split(r"[\s=]+", self.terminal.wait_for("LISTED"))

    def completed(self, line: str) -> list[str]:
        return self.terminal.words_after(line)

    def close(self) -> None:
        self.terminal.close()


class Fish:
    def __init__(self, script: str, folder: str):
        self.script, self.folder = script, folder

    def lines(self, line: str) -> list[str]:
        done = subprocess.run(["fish", "--no-config", "-c",
                               'source $argv[1]; complete -C $argv[2]', self.script, line],
                              cwd=self.folder, text=True, capture_output=True, timeout=DEADLINE,
                              env={**os.environ, "HOME": self.folder})
        if done.stderr:
            fail(f"fish says {done.stderr!r}")
        return [text.split("\t")[0] for text in done.stdout.splitlines()]

    def offers(self, line: str) -> list[str]:
        return self.lines(line)

    def completed(self, line: str) -> list[str]:
        found = self.lines(line)
        if len(found) != 1:
            fail(f"fish offers {found} for {line!r}")
        return line[len("graphgate "):].split(" ")[:-1] + found

    def close(self) -> None:
        pass


def look_at(shell, graphgate: str) -> int:
    looks = 0

    def expect_all(line: str, words: list[str]) -> None:
        nonlocal looks
        looks += 1
        offered = shell.offers(line)
        missing = [word for word in words if word not in offered]
        if missing or not words:
            fail(f"{line!r}: {missing} are not offered in {offered}")

    def expect_none(line: str, words: list[str]) -> None:
        nonlocal looks
        looks += 1
        found = [word for word in words if word in shell.offers(line)]
        if found:
            fail(f"{line!r}: {found} are offered")

    def expect(line: str, words: list[str]) -> None:
        nonlocal looks
        looks += 1
        got = shell.completed(line)
        if got != words:
            fail(f"{line!r}: completed to {got}, expected {words}")

    verbs = verbs_in(help_of(graphgate, []))
    expect_all("graphgate ", verbs)
    for verb in verbs:
        options = options_in(help_of(graphgate, [verb]))
        expect_all(f"graphgate {verb} --", options)
    expect_all("graphgate fuzz merge --", options_in(help_of(graphgate, ["fuzz", "merge"])))
    expect_none("graphgate doctor --", ["--judges", "--device"])
    expect("graphgate conv", ["convert"])
    expect("graphgate check --judge-n", ["check", "--judge-nodes"])
    # One of those that --help lists, behind a blank and behind `=`.
    expect_all("graphgate run --device ", ["host", "cuda", "emulated", "compiled"])
    expect("graphgate check --device em", ["check", "--device", "emulated"])
    expect("graphgate check --device=em", ["check", "--device=emulated"])
    # One of a table that --help has no room for, and several with commas.
    expect("graphgate check --deviation frees_tw", ["check", "--deviation", "frees_twice"])
    expect_all("graphgate check --judges ", ["all", "bounds", "provenance", "happens-before"])
    expect("graphgate check --judges bounds,prov", ["check", "--judges", "bounds,provenance"])
    # Words without a name, files, and folders where only a folder can be.
    expect("graphgate completion fi", ["completion", "fish"])
    expect("graphgate help conv", ["help", "convert"])
    expect("graphgate check min", ["check", "mine.case"])
    expect("graphgate check --json min", ["check", "--json", "mine.case"])
    expect("graphgate fuzz --corpus mo", ["fuzz", "--corpus", "models/"])
    expect_none("graphgate fuzz --corpus ", ["mine.case"])
    expect_all("graphgate fuzz ", ["merge"])
    return looks


def main(graphgate: str, name: str) -> int:
    if not shutil.which(name):
        print(f"there is no {name} here")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script")
        subprocess.run([graphgate, "completion", name, "-o", script], check=True)
        place = os.path.join(folder, "place")
        os.mkdir(place)
        for entry, text in FOLDER.items():
            path = os.path.join(place, entry)
            os.mkdir(path) if text is None else open(path, "w").close()
        shell = {"bash": Bash, "zsh": Zsh, "fish": Fish}[name](script, place)
        try:
            looks = look_at(shell, graphgate)
        finally:
            shell.close()
    print(f"{name} completes {looks} lines as it should")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
