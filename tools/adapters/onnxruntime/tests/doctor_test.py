"""What the doctor says of an environment: doctor_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import os
import subprocess
import sys
import unittest

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def _doctor(*prepare):
    """The verb, in a process that runs some lines before it."""
    lines = "; ".join((*prepare, "import runpy, sys", "sys.argv = ['m', 'doctor']",
                       "runpy.run_module('graphgate_onnxruntime', run_name='__main__')"))
    return subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": _ADAPTER},
    )


class Doctor(unittest.TestCase):
    def test_says_what_is_there(self):
        ran = _doctor()
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for words in ("ONNX Runtime ", "onnxscript ", "relu of [-1, 2] is [0.0, 2.0]", "sessions are forked"):
            self.assertIn(words, ran.stdout)

    def test_ends_with_3_where_the_exporter_is_missing(self):
        ran = _doctor("import sys", "sys.modules['onnxscript'] = None")
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertIn("exporter           lacks", ran.stdout)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
