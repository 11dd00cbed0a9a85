"""What is kept of a machine's C++ compiler: toolchain_test.py. Status 77 where there is no PyTorch."""

import os
import sys
import tempfile
import unittest
from unittest import mock

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _ADAPTER)

try:
    import torch  # noqa: F401
except ImportError:
    sys.exit(77)

from torch._inductor import codecache, cpu_vec_isa  # noqa: E402

from graphgate_torch import toolchain  # noqa: E402


class Toolchain(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp()
        self.looks = []

        def look():
            self.looks.append(os.environ.get("TORCHINDUCTOR_CACHE_DIR"))
            return []

        for patch in (
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.cache}),
            mock.patch.object(cpu_vec_isa, "valid_vec_isa_list", look),
            mock.patch.object(codecache, "_HEADER_DIR", "before"),
            mock.patch.object(codecache, "_HEADER_LOCK_DIR", "before"),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def test_it_is_below_the_cache_of_the_user(self):
        toolchain.use_kept()
        (kept,) = os.listdir(os.path.join(self.cache, "graphgate"))
        folder = os.path.join(self.cache, "graphgate", kept)
        self.assertIn(torch.__version__, kept)
        self.assertEqual(self.looks, [folder])
        self.assertEqual(codecache._HEADER_DIR, os.path.join(folder, "precompiled_headers"))

    def test_kernels_stay_where_they_were(self):
        for asked in ("/asked", None):
            os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)
            if asked:
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = asked
            toolchain.use_kept()
            self.assertEqual(os.environ.get("TORCHINDUCTOR_CACHE_DIR"), asked)

    def test_without_a_folder_all_is_as_ever(self):
        with open(os.path.join(self.cache, "graphgate"), "w", encoding="ascii"):
            toolchain.use_kept()
        self.assertEqual(self.looks, [])
        self.assertEqual(codecache._HEADER_DIR, "before")

    def test_another_processor_has_another_folder(self):
        first = toolchain.folder()
        with mock.patch.object(toolchain, "_processor", lambda: "other"):
            self.assertNotEqual(toolchain.folder(), first)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
