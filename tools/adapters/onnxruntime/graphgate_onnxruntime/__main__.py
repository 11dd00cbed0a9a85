"""python -m graphgate_onnxruntime: ONNX Runtime as an executor for graphgate."""

import argparse
import sys

import graphgate_onnxruntime  # noqa: F401 (finds graphgate_adapter)
from graphgate_adapter import doctor, threads

threads.import_numpy()
threads.without_bars()

_SWITCH = {"on": True, "off": False}


def _parser():
    parser = argparse.ArgumentParser(prog="python -m graphgate_onnxruntime")
    verbs = parser.add_subparsers(dest="verb", required=True)
    serve = verbs.add_parser(
        "serve", help="ONNX Runtime as an executor: graphgate check --executor '...'"
    )
    serve.add_argument("--device", choices=("cpu",), default="cpu", help="where it runs")
    serve.add_argument(
        "--optimization", choices=("none", "basic", "extended", "all"), default="all",
        help="ONNX Runtime's graph optimization level (default: %(default)s)",
    )
    for name, what in (("pattern", "one block for a run's tensors, laid out from the run before"),
                       ("reuse", "the memory of dead tensors is taken for others")):
        serve.add_argument(f"--mem-{name}", choices=sorted(_SWITCH), default="on", help=what)
    serve.add_argument(
        "--io-binding", action="store_true",
        help="inputs and outputs are bound to PyTorch's memory, without copies",
    )
    serve.add_argument("--threads", type=int, default=1, help="of one op (default: %(default)s)")
    serve.add_argument(
        "--runner", choices=("onnxruntime", "reference"), default="onnxruntime",
        help="reference: the same model by the bodies of the package onnx, to tell whose fault it is",
    )
    serve.add_argument("--log", metavar="FILE", help="append lines of JSON: each refusal")
    verbs.add_parser("doctor", help="what this environment and this machine have for the adapter")
    return parser


def _doctor():
    def runtime():
        import onnxruntime

        return f"ONNX Runtime {onnxruntime.__version__}, {', '.join(onnxruntime.get_available_providers())}"

    def exporter():
        import onnx
        import onnxscript

        return f"onnx {onnx.__version__}, onnxscript {onnxscript.__version__}"

    def forks():
        from graphgate_onnxruntime.backend import OnnxRuntime, Settings

        return doctor.forking(OnnxRuntime(Settings()))

    def runs():
        import torch
        from graphgate_onnxruntime.backend import OnnxRuntime, Settings

        class Relu(torch.nn.Module):
            def forward(self, x):
                return (torch.relu(x),)

        with torch.no_grad():
            (output,) = OnnxRuntime(Settings()).compile(Relu(), {})(torch.tensor([-1.0, 2.0]))
        return f"relu of [-1, 2] is {output.tolist()}"

    return doctor.examine([
        ("python", doctor.python), ("pytorch", doctor.torch_version), ("forking", forks),
        ("onnx runtime", runtime), ("exporter", exporter), ("running", runs),
    ])


def main():
    arguments = _parser().parse_args()
    if arguments.verb == "doctor":
        return _doctor()
    from graphgate_adapter.serve import serve
    from graphgate_onnxruntime.backend import OnnxRuntime, Settings

    settings = Settings(
        optimization=arguments.optimization, mem_pattern=_SWITCH[arguments.mem_pattern],
        mem_reuse=_SWITCH[arguments.mem_reuse], io_binding=arguments.io_binding,
        threads=arguments.threads, runner=arguments.runner,
    )
    # Outputs lie as ONNX Runtime lays them: one element behind the other.
    serve(OnnxRuntime(settings), arguments.device, "free", arguments.log)
    return 0


if __name__ == "__main__":
    sys.exit(main())
