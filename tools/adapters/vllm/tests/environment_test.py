#!/usr/bin/env python3
"""Where vLLM's files go: nowhere that others write. Needs no vLLM."""

import os
import stat
import subprocess
import sys
import tempfile
import unittest

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SAY = "from graphgate_vllm import environment; environment.prepare(); import os; " \
       "root = os.environ['VLLM_CACHE_ROOT']; print(root, oct(os.stat(root).st_mode & 0o777))"


class CacheRoot(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self._scratch = scratch.name
        os.makedirs(self._at("tmp"))

    def _at(self, name):
        return os.path.join(self._scratch, name)

    def _root(self, **variables):
        own = {name: value for name, value in os.environ.items() if not name.startswith(("VLLM_", "XDG_"))}
        own |= {"PYTHONPATH": _PACKAGE, "TMPDIR": self._at("tmp"), "HOME": self._at("home"), **variables}
        said = subprocess.run([sys.executable, "-c", _SAY], env=own, capture_output=True, text=True, check=False)
        self.assertEqual(said.returncode, 0, said.stderr)
        return said.stdout.split()

    def test_is_below_the_users_cache(self):
        self.assertEqual(self._root(), [self._at("home/.cache/graphgate/vllm"), "0o700"])
        self.assertEqual(self._root(XDG_CACHE_HOME=self._at("c")), [self._at("c/graphgate/vllm"), "0o700"])
        self.assertEqual(os.listdir(self._at("tmp")), [])

    def test_is_a_new_folder_where_others_may_write_there_or_nobody_can(self):
        planted = self._at("c/graphgate/vllm")
        os.makedirs(planted)
        os.chmod(planted, 0o777)
        file = self._at("file")
        with open(file, "w", encoding="utf-8"):
            pass
        for cache in (self._at("c"), file):
            root, mode = self._root(XDG_CACHE_HOME=cache)
            self.assertTrue(root.startswith(self._at("tmp/graphgate-vllm-")), root)
            self.assertEqual(mode, "0o700")
        self.assertEqual(os.listdir(planted), [])
        self.assertEqual(stat.S_IMODE(os.stat(planted).st_mode), 0o777)
        self.assertEqual(os.listdir(self._at("tmp")), [])  # gone with its process

    def test_is_what_the_caller_says(self):
        os.makedirs(self._at("own"))
        self.assertEqual(self._root(VLLM_CACHE_ROOT=self._at("own"))[0], self._at("own"))


if __name__ == "__main__":
    unittest.main()
