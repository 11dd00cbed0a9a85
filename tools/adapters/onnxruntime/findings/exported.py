"""What the scripts beside it share: a function as an ONNX model of PyTorch's exporter, and what runs it.

They need PyTorch, onnx, onnxscript and ONNX Runtime. Each says at its head whose fault it shows.
"""

import io
import logging
import warnings

import numpy
import onnx
import onnxruntime
import torch
from onnx.reference import ReferenceEvaluator

logging.getLogger("torch.onnx").setLevel(logging.ERROR)


class _Calling(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self._function = function

    def forward(self, *tensors):
        return self._function(*tensors)


def export(function, *tensors):
    """Returns the ONNX model of a function of tensors, without the exporter's own optimizations."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.export.export(_Calling(function), tensors, strict=False)
        made = torch.onnx.export(
            program.run_decompositions({}), (), dynamo=True, verbose=False, optimize=False
        )
    buffer = io.BytesIO()
    made.save(buffer)
    return onnx.load_from_string(buffer.getvalue())


def run(model, *tensors):
    """Returns what ONNX Runtime computes on a CPU, without optimizations, as tensors."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return _tensors(session.run(None, _feeds(model, tensors)))


def refer(model, *tensors):
    """Returns what the reference of the package onnx computes, as tensors."""
    return _tensors(ReferenceEvaluator(model).run(None, _feeds(model, tensors)))


def _feeds(model, tensors):
    return {each.name: t.numpy() for each, t in zip(model.graph.input, tensors, strict=True)}


def _tensors(arrays):
    return [torch.from_numpy(numpy.array(each)) for each in arrays]
