"""What an adapter says of its engine: a backend compiles modules, and tells what that promises."""

import contextlib
import dataclasses

import torch


@dataclasses.dataclass
class Plans:
    """What was compiled while it was watched."""

    graphs: list = dataclasses.field(default_factory=list)  # plans, with a method message()
    reasons: list = dataclasses.field(default_factory=list)  # why a graph's plan is not shown, a line each


class Backend:
    """An engine that runs modules. What is here is what holds where an engine says nothing else."""

    options = ()  # of a case, which it takes; by the names of graphgate's planner
    compiles = True  # False: it runs a module node by node, as eager mode
    takes_aliases = False  # takes custom ops that return an operand
    spelling = "aten"  # how modules are spelled for it: of spelling.SPELLINGS

    def name(self):
        """Returns the engine's name, its version and variant, as a campaign's ledger knows them."""
        raise NotImplementedError

    def arithmetic(self, device):
        """Returns the arithmetic that it promises there: strict, fast, tensor-core or approximate."""
        raise NotImplementedError

    def kernels(self, device):
        """Returns whose kernels decide what PyTorch leaves to them there: cpu, cuda, or own."""
        return "cpu" if device == "cpu" else "cuda"

    def torch_version(self, device):
        """Returns the version of PyTorch whose ops it computes there; None where that is open."""
        return None if self.kernels(device) == "own" else torch.__version__

    def takes(self):
        """Returns the names of the ops that it takes, in graph text; None for all that PyTorch has."""
        return None

    def compile(self, module, options):
        """Returns what runs the module: a callable that takes its inputs and returns its outputs."""
        raise NotImplementedError

    def placed(self, run):
        """Returns what the last call of `run` used in place of its inputs, or None: its inputs."""
        return None

    def watch(self):
        """Returns a context that gives the Plans of what is compiled while it is entered."""
        return contextlib.nullcontext(Plans())

    def around_eager(self):
        """Returns what is entered around a module that runs node by node."""
        return contextlib.nullcontext()

    def refuses(self, error):
        """Says whether the error, which eager mode does not have, tells that a program is not taken."""
        return False

    def can_share(self, device, options):
        """Says whether programs that load again may run what was compiled for another."""
        return False

    def warm_up(self, device):
        """Does once what every process would do at its first call. Starts no thread."""
