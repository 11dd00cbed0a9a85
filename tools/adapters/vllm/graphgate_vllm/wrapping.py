"""Programs as vLLM's models are compiled: its own decorator over a class in a file of its own.

`support_torch_compile` traces a model once, with the dimensions dynamic that the model declares, drops
every guard, and from then on calls what it compiled whatever comes. It keeps what it compiled under a
key of the files that Dynamo traced. So each program here is a file, whose name tells all that its
compiling may look at: no two programs share an entry.
"""

import contextlib
import hashlib
import importlib.util
import logging
import os
import shutil
import sys
import tempfile

import torch
from torch.fx.graph_module import _format_import_block
from torch.package import sys_importer
from torch.utils._sympy.value_ranges import ValueRanges

from vllm.compilation import wrapper as vllm_wrapper
from vllm.compilation.counter import compilation_counter
from vllm.config import set_current_vllm_config

from graphgate_adapter import variables
from graphgate_adapter.module import Unsupported
from graphgate_adapter.sharing import signature
from graphgate_vllm.memory import Bytes, Static

CACHES = ("none", "cold", "warm", "process")
# What vLLM compiles for its cache, as variables of its environment say it.
ARTIFACTS = {
    "mega": {"AOT_COMPILE": "1", "MEGA_AOT_ARTIFACT": "1", "STANDALONE_COMPILE": "1"},
    "aot": {"AOT_COMPILE": "1", "MEGA_AOT_ARTIFACT": "0", "STANDALONE_COMPILE": "1"},
    "pieces": {"AOT_COMPILE": "0", "MEGA_AOT_ARTIFACT": "0", "STANDALONE_COMPILE": "1"},
    "inductor": {"AOT_COMPILE": "0", "MEGA_AOT_ARTIFACT": "0", "STANDALONE_COMPILE": "0"},
}
_AOT = ("mega", "aot")

_HEAD = "# A program of graphgate's as a model of vLLM's: {name}\n"
_CLASS = """
{decorator}class {name}(torch.nn.Module):
    def __init__(self):
        super().__init__()
{members}
    {forward}
"""


def _class(name, graph, decorator=""):
    """The text of a class that runs an fx graph, behind those of the graphs that it holds; and globals."""
    code = graph.graph.python_code("self")
    texts, members, names = [], [], dict(code.globals)
    for attribute, inner in graph.named_children():
        text, more = _class(f"{name}_{attribute}", inner)
        texts.append(text)
        members.append(f"        self.{attribute} = {name}_{attribute}()")
        names |= more
    forward = code.src.strip("\n").replace("\n", "\n    ")
    texts.append(_CLASS.format(
        decorator=decorator, name=name, members="\n".join(members), forward=forward))
    return "".join(texts), names


def source(name, module, dynamic):
    """The text of a file that holds a program as vLLM's models are written.

    `dynamic`: the dimensions that vary, by the name of the argument. A program without any says an
    empty list of its first argument, since vLLM wants one to be named.
    """
    decorator = f"@support_torch_compile(dynamic_arg_dims={dynamic!r})\n"
    text, names = _class(name, module, decorator)
    imports = _format_import_block(names, sys_importer)
    return "".join([
        _HEAD.format(name=name), "import torch\n",
        "from vllm.compilation.decorators import support_torch_compile\n", imports, text,
    ])


class _Held(Exception):
    """Guards hold: what they guard is not run."""


