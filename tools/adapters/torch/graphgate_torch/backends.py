"""What runs a module: PyTorch node by node, or torch.compile with options of Inductor.

Options have the names that graphgate's own planner gives them, so that a case's configuration means
the same here where PyTorch has the choice at all (docs/executors.md).

Inductor is imported where it is used. It takes as long as PyTorch itself, and eager mode does without.
"""

import contextlib
import difflib
import importlib
import json
import os

import torch

from graphgate_adapter import fork_server, variables
from graphgate_adapter.backend import Backend
from graphgate_adapter.module import Unsupported

_SWITCH = {"": True, "true": True, "false": False}


def _patches(options, settings):
    """Inductor's configuration for the options of a case over those of the command line."""
    from torch._inductor import config as inductor

    patches = dict(settings)
    if _SWITCH[options.get("no-reuse", "false")]:
        patches["allow_buffer_reuse"] = False
    if _SWITCH[options.get("no-in-place", "false")]:
        patches["inplace_buffers"] = False
    if _SWITCH[options.get("no-capture", "false")]:
        patches["triton.cudagraphs"] = False
    if "partition" in options:
        patches["graph_partition"] = options["partition"] == "scheduler"
    split = [name for name in options.get("split-op", "").split(",") if name]
    if split:
        patches["custom_should_partition_ops"] = [name.replace(".", "::", 1) for name in split]
    known = inductor.get_config_copy()
    for name in patches:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise Unsupported(f"Inductor of PyTorch {torch.__version__} has no {name}{meant}")
    return patches


class _NoRecorder(contextlib.nullcontext):
    """For a version of Inductor that the recorder of plans does not fit at all."""

    def __init__(self, why):
        super().__init__(self)
        self.graphs = []
        self.reasons = [why]


def _name(backend):
    return f"torch-{torch.__version__} {type(backend).__name__.lower()}"


class Eager(Backend):
    """Node by node."""

    compiles = False
    takes_aliases = True

    def __init__(self, settings, joins_kernels=True):
        if settings:
            raise Unsupported("eager mode has no options of Inductor")

    def name(self):
        return _name(self)

    def arithmetic(self, device):
        return "strict" if device == "cpu" else "tensor-core"

    def compile(self, module, options):
        return module


# What Inductor imports when it compiles for a GPU for the first time.
_IMPORTED = ("compile_fx", "lowering", "codegen.cuda_combined_scheduling", "codegen.wrapper")


def _asking_nvml_for_gpus():
    """While it is entered, whoever asks whether there is a GPU does not begin with CUDA."""
    return variables.set_for_a_while("PYTORCH_NVML_BASED_CUDA_CHECK", "1")


# Compilers take less for a kernel whose headers are precompiled: 0.2 s. To precompile takes 7 s.
_LONG_SECONDS = 2.0


def _compilers_seconds():
    """What children that have ended have used of a processor."""
    times = os.times()
    return times.children_user + times.children_system


class _Warming(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, 0) + x.sum()


