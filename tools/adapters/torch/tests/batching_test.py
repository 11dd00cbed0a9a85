"""The C++ kernels of a graph as one translation unit: batching_test.py. Status 77 without PyTorch."""

import os
import subprocess
import sys
import unittest
from unittest import mock

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _ADAPTER)

try:
    import torch
except ImportError:
    sys.exit(77)

from torch._inductor import codecache  # noqa: E402

from graphgate_torch import batching  # noqa: E402


def _two_kernels(x):
    # A product, which no kernel of Inductor's computes, lies between them.
    return torch.mm(x.sin(), x).exp(), x + 1


def _vectors_and_none(x):
    first = torch.mm(x.cos(), x)
    return torch.mm(first, x.cumsum(0)).tanh(), first.sort(0)[0] * 2


class Batching(unittest.TestCase):
    def units(self, function, joined):
        """How many translation units a compile of the function has, and that it is right."""
        torch._dynamo.reset()
        x = torch.linspace(-1, 1, 36).reshape(6, 6)
        built = []
        build = codecache.CppBuilder.build

        def counted(builder):
            if "main" in str(builder.get_target_file_path()):
                built.append(builder)
            return build(builder)

        with mock.patch.object(codecache.CppBuilder, "build", counted), torch.no_grad():
            with torch._inductor.utils.fresh_inductor_cache():
                if joined:
                    with batching.one_unit_a_graph():
                        outputs = torch.compile(function)(x)
                else:
                    outputs = torch.compile(function)(x)
        torch.testing.assert_close(outputs, function(x))
        return len(built)

    def test_kernels_of_a_graph_are_one_unit(self):
        self.assertEqual(self.units(_two_kernels, False), 2)
        self.assertEqual(self.units(_two_kernels, True), 1)

    def test_inductor_may_compile_in_one_thread(self):
        with torch._inductor.config.patch(compile_threads=1):
            self.assertEqual(self.units(_two_kernels, True), 1)

    def test_kernels_with_other_flags_are_another_unit(self):
        self.assertLess(self.units(_vectors_and_none, True), self.units(_vectors_and_none, False))

    def test_what_does_not_compile_together_is_compiled_apart(self):
        with mock.patch.object(batching, "joined", lambda kernels: "#error together\n"):
            self.assertEqual(self.units(_two_kernels, True), 3)

    def test_bindings_of_another_form_are_compiled_apart(self):
        def fails(*_):
            raise AttributeError("suffix_template")

        with mock.patch.object(batching, "_bindings", fails):
            self.assertEqual(self.units(_two_kernels, True), 2)

    def test_sources_of_another_form_are_compiled_apart(self):
        with mock.patch.object(batching, "_can_be_batched", lambda source: False):
            self.assertEqual(self.units(_two_kernels, True), 2)
        kernel = '#include <a.h>\nextern "C"  void  kernel(const float* in_ptr0)\n{\n}\n'
        self.assertTrue(batching._can_be_batched(kernel))
        self.assertFalse(batching._can_be_batched("#define kernel other\n" + kernel))
        self.assertFalse(batching._can_be_batched("struct A {};\n" + kernel))

    def test_a_compiler_error_is_that_of_the_kernel_alone(self):
        source = '#include <cmath>\nextern "C"  void  kernel(float* out)\n{\n no_such_name;\n}\n'

        class Compiler:
            pass

        def original(compiler, argument_types, text):
            self.assertEqual(text, source)
            return codecache.CppPythonBindingsCodeCache.load_pybinding(argument_types, text)

        compiler = Compiler()
        kernels = [batching._cpp_pybinding(original, compiler, ["float*"], source) for _ in range(2)]
        for kernel in kernels:
            with self.assertRaisesRegex(Exception, "no_such_name") as failed:
                kernel.result()
            self.assertIsInstance(failed.exception, (batching.CppCompileError, subprocess.SubprocessError))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
