"""Whether the PyTorch at hand still needs a workaround of vLLM: override_needed.py [ROW...].

It runs under an interpreter with vLLM. For each row (of optimized/upstream/vllm_overrides.json) that
it knows a probe for, it runs the probe in two processes: one as PyTorch is, one with the patch of
vLLM's env_override.py and nothing else of it. It says `needed` where the probe shows the fault without
the patch alone, `not needed` where it shows it in neither, and `no help` where it shows it in both.
It ends with 0, with 1 where a patch does not help, and with 3 where a probe could not be run.
"""
import importlib.util
import pathlib
import subprocess
import sys


def source_of_env_override():
    """The file's path, without importing vLLM, which would apply all patches."""
    vllm = importlib.util.find_spec("vllm")
    if vllm is None:
        sys.exit("override_needed: this interpreter has no vLLM")
    return pathlib.Path(vllm.submodule_search_locations[0]) / "env_override.py"


def functions_of_env_override(*names):
    """These functions of the file, defined here and not called."""
    import ast

    import torch
    tree = ast.parse(source_of_env_override().read_text())
    wanted = [node for node in tree.body if getattr(node, "name", None) in names]
    constants = [node for node in tree.body if isinstance(node, ast.Assign)
                 and all(isinstance(target, ast.Name) and target.id.isupper()
                         or getattr(target, "id", "").startswith("_VLLM") for target in node.targets)]
    lacking = set(names) - {node.name for node in wanted}
    if lacking:
        raise LookupError(f"env_override.py has no {', '.join(sorted(lacking))}")
    space = {"torch": torch, "importlib": importlib}
    exec(compile(ast.Module(constants + wanted, []), "env_override.py", "exec"), space)
    return [space[name] for name in names]


def patch_pattern_matcher():
    [apply] = functions_of_env_override("_apply_inductor_pattern_matcher_patch")
    apply()


def probe_pattern_matcher():
    """A pattern over a custom op of a dtype that Inductor's own kernels do not take does not match."""
    import torch
    from torch._inductor.pattern_matcher import (CallFunction, KeywordArg, Match, PatternMatcherPass,
                                                 register_graph_pattern)

    @torch.library.custom_op("graphgate_probe::double", mutates_args=())
    def double(x: torch.Tensor) -> torch.Tensor:
        return x + x

    @double.register_fake
    def _(x):
        return torch.empty_like(x)

    op = torch.ops.graphgate_probe.double.default
    found = []
    passes = PatternMatcherPass()

    @register_graph_pattern(CallFunction(op, CallFunction(op, KeywordArg("x"))), pass_dict=passes)
    def _(match: Match, x):
        found.append(match)

    from torch.fx.experimental.proxy_tensor import make_fx
    shapes = {}
    for dtype in (torch.float32, torch.complex64):
        found.clear()
        graph = make_fx(lambda x: op(op(x)), tracing_mode="fake")(torch.zeros(4, dtype=dtype))
        passes.apply(graph.graph)
        shapes[dtype] = len(found)
    if shapes[torch.float32] != 1:
        raise AssertionError(f"the probe's pattern matches {shapes[torch.float32]} sites of float32, not 1")
    return f"matches {shapes[torch.complex64]} of 1 sites of complex64", shapes[torch.complex64] != 1


def patch_fallback_allow_list():
    _, apply = functions_of_env_override("_VllmFallbackAllowList", "_patch_inductor_fallback_allow_list")
    apply()


def probe_fallback_allow_list():
    """The first meeting with a custom op formats its arguments for a line in the log."""
    import torch
    import torch._inductor.config
    import torch._inductor.exc
    import torch._inductor.graph

    @torch.library.custom_op("vllm::graphgate_probe", mutates_args=())
    def twice(x: torch.Tensor) -> torch.Tensor:
        return x + x

    @twice.register_fake
    def _(x):
        return torch.empty_like(x)

    torch._inductor.config.force_disable_caches = True
    asked = []
    make = torch._inductor.graph.make_fallback

    def watch(op, *arguments, **options):
        if "graphgate_probe" in str(op):
            asked.append(options.get("warn", True))
        return make(op, *arguments, **options)

    # What costs is that the operands become a text, which newer releases only do for a log that is on.
    owner = next(one for one in torch._inductor.exc.MissingOperatorWithoutDecomp.__mro__
                 if "operator_str" in vars(one))
    formatting = owner.operator_str
    formatted = []
    owner.operator_str = staticmethod(lambda *operands: formatted.append(1) or formatting(*operands))
    torch._inductor.graph.make_fallback = watch
    try:
        torch.compile(torch.ops.vllm.graphgate_probe.default, backend="inductor", fullgraph=True)(
            torch.zeros(4))
    finally:
        torch._inductor.graph.make_fallback = make
        owner.operator_str = staticmethod(formatting)
    if not asked:
        raise AssertionError("the probe's op was not lowered")
    return f"formats its operands {len(formatted)} times", bool(formatted)


PROBES = {"pattern_matcher": (patch_pattern_matcher, probe_pattern_matcher),
          "fallback_allow_list": (patch_fallback_allow_list, probe_fallback_allow_list)}


def run_probe(row, is_patched):
    """What the probe says, and whether it shows the fault; an error as a text alone."""
    end = subprocess.run([sys.executable, __file__, "--probe", row, "with" if is_patched else "without"],
                         capture_output=True, text=True)
    lines = [line for line in end.stdout.splitlines() if line.startswith(("fault ", "good "))]
    if not lines:
        return (end.stderr.strip().splitlines() or [f"ended with {end.returncode}"])[-1], None
    word, _, said = lines[-1].partition(" ")
    return said, word == "fault"


def main(rows):
    import torch
    unknown = [row for row in rows if row not in PROBES]
    if unknown:
        sys.exit(f"override_needed: no probe for {', '.join(unknown)}; there are {', '.join(PROBES)}")
    source_of_env_override()
    code = 0
    for row in rows or PROBES:
        without, is_bad = run_probe(row, False)
        patched, is_bad_patched = run_probe(row, True)
        if is_bad is None or is_bad_patched is None:
            print(f"{row}: could not be run: {without if is_bad is None else patched}")
            code = 3
            continue
        verdict = "no help" if is_bad_patched else "needed" if is_bad else "not needed"
        print(f"{row}: {verdict} with torch {torch.__version__}: without it {without}, with it {patched}")
        code = max(code, 1 if verdict == "no help" else 0)
    return code


if __name__ == "__main__":
    if sys.argv[1:2] == ["--probe"]:
        patch, probe = PROBES[sys.argv[2]]
        if sys.argv[3] == "with":
            patch()
        said, is_fault = probe()
        print("fault" if is_fault else "good", said)
    else:
        sys.exit(main(sys.argv[1:]))
