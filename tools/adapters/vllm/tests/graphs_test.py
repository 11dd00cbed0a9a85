"""Captures of vLLM's on a CPU, and bodies of its compiled ops: graphs_test.py GRAPHGATE GOLDEN."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from graphgate_vllm import environment  # noqa: E402

environment.prepare()

import torch  # noqa: E402
import vllm  # noqa: E402

from graphgate_adapter import errors, graph_text, module  # noqa: E402
from graphgate_vllm import backend, capturing, compiled_ops, graph_ops, graphs  # noqa: E402

_TEXT = """program "p" {
  buffer %s "s" : f32[4]
  input %x : f32[4]
  %a : f32[4] = aten.add_.Tensor(%s, %x)
  %b : f32[4] = aten.mul.Tensor(%a, 2.0)
  %c : f32[4] = aten.zero_.default(%x)
  %d : f32[4] = aten.add.Tensor(%b, 1.0)
  output %d
  output %x
  output %a
}
"""


def _program(mode, split=("aten::zero_",)):
    """What runs the program with graphs of this mode, and the module with its states."""
    graph = graph_text.parse(_TEXT)
    devices = module.Devices(graph, "cpu")
    built = module.build(graph, {"s": torch.zeros(4)}, devices)
    vllm = backend.Vllm(
        backend.Settings(compiler="eager", cudagraph_mode=mode, split=list(split)))
    return vllm.compile(built, {}), built


class Faults(unittest.TestCase):
    def test_what_vllm_says_of_its_captures_is_no_limit_of_cuda(self):
        monitor = os.path.join(os.path.dirname(vllm.__file__), "compilation", "monitor.py")
        for path, is_of_cuda in ((monitor, False), ("/somewhere/torch/cuda/graphs.py", True)):
            with self.subTest(path):
                code = compile("raise RuntimeError('a graph is captured at a wrong time')", path, "exec")
                try:
                    exec(code)  # noqa: S102
                except RuntimeError as error:  # assertRaises would take its frames
                    self.assertEqual(capturing._is_of_capture(error), is_of_cuda)
                else:
                    self.fail("nothing was raised")

    def test_a_check_of_an_extension_is_a_limit_and_one_of_pytorch_is_none(self):
        for words, is_limit in (
            ("fused_add_rms_norm, /workspace/csrc/libtorch_stable/layernorm_kernels.cu:256,", True),
            ("aoti_torch_get_stride() API call failed at /v/torch/csrc/stable/tensor_struct.h, line 289", True),
            ('x INTERNAL ASSERT FAILED at "/pytorch/torch/csrc/autograd/engine.cpp":1, please report', False),
            ('x INTERNAL ASSERT FAILED at "/src/torch/csrc/autograd/engine.cpp":1, please report', False),
            ("a check at /pytorch/third_party/flash-attention/csrc/flash_attn/flash_api.cpp:1", False),
        ):
            with self.subTest(words):
                self.assertEqual(errors.has_no_kernel_for_values(RuntimeError(words)), is_limit)

    def test_what_a_layer_of_ours_lacks_is_no_fault_of_vllm(self):
        with self.assertRaises(AttributeError) as raised:
            graph_ops._Attention("layer").what_vllm_may_ask_for
        self.assertIs(errors.raised_here(raised.exception), raised.exception)

    def test_what_an_object_of_others_lacks_is_theirs(self):
        with self.assertRaises(AttributeError) as raised:
            torch.ones(1).what_nobody_has
        self.assertIsNone(errors.raised_here(raised.exception))


class Captured(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def _counted(self):
        captures, replays = [], []
        capture, replay = graphs.Graph.capture, graphs.Graph.replay
        self.addCleanup(setattr, graphs.Graph, "capture", capture)
        self.addCleanup(setattr, graphs.Graph, "replay", replay)
        graphs.Graph.capture = lambda *words: captures.append(words) or capture(*words)
        graphs.Graph.replay = lambda *words: replays.append(words) or replay(*words)
        return captures, replays

    def test_each_piece_is_captured_once_and_replayed_in_every_call(self):
        for mode, pieces in (("piecewise", 2), ("full", 1), ("full_and_piecewise", 3)):
            with self.subTest(mode):
                torch._dynamo.reset()
                captures, replays = self._counted()
                run, built = _program(mode)
                total = torch.zeros(4)
                with torch.no_grad():
                    for call in range(4):
                        x = torch.full((4,), float(call + 1))
                        total += x
                        doubled, emptied, state = run(x)
                        self.assertTrue(torch.equal(doubled, 2 * total + 1), mode)
                        self.assertTrue(torch.equal(emptied, torch.zeros(4)))
                        self.assertTrue(torch.equal(built.state_s, total))
                        # An output may be a state itself.
                        self.assertEqual(state.data_ptr(), built.state_s.data_ptr())
                self.assertEqual(len(captures), pieces)
                self.assertEqual(len(replays), 4 * pieces if mode != "full_and_piecewise" else 6)

    def test_a_size_that_comes_back_is_replayed_by_what_was_compiled_for_others(self):
        graph = graph_text.parse("""program "p" {
  symbol s0 in [2, 64]
  input %x : f32[s0]
  %a : f32[s0] = aten.add.Tensor(%x, 1.0)
  output %a
}
""")
        built = module.build(graph, {}, module.Devices(graph, "cpu"))
        vllm = backend.Vllm(backend.Settings(compiler="eager", cudagraph_mode="piecewise"))
        run = vllm.compile(built, {})
        with torch.no_grad():
            for size in (6, 4, 6, 4):
                x = torch.full((size,), float(size))
                self.assertTrue(torch.equal(run(x)[0], x + 1), size)

    def test_inputs_elsewhere_are_stale_without_static_memory(self):
        run, _ = _program("piecewise")
        with torch.no_grad():
            first = run(torch.ones(4))[0].clone()
            x = torch.full((4,), 5.0)
            entry = next(iter(run._known.values()))
            with graphs.pool_of(run._pool):
                stale = run._call([x], run._modes[0], entry.number)[0]
        # The state grew by the zeros that the first call left in its memory, and not by 5.
        self.assertTrue(torch.equal(stale, first))


class Pools(unittest.TestCase):
    def test_a_block_is_handed_on_when_its_tensor_is_gone(self):
        pool = graphs.Pool()
        first = pool.take(64)
        second = pool.take(64)
        self.assertNotEqual(first.data_ptr(), second.data_ptr())
        address = first.data_ptr()
        del first
        self.assertEqual(pool.take(32).data_ptr(), address)

    def test_weak_references_keep_nothing(self):
        pool = graphs.Pool()
        tensor = torch.empty(0).set_(pool.take(64), 4, (3,), (1,))
        weak = graphs.weak_ref_tensor(tensor)
        self.assertEqual(weak.data_ptr(), tensor.data_ptr())
        self.assertEqual((weak.storage_offset(), weak.stride()), (4, (1,)))
        address = tensor.untyped_storage().data_ptr()
        del tensor
        other = torch.empty(0).set_(pool.take(64), 0, (16,), (1,))
        self.assertEqual(other.data_ptr(), address)
        other.fill_(7.0)
        self.assertEqual(weak.tolist(), [7.0, 7.0, 7.0])


class CompiledOps(unittest.TestCase):
    """Against what vLLM's own code in Python says of the same ops."""

    def setUp(self):
        torch.manual_seed(1)

    def _close(self, a, b):
        torch.testing.assert_close(a.float(), b.float(), rtol=1e-2, atol=1e-2)

    def test_norms_are_those_of_vllm_ir(self):
        from vllm.ir.ops import layernorm

        for dtype in (torch.float32, torch.bfloat16):
            x, r = torch.randn(5, 16, dtype=dtype), torch.randn(5, 16, dtype=dtype)
            w = torch.randn(16, dtype=dtype)
            out = torch.empty_like(x)
            torch.ops._C.rms_norm(out, x, w, 1e-5)
            self._close(out, torch.ops.vllm_ir.rms_norm(x, w, 1e-5))
            a, b = x.clone(), r.clone()
            torch.ops._C.fused_add_rms_norm(a, b, w, 1e-5)
            want = torch.ops.vllm_ir.fused_add_rms_norm(x, r, w, 1e-5)
            self._close(a, want[0])
            self._close(b, want[1])
        self.assertTrue(layernorm)

    def test_rotations_are_those_of_its_layer(self):
        from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding

        for is_neox in (True, False):
            positions = torch.arange(6)
            query, key = torch.randn(6, 4 * 8), torch.randn(6, 2 * 8)
            cache = torch.randn(32, 8)
            want = RotaryEmbedding.forward_static(
                positions, query.clone(), key.clone(), 8, 8, cache, is_neox)
            torch.ops._C.rotary_embedding(positions, query, key, 8, cache, is_neox)
            self._close(query, want[0])
            self._close(key, want[1])
            # The inverse turns back, where cosines and sines are of angles.
            angles = torch.rand(32, 4)
            cache = torch.cat([angles.cos(), angles.sin()], -1)
            before = query.clone()
            torch.ops._C.rotary_embedding(positions, query, None, 8, cache, is_neox)
            torch.ops._C.rotary_embedding(
                positions, query, None, 8, cache, is_neox, inverse=True)
            self._close(query, before)

    def test_quantizations_are_those_of_its_layer(self):
        from vllm.config import VllmConfig, set_current_vllm_config
        from vllm.model_executor.layers.quantization.input_quant_fp8 import QuantFP8
        from vllm.model_executor.layers.quantization.utils.quant_utils import GroupShape

        x = torch.randn(6, 32)
        with set_current_vllm_config(VllmConfig()):
            for static, shape in (
                (True, GroupShape.PER_TENSOR), (False, GroupShape.PER_TENSOR),
                (False, GroupShape.PER_TOKEN),
            ):
                layer = QuantFP8(static=static, group_shape=shape)
                scale = torch.tensor([0.02]) if static else None
                want, scales = layer.forward_native(x, scale)
                result = torch.empty_like(x, dtype=torch.float8_e4m3fn)
                if static:
                    torch.ops._C.static_scaled_fp8_quant(result, x, scale)
                elif shape == GroupShape.PER_TENSOR:
                    made = torch.empty(1)
                    torch.ops._C.dynamic_scaled_fp8_quant(result, x, made)
                    self._close(made, scales.reshape(1))
                else:
                    made = torch.empty(6, 1)
                    torch.ops._C.dynamic_per_token_scaled_fp8_quant(result, x, made, None)
                    self._close(made, scales)
                steps = (result.float() - want.float()).abs()
                self.assertLessEqual((steps / want.float().abs().clamp(min=2**-6)).max(), 2**-3)

    def test_fused_ops_are_the_ops_one_after_the_other(self):
        c = torch.ops._C
        x, r, w = torch.randn(5, 16), torch.randn(5, 16), torch.randn(16)
        scale = torch.tensor([0.05])
        norm, plain = torch.empty_like(x), torch.empty_like(x, dtype=torch.float8_e4m3fn)
        fused = torch.empty_like(plain)
        c.rms_norm(norm, x, w, 1e-5)
        c.static_scaled_fp8_quant(plain, norm, scale)
        c.rms_norm_static_fp8_quant(fused, x, w, scale, 1e-5)
        self.assertTrue(torch.equal(fused.float(), plain.float()))
        a, b, d = x.clone(), r.clone(), r.clone()
        c.fused_add_rms_norm(a, b, w, 1e-5)
        c.static_scaled_fp8_quant(plain, a, scale)
        c.fused_add_rms_norm_static_fp8_quant(fused, x, d, w, scale, 1e-5)
        self.assertTrue(torch.equal(fused.float(), plain.float()))
        self.assertTrue(torch.equal(b, d))
        scales, others = torch.empty(5, 1), torch.empty(5, 1)
        c.dynamic_per_token_scaled_fp8_quant(plain, norm, scales, None)
        c.rms_norm_dynamic_per_token_quant(fused, x, w, others, 1e-5, None, None)
        self.assertTrue(torch.equal(fused.float(), plain.float()))
        self.assertTrue(torch.equal(scales, others))
        gated = torch.empty(5, 8)
        c.silu_and_mul(gated, x)
        self._close(gated, torch.nn.functional.silu(x[:, :8]) * x[:, 8:])
        plain, fused = (torch.empty(5, 8, dtype=torch.float8_e4m3fn) for _ in range(2))
        c.static_scaled_fp8_quant(plain, gated, scale)
        c.silu_and_mul_quant(fused, x, scale)
        self.assertTrue(torch.equal(fused.float(), plain.float()))
        # Two query heads, one key head and one value head of 4 numbers.
        qkv = torch.randn(5, 16)
        weights, cache = (torch.randn(4), torch.randn(4)), torch.randn(8, 4)
        want = qkv.clone()
        for start, end, weight in ((0, 8, weights[0]), (8, 12, weights[1])):
            heads = want[:, start:end].reshape(-1, 4)
            out = torch.empty_like(heads)
            c.rms_norm(out, heads, weight, 1e-5)
            want[:, start:end] = out.reshape(5, -1)
        query, key = want[:, :8].clone(), want[:, 8:12].clone()
        c.rotary_embedding(torch.arange(5), query, key, 4, cache, True)
        want[:, :8], want[:, 8:12] = query, key
        c.fused_qk_norm_rope(
            qkv, 2, 1, 1, 4, 1e-5, *weights, cache, True, torch.arange(5))
        self._close(qkv, want)

    def test_each_op_is_the_one_here_or_the_extensions(self):
        for name in compiled_ops.names():
            self.assertTrue(hasattr(torch.ops._C, name.removeprefix("_C::")), name)


if __name__ == "__main__":
    sys.argv[1:3] = []
    unittest.main()
