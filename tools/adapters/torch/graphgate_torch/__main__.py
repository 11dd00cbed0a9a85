"""python -m graphgate_torch: PyTorch as an executor for graphgate, and models for it."""

import argparse
import sys
import traceback

from graphgate_adapter import doctor, threads

threads.import_numpy()

from graphgate_torch import backends  # noqa: E402


def _upstream(settings, joins_kernels=True):
    """It looks into Inductor, which no other backend needs to."""
    from graphgate_torch.upstream_backend import Upstream

    return Upstream(settings, joins_kernels)


_BACKENDS = backends.BACKENDS | {"upstream": _upstream}


def _parser():
    parser = argparse.ArgumentParser(prog="python -m graphgate_torch")
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve", help="PyTorch as an executor: graphgate check --executor '...'")
    serve.add_argument(
        "--backend", choices=sorted(_BACKENDS), default="compile",
        help="passes: Inductor's decompositions and passes, whose graph is run node by node; "
        "upstream: eager mode, and what Inductor decides is stored in the folder that --set folder= names",
    )
    serve.add_argument("--device", default="cpu", help="cpu or cuda (default: %(default)s)")
    serve.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", type=backends.setting,
        help="an option of Inductor, as triton.cudagraphs=true (repeatable)",
    )
    serve.add_argument(
        "--layouts", choices=("kept", "free"), default="kept",
        help="kept: outputs have the strides and storage offsets of eager mode (the default, but for passes)",
    )
    serve.add_argument(
        "--units", choices=("graph", "kernel"), default="graph",
        help="the C++ kernels of a graph are compiled as one translation unit (the default), or each",
    )
    serve.add_argument(
        "--log", metavar="FILE",
        help="append lines of JSON: each refusal, and how many compiled graphs have an own plan",
    )
    export = verbs.add_parser("export", help="write a model as graphgate reads it")
    export.add_argument(
        "model",
        help="FILE.py:FUNCTION or MODULE:FUNCTION; the function returns a dictionary with 'module', "
        "'calls' (a list of tuples of arguments), perhaps 'kwargs' (a dictionary for each) and "
        "'dynamic_shapes' (of torch.export). Or the name or folder of a model of transformers on disk",
    )
    export.add_argument(
        "--decompose", action="store_true", help="write NAME.core.pt2, too, of the core set of ops"
    )
    export.add_argument(
        "--dynamic", action="store_true",
        help="of a model of transformers: with symbolic batch size and length",
    )
    export.add_argument("output", help="NAME.pt2; a recording of the calls goes beside it")
    upstream = verbs.add_parser(
        "upstream", help="what this version's Inductor decides beside what graphgate decides under its profile"
    )
    upstream.add_argument("files", nargs="*", help="programs and cases")
    upstream.add_argument("--graphgate", default="graphgate", help="the binary (default: %(default)s)")
    upstream.add_argument("--profile", help="default: torch-VERSION of this PyTorch")
    upstream.add_argument("--drawn", type=int, default=0, metavar="N", help="draw N cases, too")
    upstream.add_argument("--seed", type=int, default=40, help="of what is drawn (default: %(default)s)")
    upstream.add_argument("--jobs", type=int, default=1, help="processes (default: %(default)s)")
    upstream.add_argument(
        "--folder", help="keep graphs and decisions here; those that are there are compared, too"
    )
    upstream.add_argument(
        "--device", default="cpu", help="where the graphs are, cpu or cuda (default: %(default)s)"
    )
    upstream.add_argument(
        "--against", metavar="FOLDER",
        help="compare with the decisions that --folder kept there for the same graphs, as on another device",
    )
    verbs.add_parser("doctor", help="what this environment and this machine have for the adapter")
    return parser


def _doctor():
    def compiled():
        import torch

        compile_backend = backends.Compile({})
        with torch.no_grad(), compile_backend.watch() as recorder:
            compile_backend.compile(torch.nn.ReLU(), {})(torch.ones(4))
        if not recorder.graphs:
            raise doctor.Lacks("a plan: " + "; ".join(recorder.reasons), is_needed=False)
        return "Inductor compiles, and its plan can be read"

    return doctor.examine([
        ("python", doctor.python), ("pytorch", doctor.torch_version), ("forking", doctor.forking),
        ("compiler", doctor.compiler), ("inductor", compiled), ("gpu", doctor.gpu),
    ])


def main():
    arguments = _parser().parse_args()
    if arguments.verb == "doctor":
        return _doctor()
    if arguments.verb == "serve":
        from graphgate_adapter.serve import serve

        make = _BACKENDS[arguments.backend]
        backend = make(dict(arguments.set), joins_kernels=arguments.units == "graph")
        # Inductor gives outputs the strides of eager mode as it lowers them.
        layouts = "free" if arguments.backend == "passes" else arguments.layouts
        serve(backend, arguments.device, layouts, arguments.log)
        return 0
    if arguments.verb == "upstream":
        from graphgate_torch import upstream_check

        return upstream_check.main(arguments)
    from graphgate_torch import export

    try:
        model = export.load(arguments.model, arguments.dynamic)
        calls, small = export.export(model, arguments.output, arguments.decompose)
    except export.Bad as error:
        if isinstance(error, export.Raised):
            traceback.print_exception(error.__cause__)
        print(f"graphgate_torch: {error}", file=sys.stderr)
        return 4
    print(f"{arguments.output}: recorded {calls} call{'s' * (calls != 1)}")
    if small:
        print(f"{small[0]}, and torch.export says that its symbol is 2 at least: "
              "judge this program with --allow-zero-and-one")
    return 0


if __name__ == "__main__":
    sys.exit(main())
