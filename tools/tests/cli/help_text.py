"""What `graphgate VERB --help` lists, read from its text."""

import re
import subprocess


def help_of(graphgate: str, verb: list[str]) -> str:
    return subprocess.run([graphgate, *verb, "--help"], text=True, capture_output=True, check=True).stdout


def verbs_in(text: str) -> list[str]:
    """The names of the verbs that stand below the verb of this text."""
    below = re.search(r"\nSubcommands:\n((?:  .*\n)+)", text)
    return re.findall(r"^  ([a-z]+)", below[1], re.M) if below else []


def verbs_of(graphgate: str, verb: list[str]) -> list[list[str]]:
    """The verb, and all below it."""
    verbs = [verb]
    for name in verbs_in(help_of(graphgate, verb)):
        verbs += verbs_of(graphgate, [*verb, name])
    return verbs


def options_in(text: str) -> list[str]:
    return re.findall(r"^  (?:-\w,)?(--[a-z0-9-]+)", text, re.M)


def examples_in(text: str) -> list[str]:
    return re.findall(r"^  (graphgate .*)$", text, re.M)
