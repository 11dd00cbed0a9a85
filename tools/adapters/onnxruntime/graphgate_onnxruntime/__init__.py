"""ONNX Runtime as an executor for graphgate (docs/onnxruntime_adapter.md)."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _find_shared():
    """Has graphgate_adapter found where only this package's folder is named (PYTHONPATH): it lies in
    the folder `common` beside that one."""
    own = os.path.dirname(_FOLDER)
    common = os.path.join(os.path.dirname(own), "common")
    if os.path.isdir(common) and common not in sys.path:
        named = [os.path.abspath(each) for each in sys.path]
        sys.path.insert(named.index(own) + 1 if own in named else len(named), common)


_find_shared()

import graphgate_adapter  # noqa: E402

graphgate_adapter.register("graphgate_onnxruntime", "ONNX Runtime", _FOLDER)
