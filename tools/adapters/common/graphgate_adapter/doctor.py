"""What a machine and an environment have for an adapter, looked at one by one."""

import os
import subprocess
import sys
import sysconfig
import tempfile
import traceback


class Lacks(Exception):
    """What is not there, and what for; `is_needed`: nothing runs without it."""

    def __init__(self, message, is_needed=True):
        super().__init__(message)
        self.is_needed = is_needed


def examine(looks, out=sys.stdout):
    """Prints a line for each look, (name, function that returns what it found or raises Lacks).

    Returns the exit code of the verb `doctor`: 0 where all that is needed is there, 3 else.
    """
    status = 0
    for name, look in looks:
        try:
            said, state = look(), "has"
        except Lacks as lacks:
            said, state = str(lacks), "lacks" if lacks.is_needed else "without"
            status = 3 if lacks.is_needed else status
        except Exception as error:
            traceback.print_exc()
            said, state = f"{type(error).__name__}: {error}", "lacks"
            status = 3
        print(f"{name:<18} {state:<8} {' '.join(str(said).split())}", file=out, flush=True)
    return status


def python():
    return f"{sys.version.split()[0]} at {sys.executable}"


def torch_version():
    import safetensors
    import torch

    return f"PyTorch {torch.__version__}, safetensors {safetensors.__version__}"


def compiler():
    """Whether a C++ compiler makes a program of Python's and of the standard library's headers."""
    name = os.environ.get("CXX", "g++")
    text = "#include <Python.h>\n#include <vector>\nint main() { return std::vector<int>{0}[0]; }\n"
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "program.cpp")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        include = sysconfig.get_paths()["include"]
        try:
            ran = subprocess.run(
                [name, "-fsyntax-only", "-I", include, source], capture_output=True, text=True,
                check=False,
            )
        except FileNotFoundError:
            raise Lacks(f"no C++ compiler '{name}', by which Inductor compiles on a CPU") from None
    if ran.returncode != 0:
        raise Lacks(f"{name}: {ran.stderr.strip().splitlines()[0]}")
    return f"{name} compiles with {include}"


def gpu():
    import torch

    if not torch.cuda.is_available():
        raise Lacks("no GPU that PyTorch can use; --device cpu", is_needed=False)
    return torch.cuda.get_device_name()


def forking(backend=None):
    """Whether sessions are forked. A `backend` is warmed up first, as `serve` does: that may begin a thread."""
    from graphgate_adapter import fork_server

    if backend:
        backend.warm_up("cpu")
    if not fork_server.has_one_thread():
        names = fork_server.thread_names() or ["unknown"]
        raise Lacks(
            f"a process with one thread: each session imports anew (threads: {', '.join(sorted(names))})",
            is_needed=False)
    return "sessions are forked from a process that has imported"