class Guards:
    """What Dynamo guards that vLLM drops: a call for which they do not hold is none that it is made for.

    They are of a trace of our own. As in vLLM's `evaluate_guards`, sizes 0 and 1 are no reason to
    trace again.
    """

    def __init__(self, module, mark, first, look):
        self._module = module
        self._mark = mark
        self._look = look
        self._first = first  # inputs as the first call had them, to trace again where Dynamo forgot
        self._compiled = None

    def _backend(self, graph, inputs):
        self._look(graph)
        fake_mode = torch._guards.detect_fake_mode()
        for symbol, known in fake_mode.shape_env.var_to_range.items():
            if known.lower == 2:
                fake_mode.shape_env.var_to_range[symbol] = ValueRanges(0, known.upper)

        def run(*arguments):
            raise _Held

        return run

    def _trace(self):
        self._compiled = torch.compile(
            self._module.forward, backend=self._backend, fullgraph=True, dynamic=False)
        self._mark(self._first)
        with contextlib.suppress(_Held):
            self._compiled(*self._first)

    def _is_forgotten(self):
        code = self._module.forward.__code__
        return not torch._dynamo.eval_frame._debug_get_cache_entry_list(code)

    def check(self, inputs):
        """Raises Unsupported where a guard does not hold for a call."""
        if self._compiled is None or self._is_forgotten():
            self._trace()
        try:
            with torch.compiler.set_stance("fail_on_recompile"):
                self._compiled(*inputs)
        except _Held:
            pass
        except RuntimeError as error:
            if "fail_on_recompile" not in str(error):
                raise
            reasons = str(error).partition("guard failure(s):")[2] or str(error)
            first = reasons.strip().splitlines()[0].strip(" -")
            raise Unsupported(f"vLLM drops a guard that does not hold: {first}") from error


