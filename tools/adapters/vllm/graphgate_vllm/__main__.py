"""python -m graphgate_vllm: vLLM's compiler as an executor for graphgate."""

import argparse
import sys

from graphgate_vllm import environment, sizes

environment.prepare()

from graphgate_adapter import doctor, threads  # noqa: E402

threads.import_numpy()


def _parser():
    parser = argparse.ArgumentParser(prog="python -m graphgate_vllm")
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve", help="vLLM as an executor: graphgate check --executor '...'")
    serve.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    serve.add_argument(
        "--mode", choices=("vllm-compile", "stock"), default="vllm-compile",
        help="vLLM's backend (the default), or the compiler alone as CompilationMode.STOCK_TORCH_COMPILE",
    )
    serve.add_argument(
        "--partition", choices=("fx", "scheduler"), default="fx",
        help="who cuts: split_graph before compiling (the default), or Inductor's scheduler",
    )
    serve.add_argument(
        "--compiler", choices=("inductor", "eager", "passes"), default="inductor",
        help="of the pieces; eager runs them node by node, passes so after vLLM's and Inductor's passes",
    )
    serve.add_argument(
        "--cudagraph-mode", choices=("none", "piecewise", "full", "full_and_piecewise"), default="none",
        help="what is captured (default: %(default)s); emulated with --device cpu",
    )
    serve.add_argument(
        "--split", metavar="OP,...",
        help="splitting ops, as aten::mm or aten::add_.Tensor, where the case names none "
        "(default: vLLM's, its attention ops)",
    )
    serve.add_argument(
        "--passes", metavar="NAME[=false],...", default="",
        help="fields of vLLM's PassConfig, as eliminate_noops=false (default: eliminate_noops alone)",
    )
    serve.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="an option of Inductor (repeatable)",
    )
    serve.add_argument(
        "--layouts", choices=("kept", "free"), default="kept",
        help="kept: outputs have the strides and storage offsets of eager mode (the default)",
    )
    serve.add_argument(
        "--wrapper", choices=("none", "support_torch_compile"), default="none",
        help="vLLM's decorator over the program: traced once, without guards (default: %(default)s)",
    )
    serve.add_argument(
        "--compile-sizes", metavar="N,...", default=[], type=sizes.numbers,
        help="sizes with a graph of their own, where the case names none; with --wrapper",
    )
    serve.add_argument(
        "--compile-ranges", metavar="BEGIN:END,...", default=[], type=sizes.ranges,
        help="ranges of sizes, END excluded, with a graph of their own, where the case names none; "
        "with --wrapper",
    )
    serve.add_argument(
        "--compile-cache", choices=("none", "cold", "warm", "process"), default="none",
        help="vLLM's compile cache: written (cold), or read by what was reset (warm) or by another "
        "process than wrote it; with --wrapper (default: %(default)s)",
    )
    serve.add_argument(
        "--artifacts", choices=("mega", "aot", "pieces", "inductor"), default="mega",
        help="what vLLM compiles for its cache, by its switches: all in one file (the default), the "
        "graph and its pieces, the pieces alone, or what Inductor keeps of them",
    )
    serve.add_argument(
        "--spelling", choices=("aten", "python", "mixed"), default="aten",
        help="of indexing, slices and sizes: ops by name (the default), x[rows] and x.size() as Python "
        "code has them, or by each node's name one of both",
    )
    serve.add_argument("--no-plans", action="store_true", help="shows no plans of Inductor's")
    serve.add_argument("--log", metavar="FILE", help="as `python -m graphgate_torch serve` writes it")
    verbs.add_parser("doctor", help="what this environment and this machine have for the adapter")
    return parser


def _doctor():
    def version():
        try:
            import vllm
        except ImportError as error:
            raise doctor.Lacks(f"vLLM: {error}") from None
        from vllm.platforms import current_platform

        return f"vLLM {vllm.__version__}, {type(current_platform).__name__}"

    def compiled_ops():
        from graphgate_vllm import compiled_ops

        missing = compiled_ops.register()
        if missing:
            raise doctor.Lacks(
                f"vLLM's compiled ops: {len(missing)} of {len(compiled_ops.names())} have bodies in "
                "Python here", is_needed=False)
        return f"vLLM's {len(compiled_ops.names())} compiled ops"

    def runs(compiler):
        def look():
            import torch
            from graphgate_vllm.backend import Settings, Vllm, Warming

            with torch.no_grad():
                Vllm(Settings(compiler=compiler)).compile(Warming(), {"split-op": "aten.relu"})(
                    torch.ones(4))
            return f"VllmBackend compiles, with pieces by {compiler}"

        return look

    return doctor.examine([
        ("python", doctor.python), ("pytorch", doctor.torch_version), ("vllm", version),
        ("compiled ops", compiled_ops), ("splitting", runs("eager")), ("forking", doctor.forking),
        ("compiler", doctor.compiler), ("inductor", runs("inductor")), ("gpu", doctor.gpu),
    ])


def main():
    arguments = _parser().parse_args()
    if arguments.verb == "doctor":
        return _doctor()
    _check(arguments)
    from graphgate_torch import backends
    from graphgate_vllm.backend import Settings, Vllm

    from graphgate_adapter.serve import serve

    settings = Settings(
        device=arguments.device, mode=arguments.mode, partition=arguments.partition, compiler=arguments.compiler,
        cudagraph_mode=arguments.cudagraph_mode,
        split=None if arguments.split is None else [n for n in arguments.split.split(",") if n],
        passes=dict(_switch(each) for each in arguments.passes.split(",") if each),
        inductor=dict(backends.setting(each) for each in arguments.set),
        shows_plans=not arguments.no_plans, wrapper=arguments.wrapper,
        compile_sizes=arguments.compile_sizes, compile_ranges=arguments.compile_ranges,
        compile_cache=arguments.compile_cache, artifacts=arguments.artifacts,
        spelling=arguments.spelling,
    )
    # Inductor gives outputs the strides of eager mode as it lowers them.
    layouts = "free" if arguments.compiler == "passes" else arguments.layouts
    serve(Vllm(settings), arguments.device, layouts, arguments.log)
    return 0


def _check(arguments):
    """Ends with 2 where flags do not go together."""
    error = None
    if arguments.wrapper == "none":
        for name in ("compile_sizes", "compile_ranges"):
            if getattr(arguments, name):
                error = f"--{name.replace('_', '-')} goes with --wrapper support_torch_compile"
        if arguments.compile_cache != "none":
            error = "--compile-cache goes with --wrapper support_torch_compile"
    elif arguments.mode == "stock":
        error = "--wrapper goes with --mode vllm-compile: of stock models vLLM's runner calls the compiler"
    elif arguments.compile_cache != "none" and arguments.compiler != "inductor":
        error = f"--compile-cache: vLLM keeps nothing of {arguments.compiler} pieces"
    if error:
        print(f"graphgate_vllm: {error}", file=sys.stderr)
        sys.exit(2)


def _switch(text):
    name, equals, value = text.partition("=")
    return name, not equals or value == "true"


if __name__ == "__main__":
    sys.exit(main())
