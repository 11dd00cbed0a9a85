"""vLLM's compiler as what runs a module: its splitting, passes, stitching and compilers of pieces."""

import contextlib
import copy
import dataclasses
import importlib

import torch
from torch._dynamo.exc import InternalTorchDynamoError, TorchDynamoException

from graphgate_adapter import threads
from graphgate_adapter.backend import Backend, Plans
from graphgate_adapter.module import Unsupported
from graphgate_torch import backends
from graphgate_vllm import compiled_ops, graph_ops, sizes

with threads.without_openblas():
    # Registers an op that the shared package would register, too, and fails where somebody else has.
    with contextlib.suppress(ImportError):
        importlib.import_module("transformers.integrations.moe")

    import vllm
    from vllm.compilation.backends import VllmBackend
    from vllm.config import (
        CompilationConfig,
        CompilationMode,
        CUDAGraphMode,
        VllmConfig,
        set_current_vllm_config,
    )

    from graphgate_vllm import capturing, graphs, passes, wrapping

threads.without_bars()

_SWITCH = {"": True, "true": True, "false": False}


@dataclasses.dataclass
class Settings:
    """What the command line says; a case's options go before it."""

    device: str = "cpu"
    mode: str = "vllm-compile"  # or "stock"
    partition: str = "fx"  # or "scheduler"
    compiler: str = "inductor"  # or "eager", or "passes"
    cudagraph_mode: str = "none"  # of vLLM's CUDAGraphMode
    split: list | None = None  # splitting ops; None: vLLM's default
    passes: dict = dataclasses.field(default_factory=dict)  # fields of PassConfig
    inductor: dict = dataclasses.field(default_factory=dict)
    shows_plans: bool = True
    wrapper: str = "none"  # or "support_torch_compile"
    compile_sizes: list = dataclasses.field(default_factory=list)  # sizes with a graph of their own
    compile_ranges: list = dataclasses.field(default_factory=list)  # pairs, END excluded
    compile_cache: str = "none"  # of wrapping.CACHES
    artifacts: str = "mega"  # of wrapping.ARTIFACTS
    spelling: str = "aten"  # of spelling.SPELLINGS


def _has_switch(config, name):
    return isinstance(getattr(config, name), (bool, type(None)))


def dynamic_dims(graph, apart):
    """The dimensions with symbols, by the names of a module's arguments, as vLLM's models declare them.

    `apart`: what is compiled by size, as a CompilationConfig has it. Such a program has one size that
    varies: vLLM takes every symbol for it.
    """
    found, symbols = {}, set()
    placeholders = [each for each in graph.inputs if each.value]
    for place, each in enumerate(placeholders):
        if each.kind != "user":
            continue
        dims = [d for d, text in enumerate(each.type.sizes) if not text.isdigit()]
        symbols |= {each.type.sizes[d] for d in dims}
        if each.type.kind == "tensor":
            found[f"in_{place}"] = dims
    if not found:
        raise Unsupported("vLLM's decorator wants an argument that is a tensor")
    if any(apart.values()) and len(symbols) != 1:
        raise Unsupported(f"vLLM compiles by one size, and {len(symbols)} vary here")
    if symbols:
        return {name: dims for name, dims in found.items() if dims}
    return dict([next(iter(found.items()))])


class Warming(torch.nn.Module):
    """A small module with something to cut at."""

    def forward(self, x):
        return torch.ops.aten.relu.default(x + 1.0) * 2.0


