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


class Unit:
    """A vector unit, by what Inductor's check looks at."""

    _arch_flags = "-mnone"

    def __str__(self):
        return "none"


class Toolchain(unittest.TestCase):
    def setUp(self):
        self.cache = tempfile.mkdtemp()
        self.checks = []  # where each check has built its library
        self.is_there = True

        def check_build(_, code):
            self.checks.append(os.environ.get("TORCHINDUCTOR_CACHE_DIR"))
            return self.is_there

        for patch in (
            mock.patch.dict(os.environ, {"XDG_CACHE_HOME": self.cache}),
            mock.patch.object(cpu_vec_isa.VecISA, "check_build", check_build),
            mock.patch.object(codecache, "_HEADER_DIR", "before"),
            mock.patch.object(codecache, "_HEADER_LOCK_DIR", "before"),
            mock.patch.object(toolchain, "_checked", set()),
            mock.patch.object(codecache, "_worker_compile_cpp", codecache._worker_compile_cpp),
            mock.patch.object(
                cpu_vec_isa, "supported_vec_isa_list", cpu_vec_isa.supported_vec_isa_list),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def check(self, code="code"):
        return cpu_vec_isa.VecISA.check_build(Unit(), code)

    def test_it_is_below_the_cache_of_the_user(self):
        toolchain.use_kept()
        (kept,) = os.listdir(os.path.join(self.cache, "graphgate"))
        folder = os.path.join(self.cache, "graphgate", kept)
        self.assertIn(torch.__version__, kept)
        self.assertEqual(codecache._HEADER_DIR, os.path.join(folder, "headers"))
        self.assertTrue(self.check())
        self.assertEqual(self.checks, [folder])

    def test_a_unit_that_was_found_is_not_looked_for_again(self):
        toolchain.use_kept()
        self.assertTrue(self.check())
        self.assertTrue(self.check())
        self.assertEqual(len(self.checks), 1)
        self.assertTrue(self.check("other code"))
        self.assertEqual(len(self.checks), 2)

    def test_one_that_was_not_found_is(self):
        toolchain.use_kept()
        self.is_there = False
        self.assertFalse(self.check())
        self.is_there = True
        self.assertTrue(self.check())

    def test_asking_twice_keeps_once(self):
        toolchain.use_kept()
        first = cpu_vec_isa.VecISA.check_build
        toolchain.use_kept()
        self.assertIs(cpu_vec_isa.VecISA.check_build, first)

    def test_kernels_stay_where_they_were(self):
        for asked in ("/asked", None):
            os.environ.pop("TORCHINDUCTOR_CACHE_DIR", None)
            if asked:
                os.environ["TORCHINDUCTOR_CACHE_DIR"] = asked
            toolchain.use_kept()
            self.check(str(asked))
            self.assertEqual(os.environ.get("TORCHINDUCTOR_CACHE_DIR"), asked)

    EVERY_UNIT = ["strong", "weak"], ["wrong", "strong", "weak"]

    def looked_for(self, **words):
        """The units that are looked for where a processor has three of four."""

        class Named(Unit):
            def __init__(self, name, is_there):
                self.name, self.is_there = name, is_there

            def __str__(self):
                return self.name

            def __bool__(self):
                looked_for.append(self.name)
                cpu_vec_isa.VecISA.check_build(self, "code of " + self.name)
                return self.is_there

        looked_for = []
        units = [Named("lacking", True), Named("wrong", False), Named("strong", True), Named("weak", True)]
        with mock.patch.object(cpu_vec_isa, "supported_vec_isa_list", units):
            toolchain.use_kept(**words)
            found = [str(each) for each in cpu_vec_isa.supported_vec_isa_list
                     if str(each) != "lacking" and each]
        return found, list(dict.fromkeys(looked_for))

    def test_the_search_ends_with_the_strongest_unit(self):
        self.assertEqual(self.looked_for(), (["strong"], ["wrong", "strong"]))

    def test_all_units_are_looked_for_where_a_weaker_one_may_be_picked(self):
        self.assertEqual(self.looked_for(picks_vector_unit=True), self.EVERY_UNIT)

    def test_the_environment_may_pick_one_too(self):
        with mock.patch.dict(os.environ, {"ATEN_CPU_CAPABILITY": "avx2"}):
            self.assertEqual(self.looked_for(), self.EVERY_UNIT)

    def build_header(self, is_killed=False):
        """Has a header built as Inductor does, unless it is there: whether it was."""
        path = os.path.join(codecache._HEADER_DIR, "header.h.gch")
        built = []

        class Builder:
            def get_target_file_path(self):
                return path

            def build(self):
                built.append(path)
                with open(path, "w", encoding="ascii") as file:
                    file.write("ha" if is_killed else "half and half")
                if is_killed:
                    raise KeyboardInterrupt

        os.makedirs(codecache._HEADER_LOCK_DIR, exist_ok=True)
        lock = os.path.join(codecache._HEADER_LOCK_DIR, "header.lock")
        try:
            codecache._worker_compile_cpp(lock, (Builder(),))
        except KeyboardInterrupt:
            pass
        return bool(built)

    def test_a_header_that_was_not_written_to_its_end_is_none(self):
        toolchain.use_kept()
        self.assertTrue(self.build_header(is_killed=True))
        self.assertTrue(self.build_header())
        self.assertFalse(self.build_header())

    def test_without_a_folder_all_is_as_ever(self):
        before = cpu_vec_isa.VecISA.check_build
        with open(os.path.join(self.cache, "graphgate"), "w", encoding="ascii"):
            toolchain.use_kept()
        self.assertIs(cpu_vec_isa.VecISA.check_build, before)
        self.assertEqual(codecache._HEADER_DIR, "before")

    def test_another_processor_has_another_folder(self):
        first = toolchain.folder()
        with mock.patch.object(toolchain, "_processor", lambda: "other"):
            self.assertNotEqual(toolchain.folder(), first)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
