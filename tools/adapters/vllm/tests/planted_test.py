"""Campaigns with motifs find faults of passes: planted_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

import planted

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_ADAPTER = os.path.dirname(_FOLDER)
GRAPHGATE = ""
CASES = 6  # of the fault's own motif
SEED = 41


def _campaign(name, fault, cases=CASES):
    """What a campaign of cases with the fault's motif ends with, the signatures that it finds, and
    processor seconds."""
    script = os.path.join(_FOLDER, "planted.py")
    executor = shlex.join([sys.executable, script, name, "serve", "--no-plans", *fault.flags.split()])
    begin = os.times()
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run(
            [GRAPHGATE, "fuzz", "--seed", str(SEED), "--cases", str(cases), "--jobs", "1", "--ops",
             f"motif.{fault.motif},several-programs=0", "--judges", "exact,bounds,state", "--executor", executor,
             "--executor-timeout", "300", "--timeout", "300", "--reduce-time", "0", "--corpus", folder],
            capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
    end = os.times()
    events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    found = {each["signature"] for each in events if each["event"] == "finding"}
    seconds = end.children_user - begin.children_user + end.children_system - begin.children_system
    return ran, found, seconds


class Planted(unittest.TestCase):
    def test_the_page_lists_them_with_their_motifs(self):
        with open(os.path.join(_FOLDER, *[os.pardir] * 4, "docs", "motifs.md"), encoding="utf-8") as file:
            page = file.read().partition("## Faults that motifs find")[2]
        rows = re.findall(r"^\| ([a-z-]+) \|.*?\| `([a-z-]+)` \|", page, re.MULTILINE)
        self.assertEqual(rows, [(name, fault.motif) for name, fault in planted.FAULTS.items()])

    def test_each_is_found_within_a_minute_and_not_without_it(self):
        for name, fault in planted.FAULTS.items():
            with self.subTest(name=name):
                ran, found, seconds = _campaign(name, fault)
                self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
                self.assertLess(seconds, 60, "seconds of a processor")
                # vLLM has faults of its own, which are found, too.
                ran, besides, _ = _campaign(f"without:{name}", fault)
                self.assertIn(ran.returncode, (0, 1), ran.stdout + ran.stderr)
                self.assertTrue(found - besides, (found, besides))
                print(f"{name}: motif {fault.motif}, {seconds:.0f} s of a processor", flush=True)


if __name__ == "__main__":
    GRAPHGATE = sys.argv.pop(1)
    sys.argv.pop(1)
    unittest.main()