class Vllm(Backend):
    """A module under vLLM's VllmBackend, which torch.compile calls with what Dynamo captured."""

    def __init__(self, settings):
        self._settings = settings
        self.spelling = settings.spelling
        self._has_failed = False  # the compiler of the last call, and not Dynamo before it
        self._compiler = "eager" if settings.compiler == "eager" else "inductor"  # vLLM's word
        self._has_kernels = settings.compiler == "inductor"
        if settings.mode == "vllm-compile":
            self.options = ("split-op", "partition") if self._has_kernels else ("split-op",)
        else:
            self.options = ()
        if self._has_kernels:
            self.options += ("no-reuse", "no-in-place")
        elif settings.partition == "scheduler":
            raise Unsupported("Inductor's scheduler cuts nothing where pieces run node by node")
        if settings.compiler == "passes":
            if settings.mode == "stock":
                raise Unsupported("passes alone are of vLLM's backend")
            passes.use()
        self._is_wrapped = settings.wrapper != "none"
        if self._is_wrapped:
            self.options += ("compile-sizes", "compile-range")
            self.options += ("cache",) if self._has_kernels else ()
        self._graphs = CUDAGraphMode[settings.cudagraph_mode.upper()]
        compiled_ops.register()
        graph_ops.register()
        self.is_on_gpu = torch.device(settings.device).type != "cpu"
        if self._graphs:
            graphs.know_weak_references() if self.is_on_gpu else graphs.emulate()
        # What graphs here are full of, and Dynamo would break them at.
        torch._dynamo.config.capture_scalar_outputs = True
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        # A case calls with more sizes than a model sees, and all of them are to be compiled.
        torch._dynamo.config.recompile_limit = 64

    def name(self):
        settings = self._settings
        words = [f"vllm-{vllm.__version__}", f"torch-{torch.__version__}", settings.mode]
        if settings.mode == "vllm-compile":
            words += [settings.partition, f"cudagraphs-{settings.cudagraph_mode}"]
        if self._is_wrapped:
            words += [settings.wrapper, f"cache-{settings.compile_cache}", settings.artifacts]
        if settings.spelling != "aten":
            words.append(f"spelling-{settings.spelling}")
        return " ".join([*words, settings.compiler])

    def arithmetic(self, device):
        if device != "cpu":
            return "approximate"
        is_exact = self._settings.compiler == "eager"
        # Float32 is kept inside fused kernels, unless they are told to round as eager mode does.
        is_exact = is_exact or self._settings.inductor.get("emulate_precision_casts")
        return "strict" if is_exact else "fast"

    def refuses(self, error):
        """Whether Dynamo says so, before vLLM has seen the graph."""
        if self._has_failed or isinstance(error, InternalTorchDynamoError):
            return False
        return isinstance(error, TorchDynamoException)

    def can_share(self, device, options):
        # Graphs know the addresses of states. What is wrapped is loaded from a cache, which is to be seen.
        return not self._graphs and not self._is_wrapped

    def warm_up(self, device):
        """Does once what every process would do at its first call; on a GPU nothing, which must not
        be begun with before a fork. What goes wrong is told where a program needs it."""
        if torch.device(device).type != "cpu":
            return
        if self._has_kernels:
            backends.Compile({}).warm_up(device)
        # What Dynamo and vLLM import when they compile for the first time. Inductor's pieces would be
        # compiled in a thread.
        with contextlib.suppress(Exception):
            eager = Vllm(Settings(compiler="eager"))
            eager.compile(Warming(), {"split-op": "aten.relu"})(torch.ones(4))
        torch._dynamo.reset()

    def _cache(self, options):
        """A case that names a folder for plans has two processes in mind, or a restart in one."""
        if options.get("cache"):
            return "cold"
        return self._settings.compile_cache

    def _inductor(self, options):
        patches = {} if self._cache(options) != "none" else {"fx_graph_cache": False}
        patches |= self._settings.inductor
        if _SWITCH[options.get("no-reuse", "false")]:
            patches["allow_buffer_reuse"] = False
        if _SWITCH[options.get("no-in-place", "false")]:
            patches["inplace_buffers"] = False
        return patches

    def _config(self, options):
        """A VllmConfig as vLLM makes it for a GPU: the platform of a CPU lowers what it is told."""
        settings = self._settings
        named = [n for n in options.get("split-op", "").split(",") if n]
        split = [each for n in named for each in graph_ops.split_names(n)]
        split = split or settings.split
        scheduler = settings.partition == "scheduler"
        if "partition" in options:
            scheduler = options["partition"] == "scheduler" and self._has_kernels
        asked = CompilationConfig(
            mode=CompilationMode.VLLM_COMPILE, backend=self._compiler,
            splitting_ops=split, use_inductor_graph_partition=scheduler,
            cudagraph_mode=self._graphs, cudagraph_copy_inputs=False,
            inductor_compile_config=self._inductor(options), **self._sizes(options),
        )
        inductor = copy.deepcopy(asked.inductor_compile_config)
        config = VllmConfig(compilation_config=asked)
        made = config.compilation_config
        made.mode = CompilationMode.VLLM_COMPILE
        made.backend = self._compiler
        made.cudagraph_mode = self._graphs
        made.inductor_compile_config = inductor
        made.splitting_ops = split
        made.set_splitting_ops_for_v1(all2all_backend="")
        made.compile_sizes = self._sizes(options)["compile_sizes"]
        self._choose_passes(made.pass_config)
        return config

    def _sizes(self, options):
        """What is compiled for sizes of its own. A range BEGIN:END of ours is without END; vLLM's ends
        are with it, and each begins behind the one before."""
        apart, ranges = self._settings.compile_sizes, self._settings.compile_ranges
        if "compile-sizes" in options:
            apart = sizes.numbers(options["compile-sizes"])
        if "compile-range" in options:
            ranges = sizes.ranges(options["compile-range"])
        ends = {end - 1 for each in ranges for end in each}
        return {
            "compile_sizes": apart,
            "compile_ranges_endpoints": sorted(end for end in ends if end > 0) or None,
        }

    def _choose_passes(self, passes):
        known = [f.name for f in dataclasses.fields(passes) if _has_switch(passes, f.name)]
        for name in self._settings.passes:
            if name not in known:
                raise Unsupported(f"vLLM {vllm.__version__} has no pass {name}")
        if not torch.cuda.is_available():
            for name in known:  # their classes are for GPUs
                if name.startswith(("fuse_", "enable_")):
                    object.__setattr__(passes, name, False)
        for name, value in self._settings.passes.items():
            object.__setattr__(passes, name, value)

    def _wrap(self, module, options):
        dynamic = dynamic_dims(module.meta["graph"], self._sizes(options))

        def look(graph):
            self._check_captures(graph, self._config(options))

        known = [module.meta["graph"].text, module.meta.get("ops", ""), sorted(options.items()), repr(self._settings)]
        return wrapping.Wrapped(
            self, module, dynamic, lambda: self._config(options), known, self._cache(options),
            self._settings.artifacts, options.get("cache", ""), look)

    def compile(self, module, options):
        if self._settings.mode == "stock":
            compiled = self._compile_stock(module, options)
        elif self._is_wrapped:
            compiled = self._wrap(module, options)
        else:
            # Its method, as vLLM's wrapper has it. Calling an fx module would look an error's frames
            # through while Dynamo traces whatever is called, and hide the error by its own refusal.
            compiled = torch.compile(
                module.forward, backend=lambda graph, inputs: self._make(graph, inputs, options),
                fullgraph=True,
            )

        if self._graphs:
            return capturing.Captured(self, compiled, module, self._config(options), self._graphs)

        def run(*inputs):
            self.begin_call()
            with graph_ops.forward_context(CUDAGraphMode.NONE):
                return compiled(*inputs)

        return run

    def begin_call(self):
        """Forgets what failed in calls before."""
        self._has_failed = False

    def note_taken(self):
        """What fails from now on in this call is vLLM's."""
        self._has_failed = True

    def _compile_stock(self, module, options):
        """As vllm.compilation.wrapper.compile_model_with_stock_torch does it."""
        from vllm.env_override import _apply_constrain_to_fx_strides_patch

        _apply_constrain_to_fx_strides_patch()
        if self._settings.compiler == "eager":
            return torch.compile(module.forward, backend="eager", fullgraph=True)
        return torch.compile(module.forward, fullgraph=True, options=self._inductor(options))

    def _check_captures(self, graph, config):
        """Raises Unsupported where vLLM's captures, if there are to be any, are not for the graph."""
        if self._graphs:
            splitting_ops = config.compilation_config.splitting_ops
            capturing.check(graph, splitting_ops, self._graphs, self.is_on_gpu)

    def _make(self, graph, inputs, options):
        """What vLLM makes of one graph: a VllmBackend compiles one."""
        try:
            config = self._config(options)
            self._check_captures(graph, config)
            with set_current_vllm_config(config):
                return VllmBackend(config)(graph, inputs)
        except Exception:
            self._has_failed = True
            raise

    def placed(self, run):
        return run.placed if isinstance(run, capturing.Captured) else None

    def around_eager(self):
        """What is entered around a module that runs node by node: its attention asks for layers."""
        return graph_ops.forward_context(CUDAGraphMode.NONE)

    @contextlib.contextmanager
    def watch(self):
        """Notes the plans of Inductor for the pieces that are compiled while it is entered."""
        if not self._has_kernels or not self._settings.shows_plans:
            yield Plans()
            return
        with backends.Compile(self._settings.inductor).watch() as recorder:
            yield recorder


