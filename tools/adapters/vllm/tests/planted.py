"""Faults that are planted into vLLM's and Inductor's passes: planted.py NAME serve FLAGS...

Serves as `python -m graphgate_vllm` does, with one fault: a line of a function is another one. `none`
plants nothing, so that what is found besides is seen, too.
"""

import ast
import contextlib
import dataclasses
import importlib
import inspect
import os
import sys
import textwrap


@dataclasses.dataclass(frozen=True)
class Fault:
    """A line of a function, and what stands in its place."""

    module: str
    function: str
    line: str
    instead: str
    motif: str  # the one that is for this
    flags: str  # of serve, under which the function runs
    more_passes: tuple = ()  # that vLLM's pass manager has on a GPU


_SPLITS = ("vllm.compilation.passes.utility.split_coalescing", "SplitCoalescingPass")
FAULTS = {
    "noop-of-another-size": Fault(
        "vllm.compilation.passes.utility.noop_elimination", "NoOpEliminationPass.all_dims_equivalent",
        "return all(", "return any(", "slices-that-overlap", "--compiler passes"),
    "chain-of-any-op": Fault(
        "vllm.compilation.passes.utility.noop_elimination", "NoOpEliminationPass.__call__",
        "if is_func(input, torch.ops.aten.reshape.default):", "if input.args:",
        "put-into-base-of-view",
        "--compiler passes"),
    "slices-with-a-gap": Fault(
        _SPLITS[0], "SplitCoalescingPass._canonicalize_slices", "left.end != right.start", "False",
        "slices-with-a-gap", "--compiler passes", _SPLITS),
    "splits-of-other-sizes": Fault(
        _SPLITS[0], "SplitCoalescingPass._coalesce_splits",
        "if list(candidate.args[1]) == list(split_sizes)", "if True", "splits-at-other-places",
        "--compiler passes", _SPLITS),
    "rows-before-a-write": Fault(
        "vllm.compilation.backends", "split_graph", "node.target == operator.getitem",
        "node.target in (operator.getitem, torch.ops.aten.index.Tensor)", "rows-known-before-a-write",
        "--compiler eager --split aten::mul_.Tensor"),
    "deleted-at-the-first-use": Fault(
        "vllm.compilation.codegen", "generate_execution_code_with_name", "last_user = max(",
        "last_user = min(", "read-long-after", "--compiler eager --split aten::mm"),
    "part-of-a-list": Fault(
        "vllm.compilation.codegen", "generate_execution_code_with_name",
        "{source}[{index}]", "{source}[{index} - 1]", "parts-of-a-product-written",
        "--compiler eager --split aten::mm"),
    "any-two-permutations": Fault(
        "torch._inductor.fx_passes.joint_graph", "pointless_permute_pair",
        "if perm1[perm2[i]] != i:", "if False:", "permutations-that-do-not-cancel",
        "--compiler passes"),
    "one-without-its-size": Fault(
        "torch._inductor.fx_passes.joint_graph", "remove_no_ops",
        'fields=("shape", "dtype", "device")', 'fields=("dtype", "device")', "one-that-broadcasts",
        "--compiler passes"),
}


def _replace(fault):
    """Has the function the other line, also where it was registered as what it was: its code is
    exchanged. A line that is no longer there is an error."""
    found = importlib.import_module(fault.module)
    for name in fault.function.split("."):
        found = getattr(found, name)
    function = inspect.unwrap(found)
    source = textwrap.dedent(inspect.getsource(function))
    if source.count(fault.line) != 1:
        raise SystemExit(f"{fault.module}.{fault.function} has not one line with {fault.line!r}")
    tree = ast.parse(source.replace(fault.line, fault.instead))
    tree.body[0].decorator_list = []
    made = {}
    exec(compile(tree, f"<{fault.function}>", "exec"), dict(function.__globals__), made)  # noqa: S102
    function.__code__ = made[function.__name__].__code__


def _have_passes(module, name):
    """Has vLLM's pass manager run a pass that it has on a GPU alone, as it is there."""
    from vllm.compilation.passes.pass_manager import PostGradPassManager

    configure = PostGradPassManager.configure

    def with_more(self, config):
        configure(self, config)
        self.passes.append(getattr(importlib.import_module(module), name)(config))

    PostGradPassManager.configure = with_more


def plant(fault, has_fault=True):
    """Plants it. Without the fault: has only those passes run that it needs."""
    if fault.more_passes:
        _have_passes(*fault.more_passes)
    if has_fault:
        _replace(fault)


def main():
    kind, _, name = sys.argv.pop(1).rpartition(":")
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from graphgate_vllm import __main__ as program

    with contextlib.redirect_stdout(sys.stderr):
        importlib.import_module("graphgate_vllm.backend")  # in its order
        plant(FAULTS[name], has_fault=kind != "without")
    return program.main()


if __name__ == "__main__":
    sys.exit(main())
