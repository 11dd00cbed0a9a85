"""Runs an ONNX model: by ONNX Runtime, or by the reference of the package onnx."""

import ctypes

import numpy
import onnx
import onnxruntime
import torch
from onnxruntime.capi import onnxruntime_pybind11_state as errors

from graphgate_adapter.module import Unsupported

LEVELS = {
    "none": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
_TYPES = {
    torch.float32: onnx.TensorProto.FLOAT, torch.float64: onnx.TensorProto.DOUBLE,
    torch.float16: onnx.TensorProto.FLOAT16, torch.bfloat16: onnx.TensorProto.BFLOAT16,
    torch.float8_e4m3fn: onnx.TensorProto.FLOAT8E4M3FN, torch.float8_e5m2: onnx.TensorProto.FLOAT8E5M2,
    torch.int64: onnx.TensorProto.INT64, torch.int32: onnx.TensorProto.INT32,
    torch.int16: onnx.TensorProto.INT16, torch.int8: onnx.TensorProto.INT8,
    torch.uint8: onnx.TensorProto.UINT8, torch.bool: onnx.TensorProto.BOOL,
}
_DTYPES = {number: dtype for dtype, number in _TYPES.items()}
# numpy has no such elements: their bytes travel under another name.
_BYTES = {torch.bfloat16: torch.int16, torch.float8_e4m3fn: torch.uint8, torch.float8_e5m2: torch.uint8}


class Session:
    """ONNX Runtime on the CPU. `tensors` in and out are contiguous."""

    def __init__(self, proto, settings, reuses):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = LEVELS[settings.optimization]
        options.enable_mem_pattern = settings.mem_pattern and reuses
        options.enable_mem_reuse = settings.mem_reuse and reuses
        options.intra_op_num_threads = settings.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = onnxruntime.InferenceSession(
                proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        except errors.NotImplemented as error:
            raise Unsupported(f"ONNX Runtime: {_line(error)}") from error
        self._inputs = [each.name for each in proto.graph.input]
        self._outputs = [each.name for each in proto.graph.output]
        # A name has one place: a model that hands out one value twice would fill the second alone.
        self._is_bound = settings.io_binding and len(set(self._outputs)) == len(self._outputs)

    def run(self, tensors, shapes, dtypes):
        try:
            if self._is_bound:
                return self._run_bound(tensors, shapes, dtypes)
            feeds = {
                name: _value_of(tensor) for name, tensor in zip(self._inputs, tensors, strict=True)
            }
            return [_tensor_of(v) for v in self._session.run_with_ort_values(self._outputs, feeds)]
        except errors.NotImplemented as error:
            raise Unsupported(f"ONNX Runtime: {_line(error)}") from error

    def _run_bound(self, tensors, shapes, dtypes):
        """Over the memory of the caller's tensors, and into memory that is there before the call."""
        binding = self._session.io_binding()
        for name, tensor in zip(self._inputs, tensors, strict=True):
            if tensor.numel() == 0:
                binding.bind_ortvalue_input(name, _value_of(tensor))
            else:
                binding.bind_input(
                    name, "cpu", 0, _TYPES[tensor.dtype], tuple(tensor.shape), tensor.data_ptr()
                )
        outputs = [
            torch.empty(shape, dtype=dtype) for shape, dtype in zip(shapes, dtypes, strict=True)
        ]
        for name, tensor in zip(self._outputs, outputs, strict=True):
            if tensor.numel() == 0:
                binding.bind_output(name)
            else:
                binding.bind_output(
                    name, "cpu", 0, _TYPES[tensor.dtype], tuple(tensor.shape), tensor.data_ptr()
                )
        self._session.run_with_iobinding(binding)
        return outputs


class Reference:
    """Node by node, by the bodies in Python that the package onnx has."""

    def __init__(self, proto, settings, reuses):
        from onnx.reference import ReferenceEvaluator

        self._evaluator = ReferenceEvaluator(proto)
        self._inputs = [each.name for each in proto.graph.input]

    def run(self, tensors, shapes, dtypes):
        for tensor in tensors:
            if tensor.dtype in _BYTES:
                raise Unsupported(f"onnx's reference: {tensor.dtype}")
        feeds = {name: t.numpy() for name, t in zip(self._inputs, tensors, strict=True)}
        made = self._evaluator.run(None, feeds)
        return [torch.from_numpy(numpy.array(each)) for each in made]


RUNNERS = {"onnxruntime": Session, "reference": Reference}


def _line(error):
    return " ".join(str(error).split())[:300]


def _value_of(tensor):
    if tensor.dtype in _BYTES:
        held = tensor.view(_BYTES[tensor.dtype]).numpy()
        return onnxruntime.OrtValue.ortvalue_from_numpy_with_onnx_type(held, _TYPES[tensor.dtype])
    return onnxruntime.OrtValue.ortvalue_from_numpy(tensor.numpy())


def _tensor_of(value):
    made = torch.empty(tuple(value.shape()), dtype=_DTYPES[value.element_type()])
    if made.numel():
        ctypes.memmove(made.data_ptr(), value.data_ptr(), made.numel() * made.element_size())
    return made
