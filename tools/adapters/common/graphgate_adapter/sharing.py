"""Compiled programs that are loaded again: judges load one program several times, with other data.

A program that is loaded again with the same text, ops and options takes over what the first was
compiled to. That is right where a process that knew nothing of the first would compile just the same:
the first call has the same signature, and nothing was compiled after it. Everything else is compiled
anew.
"""

import dataclasses
import sys

import torch

_ALIGNMENT = 64  # bytes; code that is compiled may rely on where a tensor begins


def _counted_by_dynamo(module, name):
    """What Dynamo counts there; nothing where nobody has imported it: it takes long."""
    return getattr(sys.modules.get(f"torch._dynamo.{module}"), name, {})


_forgotten = [0]  # the frames that were compiled before Dynamo last forgot all, and how many they were


def compiled_frames():
    """How many frames Dynamo has tried to compile in this process; `fullgraph` or not, which its
    `counters` leave out."""
    return _forgotten[0] + sum(_counted_by_dynamo("convert_frame", "FRAME_COMPILE_COUNTER").values())


def compiling_seconds():
    """What Dynamo has counted of compiling whole frames in this process; 0 where it counts none."""
    counted = _counted_by_dynamo("utils", "cumulative_time_spent_ns")
    return counted.get("entire_frame_compile", 0) / 1e9


def _signature_of(value, storages):
    if not isinstance(value, torch.Tensor):
        return type(value).__name__, repr(value)
    storage = value.untyped_storage()
    place = storages.setdefault(storage._cdata, len(storages))
    return (
        type(value).__name__, str(value.dtype), str(value.device), tuple(value.shape),
        value.stride(), value.storage_offset(), storage.nbytes(), place,
        value.data_ptr() % _ALIGNMENT, value.requires_grad, value.is_conj(), value.is_neg(),
    )


def signature(inputs, states):
    """All that compiling may look at of a call: everything but the elements."""
    storages = {}
    return tuple(_signature_of(each, storages) for each in (*inputs, *states))


@dataclasses.dataclass
class Compiled:
    """A module and what runs it."""

    module: torch.nn.Module
    run: object
    first_call: tuple | None = None  # the signature of the call for which it was compiled
    plans: list = dataclasses.field(default_factory=list)  # of that call
    not_shown: list = dataclasses.field(default_factory=list)
    is_compiled_again: bool = False  # in a later call

    def note(self, frames, called, recorder):
        """Takes note of a call that went well, and of the frames that it compiled."""
        if self.first_call is None and frames:
            self.first_call = called
            self.plans, self.not_shown = list(recorder.graphs), list(recorder.reasons)
        elif self.first_call is None or frames:
            self.is_compiled_again = True

    def can_be_shared(self):
        return self.first_call is not None and not self.is_compiled_again


class Pool:
    """What closed programs were compiled to, by text, ops and options, until Dynamo forgets all."""

    def __init__(self):
        self._kept = {}
        self.generation = 0  # what was compiled in an earlier one is forgotten

    def forget(self):
        frames = compiled_frames()
        torch._dynamo.reset()
        _forgotten[0] = frames
        self._kept.clear()
        self.generation += 1

    def take(self, key):
        """What was compiled under the key, with its generation; None where there is nothing."""
        kept = self._kept.get(key)
        return (self.generation, kept.pop()) if kept else None

    def is_known(self, taken):
        """Whether Dynamo still knows what was taken."""
        return taken[0] == self.generation

    def give_back(self, key, taken):
        generation, compiled = taken
        if generation == self.generation and compiled.can_be_shared():
            self._kept.setdefault(key, []).append(compiled)
