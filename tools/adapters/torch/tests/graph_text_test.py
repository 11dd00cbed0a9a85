"""The reader of graph text. Needs no PyTorch: graph_text_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import glob
import importlib.util
import os
import subprocess
import sys
import unittest

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_SPEC = importlib.util.spec_from_file_location(
    "graph_text", os.path.join(_FOLDER, "..", "..", "common", "graphgate_adapter", "graph_text.py")
)
graph_text = importlib.util.module_from_spec(_SPEC)
sys.modules["graph_text"] = graph_text
_SPEC.loader.exec_module(graph_text)
Ref, GraphRef, Made, Word = (
    graph_text.Ref, graph_text.GraphRef, graph_text.Made, graph_text.Word,
)
GRAPHGATE, GOLDEN = "", ""

_PROGRAM = """program "p" {
  annotation "torch.metadata" "{\\"a\\": 1}"
  symbol s0 in [2, 64] hint 8
  parameter %w "layer.weight" : f32[16, 2*s0]{2*s0, 1}@4 on cuda:0
  input %x : bf16[s0]
  input "flag" = True
  graph @yes {
    input %y : f32[s0]
    %z = aten.neg.default(%y)
    output %z
  }
  %v : f32[s0] on cuda:0, %i = aten.max.dim(%w, 1)
  (%l, %r : f32[2]) = aten.split.Tensor(%v, 2) as halves
  %n : symint(2*s0) hint 16 = _operator.mul(%i, 2)
  aten._assert_scalar.default(%n, "two\\nlines") as check
  %c = higher_order.cond(%n, @yes, @yes, [%l, [1, -2.5, -inf]], dtype=bf16, layout=layout(strided), device=device("cuda:0"))
  mutation buffer "state" %l
  %p = aten.mul.Tensor(%c, complex(-0.5, inf), other=c64)
  output %c
  output None
}
"""


class GraphText(unittest.TestCase):
    def test_reads_every_kind_of_line(self):
        graph = graph_text.parse(_PROGRAM)
        self.assertEqual(graph.name, "p")
        self.assertEqual(
            [(i.kind, i.target, i.value) for i in graph.inputs],
            [("parameter", "layer.weight", "w"), ("user", "x", "x"), ("user", "flag", "")],
        )
        self.assertEqual(graph.inputs[2].constant, True)
        self.assertEqual((graph.types["w"].dtype, graph.types["w"].device), ("f32", "cuda:0"))
        self.assertEqual(graph.types["v"].device, "cuda:0")
        self.assertEqual(graph.symbols, {"s0": (2, 64)})
        self.assertEqual(graph.types["w"].sizes, ("16", "2*s0"))
        self.assertEqual(graph.types["x"].sizes, ("s0",))
        self.assertEqual(graph.types["n"].kind, "symint")
        self.assertEqual([n.name for n in graph.graphs["yes"].nodes], ["z"])
        top, halves, product, check, cond, scaled = graph.nodes
        self.assertEqual(scaled.args, [Ref("c"), complex(-0.5, float("inf"))])
        self.assertEqual(scaled.kwargs, {"other": Word("c64")})
        self.assertEqual((top.op, top.results, top.args), ("aten.max.dim", ["v", "i"], [Ref("w"), 1]))
        self.assertEqual((halves.name, halves.results), ("halves", [["l", "r"]]))
        self.assertEqual(product.results, ["n"])
        self.assertEqual((check.name, check.args[1], check.results), ("check", "two\nlines", []))
        self.assertEqual(
            cond.args,
            [Ref("n"), GraphRef("yes"), GraphRef("yes"), [Ref("l"), [1, -2.5, -float("inf")]]],
        )
        self.assertEqual(
            cond.kwargs,
            {"dtype": Word("bf16"), "layout": Made("layout", "strided"),
             "device": Made("device", "cuda:0")},
        )
        self.assertEqual(graph.mutations, [("buffer", "state", Ref("l"))])
        self.assertEqual(graph.outputs, [Ref("c"), None])

    def test_ends_the_type_of_a_number_with_its_line(self):
        graph = graph_text.parse(
            'program "p" {\n  input %x : symfloat\n'
            "  (%a : f32[2], %b : f32[2]) = aten.split.Tensor(%y, 2)\n}\n"
        )
        self.assertEqual(graph.types["x"].kind, "symfloat")
        self.assertEqual(graph.nodes[0].results, [["a", "b"]])

    def test_says_where_text_is_wrong(self):
        for text, words in (
            ('program "p" {\n  input %x f32[2]\n}\n', "line 2: expected ':', found 'f32'"),
            ('program "p" {\n  %y = aten.neg.default(\n', "line"),
            ('program "p" {\n  input %x : f33[2]\n}\n', "no dtype is called 'f33'"),
            ('program "p" {\n  input %x : f32[2] = [1.0, 2.0]\n}\n', "tensors come beside"),
            ('program "p" {\n}\nmore', "expected the end"),
            ("graph", "expected 'program'"),
        ):
            with self.assertRaises(graph_text.TextError) as caught:
                graph_text.parse(text)
            self.assertIn(words, str(caught.exception))

    def test_reads_every_golden_model(self):
        models = sorted(glob.glob(os.path.join(GOLDEN, "models", "*.pt2")))
        self.assertTrue(models)
        for model in models:
            text = subprocess.run(
                [GRAPHGATE, "convert", model, "-"], check=True, capture_output=True, text=True
            ).stdout
            lines = [line.split() for line in text.splitlines()]
            nodes = [words for words in lines if words[0] not in _OTHER_LINES]
            self.assertEqual(_nodes_in(graph_text.parse(text)), len(nodes), model)


_OTHER_LINES = {
    "program", "annotation", "symbol", "parameter", "buffer", "constant", "input", "graph",
    "mutation", "output", "}",
}


def _nodes_in(graph):
    return len(graph.nodes) + sum(_nodes_in(inner) for inner in graph.graphs.values())


if __name__ == "__main__":
    GRAPHGATE, GOLDEN = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
