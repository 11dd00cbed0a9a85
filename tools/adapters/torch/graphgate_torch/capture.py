"""The backend of torch.compile that stores each graph, with calls of it, while a program runs.

What the program computes is Dynamo's graph, run op for op. Beside it, on copies of the same inputs,
runs what AOTAutograd makes of that graph: one graph of ATen ops for inference, or one forward and one
backward. Those are what is stored. The program's own tensors and random numbers never meet them.
"""

import contextlib
import functools
import glob
import os
import sys
import threading

import torch
from torch._functorch.aot_autograd import aot_module_simplified, make_boxed_func
from torch.export import graph_signature as signatures
from torch.utils import _pytree as pytree

from graphgate_adapter import errors
from graphgate_torch.recording import Recording, bytes_of_storage, kind_of


def _say(text):
    print(f"graphgate_torch: {text}", file=sys.stderr)


class _Folder:
    """Where the graphs of this process go. Two backends of one folder count on together."""

    _known = {}
    _lock = threading.Lock()

    def __init__(self, path):
        self.path = path
        self.unusable = None  # why nothing is stored
        self._graphs = 0
        try:
            os.makedirs(path, exist_ok=True)
            if glob.glob(os.path.join(glob.escape(path), "graph*_*.pt2")):
                self.unusable = "holds graphs of another run; nothing is recorded"
        except OSError as error:
            self.unusable = f"cannot be made: {error.strerror}; nothing is recorded"
        if self.unusable:
            _say(f"{path}: {self.unusable}")

    @classmethod
    def at(cls, path):
        path = os.path.abspath(path)
        with cls._lock:
            if path not in cls._known:
                cls._known[path] = cls(path)
            return cls._known[path]

    def this_graph(self):
        return os.path.join(self.path, f"graph{self._graphs}")

    def count_graph(self):
        self._graphs += 1


def _argument_spec(node):
    """What torch.export calls the value of a node, or a constant."""
    if not isinstance(node, torch.fx.Node):
        return signatures.ConstantArgument(name="", value=node)
    value = node.meta.get("val")
    for kind, spec in (
        (torch.Tensor, signatures.TensorArgument), (torch.SymInt, signatures.SymIntArgument),
        (torch.SymFloat, signatures.SymFloatArgument), (torch.SymBool, signatures.SymBoolArgument),
    ):
        if isinstance(value, kind):
            return spec(name=node.name)
    if isinstance(value, int):  # what was a symbol, and is one number in this graph
        return signatures.SymIntArgument(name=node.name)
    raise TypeError(f"'{node.name}' is a {type(value).__name__}")


def _lift_attributes(module):
    """Makes the module's graph take what it reads with get_attr, behind its inputs.

    The names of the new inputs' attributes, and their placeholders. Graphs within it stay attributes.
    """
    graph = module.graph
    inputs = graph.find_nodes(op="placeholder")
    behind = inputs[-1] if inputs else None
    lifted = {}
    for node in graph.find_nodes(op="get_attr"):
        if not isinstance(_attribute(module, node.target), torch.Tensor):
            continue
        if node.target not in lifted:
            place = graph.inserting_after(behind) if behind else graph.inserting_before()
            with place:
                behind = lifted[node.target] = graph.placeholder(f"attribute_{node.name}")
            behind.meta = dict(node.meta)
        node.replace_all_uses_with(lifted[node.target])
        graph.erase_node(node)
    return lifted


def _attribute(module, target):
    return functools.reduce(getattr, target.split("."), module)


def _copied(module):
    """The module with a graph of its own, and all that it holds."""
    graph = torch.fx.Graph()
    output = graph.graph_copy(module.graph, {})
    graph.output(output)
    return torch.fx.GraphModule(module, graph)


def _bare(module):
    """The module with nothing but what its graph reads with get_attr."""
    graph = module.graph
    read = {node.target: _attribute(module, node.target) for node in graph.find_nodes(op="get_attr")}
    return torch.fx.GraphModule(read, graph)


def _ranges(graph):
    """The range of each symbol that the graph's values name."""
    ranges = {}
    for node in graph.nodes:
        for value in pytree.tree_leaves(node.meta.get("val")):
            sizes = [value]
            if isinstance(value, torch.Tensor):
                sizes = [*value.shape, *value.stride(), value.storage_offset()]
            for size in sizes:
                if not isinstance(size, torch.SymInt):
                    continue
                known = size.node.shape_env.var_to_range
                ranges |= {each: known[each] for each in size.node.expr.free_symbols if each in known}
    return ranges


