"""graphgate from Python: what it says of a model (docs/python.md).

    result = graphgate.check(model, (x,))
    graphgate.assert_conforms(model, (x,))          # in a test
    graphgate.export(model, (x,), path="model.pt2")

PyTorch is imported by the first call that needs it.
"""

from graphgate._check import Error, NotExported, Outcome, Result, assert_conforms, check, export

__all__ = ["Error", "NotExported", "Outcome", "Result", "assert_conforms", "check", "export"]