class Compile(Backend):
    """torch.compile with Inductor.

    `settings`: options of Inductor by name. `joins_kernels`: whether the C++ kernels of a graph are
    compiled as one translation unit.
    """

    # Not its memory planning (--set memory_planning=true): outputs come from pools then, and begin
    # elsewhere in their storages than eager mode's.
    options = ("no-reuse", "no-in-place", "no-capture", "partition", "split-op")

    takes_aliases = False  # "custom (non-ATen) operator whose output has alias annotations"

    def name(self):
        return _name(self)

    def arithmetic(self, device):
        # Triton's quotients, roots and exponentials are the GPU's approximations.
        if device != "cpu":
            return "approximate"
        # Float32 is kept inside fused kernels, unless they are told to round as eager mode does.
        return "strict" if self._settings.get("emulate_precision_casts") else "fast"

    def __init__(self, settings, joins_kernels=True):
        from graphgate_torch import toolchain

        self._joins_kernels = joins_kernels
        self._settings = {"fx_graph_cache": False} | settings
        # What graphs here are full of, and Dynamo would break them at.
        torch._dynamo.config.capture_scalar_outputs = True
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        # A case calls with more sizes than a model sees, and all of them are to be compiled.
        torch._dynamo.config.recompile_limit = 64
        toolchain.use_kept(picks_vector_unit="cpp.simdlen" in self._settings)

    def compile(self, module, options):
        patches = _patches(options, self._settings)
        try:
            return torch.compile(module, options=patches)
        except (AttributeError, RuntimeError) as error:
            # An option that there is not, or a value of another type.
            raise Unsupported(f"Inductor of PyTorch {torch.__version__}: {error}") from error

    def warm_up(self, device):
        """Imports what compiling needs, and compiles once where that is the host's work alone: a GPU
        must not be begun with before a fork. What goes wrong is told where a program needs it.

        A graph for a GPU has kernels for the CPU as well: of counters and of numbers. Its other kernels
        are compiled in the process that needs them, as many processes do at the same time: the pool of
        Inductor would be one interpreter more for each of them.

        A kernel with vectors is compiled, and one without: each has headers that are precompiled. Where
        that is still to do, the second comes beside the first case."""
        from torch._inductor import config as inductor

        from graphgate_torch import toolchain

        if torch.device(device).type != "cpu":
            if "TORCHINDUCTOR_COMPILE_THREADS" not in os.environ:
                inductor.compile_threads = 1
            with _asking_nvml_for_gpus():
                toolchain.find_vector_units()
                for name in _IMPORTED:
                    with contextlib.suppress(ImportError):
                        importlib.import_module(f"torch._inductor.{name}")
            return
        toolchain.find_vector_units()
        before = _compilers_seconds()
        self._compile_once()
        if _compilers_seconds() - before < _LONG_SECONDS:
            self._compile_once({"cpp.simdlen": 1})
        else:
            fork_server.run_beside(lambda: self._compile_once({"cpp.simdlen": 1}))

    def _compile_once(self, patch=None):
        from torch._inductor import config as inductor

        # A process that compiles in threads could not be forked any more.
        with contextlib.suppress(Exception), inductor.patch(compile_threads=1, **(patch or {})):
            compiled = self.compile(_Warming(), {})
            with torch.no_grad(), self.watch():
                compiled(torch.ones(4))
        torch._dynamo.reset()

    def can_share(self, device, options):
        """Whether two programs may share what is compiled: not what CUDA graphs were recorded for."""
        return device == "cpu" or not _patches(options, self._settings).get("triton.cudagraphs")

    @contextlib.contextmanager
    def watch(self):
        """Notes the plans of what is compiled while it is entered."""
        from graphgate_torch import batching

        try:
            from graphgate_torch import inductor_plan

            recorder = inductor_plan.Recorder()
        except (ImportError, AttributeError) as error:
            recorder = _NoRecorder(f"the recorder of plans: {error}")
        units = batching.one_unit_a_graph() if self._joins_kernels else contextlib.nullcontext()
        with units, recorder:
            yield recorder


class Passes(Compile):
    """Inductor's decompositions and passes over the graph. What they leave is run node by node.

    No kernel is made, so a case takes a part of the time, and what differs is no kernel's fault.
    """

    options = ()

    def compile(self, module, options):
        # It imports Inductor's lowerings, seconds that eager mode does without.
        from torch._inductor import compile_fx

        from graphgate_torch import graph_passes

        patches = _patches(options, self._settings)

        def end(graph, inputs):
            return compile_fx.compile_fx(
                graph, inputs, inner_compile=graph_passes.end_before_lowering, config_patches=patches)

        return torch.compile(module, backend=end)

    def warm_up(self, device):
        """Imports what every process needs. Inductor begins with CUDA when it is imported: on a GPU
        the processes import it themselves."""
        if torch.device(device).type == "cpu":
            with contextlib.suppress(Exception), torch.no_grad():
                self.compile(_Warming(), {})(torch.ones(4))
            torch._dynamo.reset()

    def can_share(self, device, options):
        return True

    def watch(self):
        return Backend.watch(self)


def setting(text):
    """NAME=VALUE of the command line, the value as JSON."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


BACKENDS = {"eager": Eager, "compile": Compile, "passes": Passes}
