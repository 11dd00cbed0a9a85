"""vLLM's compiler as an executor for graphgate (docs/vllm_adapter.md)."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _find_others():
    """Has graphgate_torch, whose reading of Inductor this adapter uses, found beside this folder."""
    own = os.path.dirname(_FOLDER)
    other = os.path.join(os.path.dirname(own), "torch")
    if os.path.isdir(other) and other not in sys.path:
        named = [os.path.abspath(each) for each in sys.path]
        sys.path.insert(named.index(own) + 1 if own in named else len(named), other)


_find_others()

import graphgate_torch  # noqa: E402, F401 (finds graphgate_adapter)
import graphgate_adapter  # noqa: E402

graphgate_adapter.register("graphgate_vllm", "vLLM", _FOLDER)
