#!/usr/bin/env python3
"""Whether the examples of docs/executors.md are true: check.py GRAPHGATE PAGE."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_CASE = os.path.join(_FOLDER, "total.case")
_EXAMPLE = os.path.join(_FOLDER, "executor.py")
_MINIMAL = os.path.join(_FOLDER, "minimal.py")
_MINIMAL_CASE = os.path.join(_FOLDER, "minimal.case")
GRAPHGATE, PAGE = "", ""


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = folder.name

    def _run(self, verb, *words, example=_EXAMPLE):
        return subprocess.run(
            [GRAPHGATE, verb, *words, "--executor", shlex.join([sys.executable, example])],
            cwd=self._folder, capture_output=True, text=True, check=False)

    def _log(self, *words):
        """What was said, as pairs of a direction and a message."""
        ran = self._run("check", *words, _CASE, "--log-protocol", "log.jsonl")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        with open(os.path.join(self._folder, "log.jsonl"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_passes_under_all_judges(self):
        ran = self._run("check", "--judges", "all", _CASE)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("1 passed, 0 failed", ran.stdout)

    def _assert_fails(self, example, case, changes):
        """Each change of the example, right to wrong, is found in the case."""
        with open(example, encoding="utf-8") as file:
            text = file.read()
        for right, wrong in changes:
            self.assertIn(right, text)
            changed = os.path.join(self._folder, "wrong.py")
            with open(changed, "w", encoding="utf-8") as file:
                file.write(text.replace(right, wrong))
            ran = self._run("check", case, example=changed)
            self.assertEqual(ran.returncode, 1, wrong + ran.stdout + ran.stderr)

    def test_fails_where_it_computes_something_else(self):
        self._assert_fails(_EXAMPLE, _CASE, (
            ("pointwise(operator.mul", "pointwise(operator.add"),
            ("a.strides[::-1]", "a.strides"),  # another view
            ("add(a, b, out=a, **named)", "add(a, b, **named)"),  # the state is not written
            ("[m if n == 1 else n for n, m in pairs]", "[3, 2]"),  # sizes of the first call alone
        ))

    def test_the_least_one_passes_and_has_sixty_lines(self):
        ran = self._run("check", "--judges", "all", _MINIMAL_CASE, example=_MINIMAL)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("1 passed, 0 failed", ran.stdout)
        with open(_MINIMAL, encoding="utf-8") as file:
            code = file.read().split('"""')[2].splitlines()
        self.assertLessEqual(sum(1 for line in code if line and not line.startswith(("import ", "#"))), 60)

    def test_the_least_one_fails_where_it_computes_something_else(self):
        self._assert_fails(_MINIMAL, _MINIMAL_CASE, (
            ("map(getattr(operator, line[\"op\"]), a, b)", "map(operator.add, a, b)"),
            ("if each is memory", "if False"),  # the output that is an input has a storage of its own
            ('= values[line["a"]]', '= values[line["b"]]'),
        ))

    def test_the_least_one_refuses_what_it_does_not_take(self):
        ran = self._run("check", _CASE, example=_MINIMAL)
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertIn("UNSUPPORTED R4.unsupported: the example does not know buffer %total", ran.stdout)

    def test_passes_a_campaign(self):
        ran = self._run(
            "fuzz", "--seed", "1", "--cases", "150", "-j", "2", "--judges", "bounds,state", "--ops",
            "aten.add,aten.mul,aten.t,buffer,feed-back,swapped-weights", "--exclude",
            "mixed-dtypes,complex", "--json", "report.json")
        self.assertIn(ran.returncode, (0, 2), ran.stdout + ran.stderr)
        with open(os.path.join(self._folder, "report.json"), encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(set(report["outcomes"]), {"PASS", "UNSUPPORTED"}, ran.stdout)
        self.assertGreaterEqual(report["outcomes"]["PASS"], 15, ran.stdout)

    def test_the_transcript_of_the_page_is_what_is_said(self):
        lines = []
        for each in self._log("--judges", "state"):
            message = json.dumps(each["message"])
            message = re.sub(r'/[^"]*graphgate-exchange-[^"/]*', "/dev/shm/exchange", message)
            lines.append(f"    {'>' if each['direction'] == 'sent' else '<'} {message}\n")
            if lines[-1].endswith('{"done": true}\n'):
                break
        with open(PAGE, encoding="utf-8") as file:
            self.assertIn("".join(lines), file.read())

    def test_the_log_names_the_files_of_tensors(self):
        log = self._log("--judges", "state")
        self.assertEqual({each["session"] for each in log}, {log[0]["session"]})
        for each in log:
            self.assertEqual("folder" in each["message"], "tensors" in each)
            if "tensors" in each:
                self.assertIn(each["message"]["folder"] + "/tensors.safetensors", each["tensors"]["file"])
                self.assertGreater(each["tensors"]["bytes"], 8)
        self.assertEqual([each["direction"] for each in log][:2], ["sent", "answered"])
        self.assertEqual(sorted(each["time"] for each in log), [each["time"] for each in log])


if __name__ == "__main__":
    GRAPHGATE, PAGE = map(os.path.abspath, sys.argv[1:3])
    unittest.main(argv=sys.argv[:1])