class _Warnings(logging.Handler):
    """What vLLM says of a cache that it cannot write or read."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())

    @contextlib.contextmanager
    def heard(self):
        logger = logging.getLogger("vllm.compilation.decorators")
        before = logger.level, logger.propagate
        logger.addHandler(self)
        logger.setLevel(logging.WARNING)
        logger.propagate = False
        try:
            yield
        finally:
            logger.removeHandler(self)
            logger.level, logger.propagate = before


class Wrapped:
    """Runs a module as vLLM runs a model that it compiled, called for the first time by the first call.

    `config`: makes the VllmConfig. `known`: what else compiling may look at, for the name of the file.
    `folder`: where vLLM's cache stays; empty: none that is kept. `look`: is shown the graph.
    """

    def __init__(self, backend, module, dynamic, config, known, cache, artifacts, folder, look):
        self._backend = backend
        self._module = module
        self._dynamic = dynamic
        self._names = [node.target for node in module.graph.find_nodes(op="placeholder")]
        self._config = config
        self._known = known
        self._cache = cache
        self._artifacts = artifacts
        self._folder = folder
        self._look = look
        self._model = None
        self._guards = None
        self._places = None

    def __call__(self, *inputs):
        self._backend.begin_call()
        states = [*self._module.parameters(), *self._module.buffers()]
        places = _sharing(inputs, states)
        if self._model is None:
            held = Static(inputs, states)
            self._guards = Guards(self._module, self._mark, held.fill(inputs), self._look)
            self._places = places
        if places != self._places:
            raise Unsupported("other inputs share memory than in the call that vLLM traced")
        self._mark(inputs)
        self._guards.check(inputs)
        # What goes wrong from here on is vLLM's: Dynamo has taken the program.
        self._backend.note_taken()
        if self._model is None:
            return self._begin(inputs, states)
        self._adopt(self._model)
        with set_current_vllm_config(self._model.vllm_config):
            return self._model(*inputs)

    def _mark(self, inputs):
        for name, each in zip(self._names, inputs, strict=True):
            if self._dynamic.get(name):
                torch._dynamo.mark_dynamic(each, self._dynamic[name])

    def _name(self, inputs, states):
        """Differs wherever something differs that compiling may look at."""
        known = [self._known, self._dynamic, signature(inputs, states), self._artifacts]
        return f"Program_{hashlib.sha256(repr(known).encode()).hexdigest()[:24]}"

    def _make(self, name, folder):
        """A model of the class in the program's file; the file is written where it is missing."""
        path = os.path.join(folder, f"{name.lower()}.py")
        if not os.path.exists(path):
            with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
                file.write(source(name, self._module, self._dynamic))
            os.replace(file.name, path)
        specification = importlib.util.spec_from_file_location(f"graphgate_{name.lower()}", path)
        loaded = importlib.util.module_from_spec(specification)
        sys.modules[specification.name] = loaded  # where vLLM looks for what it has traced
        specification.loader.exec_module(loaded)
        with set_current_vllm_config(self._config()):
            made = getattr(loaded, name)()
        self._adopt(made)
        return made

    def _adopt(self, model):
        """Has the model the states of the module: they may be bound to other memory since."""
        model._parameters.update(self._module._parameters)
        model._buffers.update(self._module._buffers)

    def _begin(self, inputs, states):
        name = self._name(inputs, states)
        with contextlib.ExitStack() as stack:
            folder = self._folder or stack.enter_context(_folder())
            for variable, value in ARTIFACTS[self._artifacts].items():
                stack.enter_context(variables.set_for_a_while(f"VLLM_USE_{variable}", value))
            # vLLM has Inductor compile into the folder of a model, and leaves it so.
            stack.enter_context(variables.kept("TORCHINDUCTOR_CACHE_DIR", "TRITON_CACHE_DIR"))
            if self._cache == "none":
                self._model, outputs = self._first_call(self._make(name, folder), inputs)
                return outputs
            stack.enter_context(variables.set_for_a_while("VLLM_DISABLE_COMPILE_CACHE", "0"))
            stack.enter_context(variables.set_for_a_while("VLLM_CACHE_ROOT", folder))
            if self._cache == "cold":
                self._model, outputs = self._first_call(self._make(name, folder), inputs)
                return outputs
            said = _Warnings()
            before = Bytes(
                [each for each in (*inputs, *states) if isinstance(each, torch.Tensor)])
            if self._cache == "process":
                said.texts += _in_a_process(
                    lambda: self._first_call(self._make(name, folder), inputs), said, folder)
                model = self._make(name, folder)
            else:
                with said.heard():
                    model, _ = self._first_call(self._make(name, folder), inputs)
                before.restore()
                with set_current_vllm_config(model.vllm_config):
                    vllm_wrapper.reset_compile_wrapper(model)
            loaded = compilation_counter.num_compiled_artifacts_loaded
            compiled = compilation_counter.num_inductor_compiles
            with said.heard():
                model, outputs = self._first_call(model, inputs)
            self._expect_loaded(model, loaded, compiled, said.texts)
            self._model = model
            return outputs

    def _first_call(self, model, inputs):
        """Has vLLM compile, or load, and run; its hook on Dynamo is needed no longer."""
        try:
            with set_current_vllm_config(model.vllm_config):
                return model, model(*inputs)
        finally:
            model.cleanup()

    def _expect_loaded(self, model, loaded, compiled, said):
        """Raises Unsupported where vLLM has compiled again, which it does without a word to callers."""
        if self._artifacts in _AOT and not model.was_aot_compile_fn_loaded_from_disk:
            raise Unsupported(f"vLLM loads nothing that it has kept: {_last(said)}")
        has_compiled = compilation_counter.num_inductor_compiles > compiled
        if has_compiled and compilation_counter.num_compiled_artifacts_loaded == loaded:
            raise Unsupported(f"vLLM loads no piece that it has kept: {_last(said)}")


def _last(said):
    return said[-1] if said else "it says nothing of it"


def _sharing(inputs, states):
    """Which tensors of a call have one storage."""
    numbers = {}
    return [
        numbers.setdefault(each.untyped_storage()._cdata, len(numbers))
        for each in (*inputs, *states) if isinstance(each, torch.Tensor)
    ]


@contextlib.contextmanager
def _folder():
    """A folder for one program, gone when its first call is over: what runs is in memory by then."""
    root = os.environ["VLLM_CACHE_ROOT"]
    os.makedirs(root, exist_ok=True)
    made = tempfile.mkdtemp(prefix="program_", dir=root)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _in_a_process(call, said, folder):
    """Calls in a process that is forked from this one, and returns what vLLM says there.

    It is told by a file: compiling starts helpers, which would hold a pipe open.
    """
    path = os.path.join(folder, f"said_{os.getpid()}")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with said.heard(), contextlib.suppress(Exception):  # this process will see it, too
                call()
            with open(path, "w", encoding="utf-8") as file:
                file.write("\n".join(said.texts))
            status = 0
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return [f"the process that compiled ended by signal {-status}"]
    if status:
        return ["the process that compiled ended early"]
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()