def exported(module):
    """The archive's program of a graph of ATen ops whose inputs are all arguments.

    The graph's nodes have their values in meta["val"]. The module is copied.
    """
    module = _copied(module)
    graph = module.graph
    lifted = _lift_attributes(module)
    constants = {target: _attribute(module, target).detach() for target in lifted}
    # torch.export's programs take constants first.
    inputs = [node for node in graph.find_nodes(op="placeholder") if node not in lifted.values()]
    for node in reversed(lifted.values()):
        next(iter(graph.nodes)).prepend(node)
    last = next(iter(reversed(graph.nodes)))
    # torch.export.save takes no program without an output. This one changes its inputs alone.
    outputs = pytree.tree_leaves(last.args) or [None]
    last.args = (tuple(outputs),)
    for module_of in (each for each in module.modules() if isinstance(each, torch.fx.GraphModule)):
        for node in module_of.graph.nodes:
            for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "fwd_nn_module_stack"):
                node.meta.pop(key, None)
    signature = signatures.ExportGraphSignature(
        input_specs=[
            signatures.InputSpec(
                kind=signatures.InputKind.CONSTANT_TENSOR, arg=_argument_spec(node), target=target
            )
            for target, node in lifted.items()
        ] + [
            signatures.InputSpec(
                kind=signatures.InputKind.USER_INPUT, arg=_argument_spec(node), target=None
            )
            for node in inputs
        ],
        output_specs=[
            signatures.OutputSpec(
                kind=signatures.OutputKind.USER_OUTPUT, arg=_argument_spec(node), target=None
            )
            for node in outputs
        ],
    )
    call = torch.export.ModuleCallSignature(
        inputs=[], outputs=[],
        in_spec=pytree.tree_structure((tuple(range(len(inputs))), {})),
        out_spec=pytree.tree_structure(tuple(range(len(outputs)))),
    )
    return torch.export.ExportedProgram(
        root=module, graph=graph, graph_signature=signature, state_dict={},
        range_constraints=_ranges(graph),
        module_call_graph=[torch.export.ModuleCallEntry(fqn="", signature=call)],
        constants=constants, verifiers=[_verifier()],
    )


def _verifier():
    from torch._export.verifier import TrainingIRVerifier

    return TrainingIRVerifier


class _Stored:
    """A graph of ATen ops: runs op for op, and notes its first calls."""

    def __init__(self, base, module, limit):
        self._base, self._limit = base, limit
        self._module = module
        self._program = exported(module)
        self._recording = None

    def _check(self, inputs):
        """Raises where a kernel has made another dtype than the graph was traced with."""
        for node, given in zip(self._module.graph.find_nodes(op="placeholder"), inputs):
            traced = node.meta.get("val")
            if isinstance(traced, torch.Tensor) and traced.dtype != given.dtype:
                raise TypeError(f"'{node.name}' is {given.dtype}, and was traced as {traced.dtype}")

    def __call__(self, *inputs):
        run = functools.partial(self._module, *inputs)
        if self._recording is not None and len(self._recording) >= self._limit:
            return run()
        self._check(inputs)
        if self._recording is None:
            self._recording = Recording(kind_of([*inputs, *self._program.constants.values()]))
        result = self._recording.call(run, inputs)
        self._recording.write(self._base, self._program)
        return result


class _Copies:
    """Copies of tensors that share storages as the tensors do, and want gradients as they do."""

    def __init__(self, inputs):
        storages = {}
        self.inputs = [self._copy(each, storages) for each in inputs]

    @staticmethod
    def _copy(tensor, storages):
        if not isinstance(tensor, torch.Tensor):
            return tensor
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise TypeError(f"an input is a {type(tensor).__name__}")
        if tensor.layout != torch.strided:
            raise TypeError(f"an input is {tensor.layout}")
        owner = tensor.untyped_storage()._cdata
        with torch.no_grad():
            if owner not in storages:
                storages[owner] = bytes_of_storage(tensor).clone().untyped_storage()
            copy = torch.empty(0, dtype=tensor.dtype, device=tensor.device).set_(
                storages[owner], tensor.storage_offset(), tensor.size(), tensor.stride()
            )
            if tensor.is_conj():
                copy = copy.conj()
            if tensor.is_neg():
                copy = torch._neg_view(copy)
        return copy.requires_grad_(tensor.requires_grad)


