"""python -m graphgate_executorch: ExecuTorch as an executor for graphgate."""

import argparse
import sys

import graphgate_executorch  # noqa: F401 (finds the packages beside it)
from graphgate_adapter import doctor, threads

threads.import_numpy()
threads.without_bars()

PLANNERS = ("greedy", "naive")


def _parser():
    parser = argparse.ArgumentParser(prog="python -m graphgate_executorch")
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser("serve", help="ExecuTorch as an executor: graphgate check --executor '...'")
    serve.add_argument("--device", default="cpu", choices=("cpu",), help="cpu, which is all there is")
    serve.add_argument(
        "--planner", choices=PLANNERS, default="greedy",
        help="the algorithm of MemoryPlanningPass (default: %(default)s, which is ExecuTorch's)",
    )
    serve.add_argument(
        "--inputs", choices=("planned", "given"), default="planned",
        help="whether inputs have a place in the plan (alloc_graph_input; the default), or the caller's",
    )
    serve.add_argument(
        "--outputs", choices=("planned", "given"), default="planned",
        help="whether outputs have a place in the plan (alloc_graph_output; the default), or the caller's",
    )
    serve.add_argument(
        "--reinplace", action="store_true",
        help="ops write over their operands where ExecuTorch finds that right (run_reinplace_pass)",
    )
    serve.add_argument(
        "--keep-view-copies", action="store_true",
        help="copies of views are run, and do not share memory (remove_view_copy=False)",
    )
    serve.add_argument(
        "--dynamic", action="store_true",
        help="sizes that are symbols are lowered once, for the largest (default: lowered for each size)",
    )
    serve.add_argument(
        "--all-ops", action="store_true",
        help="to_edge does not refuse ops that are not of the core set (_check_ir_validity=False)",
    )
    serve.add_argument("--no-plans", action="store_true", help="shows no plans of ExecuTorch's")
    serve.add_argument("--log", metavar="FILE", help="as `python -m graphgate_torch serve` writes it")
    verbs.add_parser("doctor", help="what this environment and this machine have for the adapter")
    return parser


def _doctor():
    def version():
        try:
            from executorch.version import __version__
        except ImportError as error:
            raise doctor.Lacks(f"ExecuTorch: {error}") from None
        return f"ExecuTorch {__version__}"

    def runtime():
        from graphgate_executorch import backend

        return f"the portable runtime, with {len(backend.kernels())} kernels"

    def forks():
        from graphgate_executorch.backend import ExecuTorch, Settings

        return doctor.forking(ExecuTorch(Settings()))

    def runs(planner):
        def look():
            import torch
            from graphgate_executorch.backend import ExecuTorch, Settings, Warming

            engine = ExecuTorch(Settings(planner=planner))
            with torch.no_grad(), engine.watch() as recorder:
                engine.compile(Warming(), {})(torch.ones(4))
            if not recorder.graphs:
                raise doctor.Lacks("a plan: " + "; ".join(recorder.reasons), is_needed=False)
            return f"MemoryPlanningPass plans by {planner}, the program runs, and its plan can be read"

        return look

    return doctor.examine([
        ("python", doctor.python), ("pytorch", doctor.torch_version), ("executorch", version),
        ("runtime", runtime), ("forking", forks),
        *((planner, runs(planner)) for planner in PLANNERS),
    ])


def main():
    arguments = _parser().parse_args()
    if arguments.verb == "doctor":
        return _doctor()
    from graphgate_adapter.serve import serve
    from graphgate_executorch.backend import ExecuTorch, Settings

    settings = Settings(
        planner=arguments.planner, plans_inputs=arguments.inputs == "planned",
        plans_outputs=arguments.outputs == "planned", reinplaces=arguments.reinplace,
        removes_view_copies=not arguments.keep_view_copies, is_dynamic=arguments.dynamic,
        checks_edge=not arguments.all_ops, shows_plans=not arguments.no_plans,
    )
    # ExecuTorch has orders of dimensions, and no strides.
    serve(ExecuTorch(settings), arguments.device, "free", arguments.log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
