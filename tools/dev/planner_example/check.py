#!/usr/bin/env python3
"""Whether the example of docs/verify_your_planner.md is true: check.py GRAPHGATE PAGE."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

_FOLDER = os.path.dirname(os.path.abspath(__file__))
GRAPHGATE, PAGE = "", ""


def _of_page(pattern):
    with open(PAGE, encoding="utf-8") as file:
        return re.search(pattern, file.read(), re.DOTALL)[1]


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = folder.name

    def _write(self, name, text):
        with open(os.path.join(self._folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def _verify(self, plan, program=os.path.join(_FOLDER, "mlp.txt")):
        self._write("plan.json", plan)
        ran = subprocess.run([GRAPHGATE, "plan", "--verify", "plan.json", "--program", program],
                             cwd=self._folder, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    @staticmethod
    def _plan(*words):
        return subprocess.run([sys.executable, os.path.join(_FOLDER, "planner.py"), *words],
                              capture_output=True, text=True, check=True).stdout

    def test_the_planner_is_right(self):
        self.assertEqual(self._verify(self._plan()), (0, "plan.json: no findings\n"))

    def test_the_planner_packs(self):
        plan = json.loads(self._plan())
        arena = next(each for each in plan["pools"] if each["name"] == "arena")
        apart = sum(each["size_bytes"] for each in plan["buffers"] if each["pool"] == "arena")
        self.assertLess(arena["size_bytes"], apart)

    def test_the_mistake_is_named_as_the_page_says(self):
        status, said = self._verify(self._plan("--mistake"))
        self.assertEqual(status, 1, said)
        shown = _of_page(r"planner\.py --mistake > plan\.json\n[^\n]*\n(.*?)\n\n")
        self.assertEqual(said.rstrip("\n"), re.sub("^    ", "", shown, flags=re.MULTILINE))

    def test_the_json_of_the_page_is_a_right_plan(self):
        self._write("two.txt", _of_page(r"```\n(program .*?)```"))
        self.assertEqual(self._verify(_of_page(r"```json\n(.*?)```"), "two.txt"),
                         (0, "plan.json: no findings\n"))

    def test_wrong_json_is_told_with_its_place(self):
        right = json.loads(self._plan())

        def changed(change):
            plan = copy.deepcopy(right)
            change(plan)
            return json.dumps(plan)

        arguments = right["steps"][0]["arguments"]
        for text, words in (
            (changed(lambda p: p["values"][0].update(buffer="nope")),
             'values[0].buffer: expected the name of a buffer, found "nope"'),
            (changed(lambda p: p["buffers"][0].update(offest=0)),
             "buffers[0].offest: expected one of the members name, pool, offset_bytes, size_bytes"),
            (changed(lambda p: p["pools"][0].update(size_bytes=16)),
             "bytes at offset 0 leave the pool @arena of 16 bytes"),
            (changed(lambda p: p["pools"][0].update(kind="stack")),
             'pools[0].kind: expected state, input, arena, heap or caller, found "stack"'),
            (changed(lambda p: p["buffers"][0].update(offset_bytes="0")),
             "buffers[0].offset_bytes: expected an integer, found a string"),
            (changed(lambda p: p["values"].append(p["values"][0])),
             'expected a new name, found "w1" again'),
            (changed(lambda p: p["steps"].pop()), "steps [0, 6) are no range of the 5 steps"),
            (changed(lambda p: p["steps"][0].update(arguments=[{**arguments[0], "name": "input"}, arguments[1]])),
             "step 'h': aten.mm.default has no argument 'input'; its arguments are self, mat2"),
            (changed(lambda p: p["steps"][0].update(arguments=arguments[:1])),
             "step 'h': aten.mm.default needs the argument 'mat2', and it is missing"),
            (changed(lambda p: p["steps"][0].update(arguments=[*arguments, arguments[0]])),
             "step 'h': the argument 'self' comes twice"),
            (changed(lambda p: p.pop("graphgate_plan")), 'has no "graphgate_plan"'),
            (json.dumps(right)[:300], "plan.json: line "),
            ("[1]", "expected an object"),
        ):
            status, said = self._verify(text)
            self.assertEqual(status, 4, said)
            self.assertIn(words, said)
            self.assertEqual(said.count("\n"), 1, said)


if __name__ == "__main__":
    GRAPHGATE, PAGE = (os.path.abspath(sys.argv.pop(1)) for _ in range(2))
    unittest.main()
