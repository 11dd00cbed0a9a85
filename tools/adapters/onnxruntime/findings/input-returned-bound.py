"""A graph that returns its input, with the output bound to memory: the memory is not written.

IO binding promises that the result lies in the memory that was bound. Where an output of the graph is an input of it,
ONNX Runtime hands out the input's own value, and the bound memory keeps what it held.
"""

import sys

import numpy
import onnx
import onnxruntime

x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [4])
y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [4])
node = onnx.helper.make_node("Neg", ["x"], ["y"])
graph = onnx.helper.make_graph([node], "g", [x], [x, y])
model = onnx.helper.make_model(
    graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10
)
onnx.checker.check_model(model, full_check=True)
session = onnxruntime.InferenceSession(
    model.SerializeToString(), providers=["CPUExecutionProvider"]
)
given = numpy.arange(4, dtype=numpy.float32)
places = {name: numpy.full(4, 7, dtype=numpy.float32) for name in ("x", "y")}
binding = session.io_binding()
binding.bind_input("x", "cpu", 0, numpy.float32, (4,), given.ctypes.data)
for name, place in places.items():
    binding.bind_output(name, "cpu", 0, numpy.float32, (4,), place.ctypes.data)
session.run_with_iobinding(binding)
print({name: place.tolist() for name, place in places.items()})
sys.exit(not (places["x"] == given).all())