class _Shadow:
    """What runs beside one graph of Dynamo, and stores what AOTAutograd makes of it."""

    def __init__(self, backend, base, module, inputs):
        self._base, self._limit = base, backend.calls
        self._module, self._lifted = module, []
        self._calls = 0
        self._failed = False
        with self._guarded(), _keeping():
            # Dynamo's graphs of optimizers have parameters and states as attributes.
            open_module = _copied(module)
            self._lifted = list(_lift_attributes(open_module))
            self._run = aot_module_simplified(
                _bare(open_module), [*inputs, *self._attributes()], fw_compiler=self._compiler("forward"),
                bw_compiler=self._compiler("backward"),
                inference_compiler=self._compiler("inference"), decompositions=backend.decompositions(),
                keep_inference_input_mutations=True,
            )

    @property
    def is_wanted(self):
        return not self._failed and self._calls < self._limit

    @contextlib.contextmanager
    def _guarded(self):
        """Tells of what goes wrong inside, once, and ends the recording of this graph."""
        try:
            yield
        except torch._dynamo.exc.RestartAnalysis:
            raise  # Dynamo traces again, and comes back
        except Exception as error:
            if not self._failed:
                _say(f"{self._base}: not recorded: {errors.words_of(error)}")
            self._failed = True

    def _compiler(self, kind):
        def compile_graph(module, inputs):
            return make_boxed_func(_Stored(f"{self._base}_{kind}", module, self._limit))

        return compile_graph

    def _attributes(self):
        return [_attribute(self._module, target) for target in self._lifted]

    def copies(self, inputs):
        with self._guarded():
            return _Copies([*inputs, *self._attributes()])

    def run(self, copies, outputs):
        """Runs it beside a call that has run. `outputs` are the program's own, and wait for gradients."""
        self._calls += 1
        with self._guarded(), _apart():
            results = self._run(*copies.inputs)
            pairs = [
                (own, result) for own, result in zip(outputs, results)
                if isinstance(own, torch.Tensor) and isinstance(result, torch.Tensor)
                and own.requires_grad and result.requires_grad and own.grad_fn is not None
            ]
            if not pairs:
                return
            leaves = [
                each for each in copies.inputs if isinstance(each, torch.Tensor) and each.requires_grad
            ]
            backward = _Backward(self._run_backward, [result for _, result in pairs], leaves)
            for j, (own, _) in enumerate(pairs):
                own.register_hook(functools.partial(backward.note, j))

    def _run_backward(self, results, leaves, gradients):
        if self._failed:
            return
        with self._guarded(), _apart():
            # The program may come again, where it keeps its own graph.
            torch.autograd.grad(results, leaves, gradients, retain_graph=True, allow_unused=True)


class _Backward:
    """Collects what a backward pass brings to the results of a graph, and runs the shadow's own behind it.

    register_multi_grad_hook is silent where a result is what backward() was called of.
    """

    def __init__(self, run, results, leaves):
        self._run, self._results, self._leaves = run, results, leaves
        self._gradients = {}

    def note(self, index, gradient):
        if not self._gradients:
            torch.autograd.Variable._execution_engine.queue_callback(self._finish)
        self._gradients[index] = gradient.detach()

    def _finish(self):
        given, self._gradients = self._gradients, {}
        copies = _Copies(list(given.values())).inputs
        self._run([self._results[j] for j in given], self._leaves, copies)


def _keeping():
    """Keeps what a backward pass reads, since it may come again: it may be compiled as late as then."""
    return torch._functorch.config.patch(donated_buffer=False)


@contextlib.contextmanager
def _apart():
    """Leaves random numbers, modes and hooks of the program as they are."""
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    with (
        _keeping(), torch.random.fork_rng(devices),
        torch.utils._python_dispatch._disable_current_modes(),
        torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: saved),
        torch.autocast("cpu", enabled=False), torch.enable_grad(),
    ):
        yield


class Backend:
    """torch.compile's backend: see graphgate_torch.record."""

    def __init__(self, folder, calls, decompose):
        self.calls = calls
        self._decompose = decompose
        self._folder = _Folder.at(os.fspath(folder))
        self._stance = None

    def decompositions(self):
        if not self._decompose:
            return {}
        table = torch.export.default_decompositions()
        return table.materialize() if hasattr(table, "materialize") else dict(table)

    def __call__(self, module, inputs):
        if self._folder.unusable:
            return module.forward
        shadow = _Shadow(self, self._folder.this_graph(), module, inputs)
        self._folder.count_graph()

        def run(*inputs):
            copies = shadow.copies(inputs) if shadow.is_wanted else None
            if copies is None:
                return module(*inputs)
            with _random_numbers() as rewind:
                outputs = module(*inputs)
                rewind()
                shadow.run(copies, outputs)
            return outputs

        return run

    def __enter__(self):
        self._stance = torch.compiler.set_stance("default", force_backend=self)
        self._stance.__enter__()
        return self

    def __exit__(self, *error):
        self._stance.__exit__(*error)


def _random_states():
    states = [(torch.set_rng_state, torch.get_rng_state())]
    if torch.cuda.is_initialized():
        for i in range(torch.cuda.device_count()):
            states.append((functools.partial(torch.cuda.set_rng_state, device=i), torch.cuda.get_rng_state(i)))
    return states


@contextlib.contextmanager
def _random_numbers():
    """Gives what sets random numbers back to where they are now; at the end they are where it found them."""
    before = _random_states()
    after = []

    def rewind():
        after.extend(_random_states())
        for put, state in before:
            put(state)

    try:
        yield rewind
    finally:
        for put, state in after:
            put(state)
