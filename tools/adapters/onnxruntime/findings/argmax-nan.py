"""argmax of numbers with a NaN among them: ONNX Runtime passes over it, as it does or does not by its place.

torch.argmax takes the first NaN for the largest, as numpy does. PyTorch's exporter makes ONNX's ArgMax of it, whose page says
nothing of NaN; the reference of the package onnx is numpy's. ONNX Runtime's kernel (core/providers/cpu/reduction) compares by
the order of Eigen: a NaN wins where it stands first, and else mostly not. ArgMin is alike.
"""

import sys

import onnx
import onnxruntime
import torch
from onnx.reference import ReferenceEvaluator


def model():
    node = onnx.helper.make_node("ArgMax", ["x"], ["y"], axis=1, keepdims=0)
    x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 3])
    y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.INT64, [2])
    graph = onnx.helper.make_graph([node], "g", [x], [y])
    return onnx.helper.make_model(
        graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10
    )


x = torch.tensor([[1.0, float("nan"), 2.0], [float("nan"), 2.0, 1.0]])
(reference,) = ReferenceEvaluator(model()).run(None, {"x": x.numpy()})
session = onnxruntime.InferenceSession(
    model().SerializeToString(), providers=["CPUExecutionProvider"]
)
(said,) = session.run(None, {"x": x.numpy()})
print("PyTorch", x.argmax(1).tolist(), "onnx's reference", reference.tolist(), "ONNX Runtime", said.tolist())
sys.exit(said.tolist() != x.argmax(1).tolist())
