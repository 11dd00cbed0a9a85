"""check, export and assert_conforms: a model becomes an archive and a recording, and the program judges them."""

import copy
import dataclasses
import enum
import json
import os
import pathlib
import shlex
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import typing

from graphgate import _program


class Error(RuntimeError):
    """graphgate cannot begin: the program is missing, or arguments contradict each other."""


class NotExported(ValueError):
    """The model does not become an archive; the message says what PyTorch says."""


class Outcome(enum.IntEnum):
    """The program's exit codes."""

    PASS = 0
    FINDINGS = 1
    INCONCLUSIVE = 2  # undecided, or an op that nobody knows
    INFRASTRUCTURE = 3
    BAD_INPUT = 4
    DEFECT = 5  # of graphgate


@dataclasses.dataclass(frozen=True)
class Result:
    """What the program said. It is true where all passed, and its text is the report."""

    outcome: Outcome
    report: str
    json: dict = dataclasses.field(repr=False)  # what `graphgate check --json` writes; {} where it wrote none
    command: str  # a line for a shell that says the same again, as long as `folder` is there
    folder: typing.Optional[pathlib.Path]  # with model.pt2 and its recording; None where it is gone

    def __bool__(self):
        return self.outcome is Outcome.PASS

    def __str__(self):
        return self.report


def _torch_export():
    """graphgate_torch.export, which needs PyTorch."""
    try:
        import safetensors.torch  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        raise ImportError(
            f"graphgate exports a model with PyTorch and safetensors, and {sys.executable} lacks one ({error}): "
            "pip install torch safetensors") from error
    try:
        from graphgate_torch import export as exporting
    except ModuleNotFoundError as error:
        if error.name != "graphgate_torch":
            raise
        raise ImportError(
            "the package graphgate_torch is not beside graphgate: install the wheel, or name "
            "tools/adapters/torch in PYTHONPATH") from error
    return exporting


def _copied(values):
    """Copies of tensors and what holds them, without gradients. What shares memory still does."""
    from torch.utils import _pytree as pytree

    def detached(value):
        return value.detach() if hasattr(value, "detach") else value

    return copy.deepcopy(pytree.tree_map(detached, values))


def _calls(args, kwargs, more_calls):
    calls = [(args, kwargs or {}), *more_calls]
    for call in calls:
        good = isinstance(call, tuple) and len(call) == 2
        if not (good and isinstance(call[0], tuple) and isinstance(call[1], dict)):
            raise TypeError(
                "the arguments of a call are a tuple and a dictionary, as torch.export.export takes them: "
                f"found {call!r:.200}")
    return calls


def export(
    model, args=(), kwargs=None, *, path, dynamic_shapes=None, more_calls=(), decompose=False,
):
    """Writes a model as an archive of torch.export, and what PyTorch computes beside it; returns the path.

    `model`: a module, a compiled one (what it was made of is taken), a function, or an ExportedProgram.
    It runs in evaluation mode, on copies of itself and of the arguments, which stay as they are.
    `path`: NAME.pt2; NAME.safetensors and NAME.geometry.json are the recording of the calls.
    `dynamic_shapes`: as torch.export.export takes them. Without, sizes that differ between calls are
    symbolic. `more_calls`: pairs (args, kwargs); states carry over from call to call. `decompose`:
    writes NAME.core.pt2, too, of the core set of ops. Raises NotExported where PyTorch refuses.
    """
    calls = _calls(args, kwargs, more_calls)
    exporting = _torch_export()
    import torch

    is_program = isinstance(model, torch.export.ExportedProgram)
    given = {
        "module": model if is_program else _own(model),
        "calls": _copied([call for call, _ in calls]),
        "kwargs": _copied([named for _, named in calls]),
        "dynamic_shapes": dynamic_shapes,
    }
    fast_path = torch.backends.mha.get_fastpath_enabled()
    try:
        with torch.random.fork_rng():
            exporting.export(given, os.fspath(path), decompose)
    except exporting.Bad as error:
        raise NotExported(str(error).removeprefix(f"{os.fspath(path)}: ")) from error
    finally:
        torch.backends.mha.set_fastpath_enabled(fast_path)
    return pathlib.Path(path)


def _own(model):
    """A copy of a module, whose states and mode may change; a function as it is."""
    import torch

    if not isinstance(model, torch.nn.Module):
        return model
    try:
        return copy.deepcopy(getattr(model, "_orig_mod", model))
    except Exception as error:
        raise NotExported(f"{type(model).__name__}: cannot be copied: {error}") from error


def _device_of(model, args, kwargs):
    """Of the first tensor that is not on the CPU."""
    from torch.utils import _pytree as pytree

    leaves = pytree.tree_leaves((args, kwargs or {}))
    states = getattr(model, "state_dict", None)
    leaves += list((states() if callable(states) else states or {}).values())
    kinds = [each.device.type for each in leaves if hasattr(each, "device")]
    return next((kind for kind in kinds if kind != "cpu"), "cpu")


def _backend_command(backend, device, options):
    """The command that puts PyTorch of this interpreter under test."""
    import graphgate_torch
    from graphgate_torch import backends

    if backend not in backends.BACKENDS:
        raise Error(f"backend {backend!r}: expected one of {', '.join(sorted(backends.BACKENDS))}")
    words = [
        sys.executable, "-m", "graphgate_torch", "serve", "--backend", backend, "--device", device]
    for name, value in (options or {}).items():
        words += ["--set", f"{name}={json.dumps(value)}"]
    folder = os.path.dirname(os.path.dirname(os.path.abspath(graphgate_torch.__file__)))
    if folder in [*site.getsitepackages(), site.getusersitepackages()]:
        return shlex.join(words)
    # The process does not see what this one has added to sys.path.
    return f"PYTHONPATH={shlex.quote(folder)}${{PYTHONPATH:+:$PYTHONPATH}} {shlex.join(words)}"


def _outcome_of(code):
    """Of a process's status. A crash is a defect; a kill by somebody else is not."""
    if code < 0:
        crashes = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
        return Outcome.DEFECT if -code in crashes else Outcome.INFRASTRUCTURE
    return Outcome(code) if code in Outcome.__members__.values() else Outcome.DEFECT


def _run(archive, flags):
    """Runs `graphgate check`."""
    try:
        program = _program.find()
    except _program.Missing as error:
        raise Error(str(error)) from error
    path = os.fspath(archive)
    # A name that begins with a dash is no flag.
    words = ["check", "-v", *flags, os.path.join(os.curdir, path) if path.startswith("-") else path]
    found = {}
    # A folder of its own: in the user's, a file of this name may be there already.
    with tempfile.TemporaryDirectory(prefix="graphgate-") as scratch:
        report = os.path.join(scratch, "report.json")
        ran = subprocess.run(
            [program, words[0], "--json", report, *words[1:]], capture_output=True, text=True,
            errors="replace", stdin=subprocess.DEVNULL, check=False)
        if os.path.exists(report):
            with open(report, encoding="utf-8") as file:
                found = json.load(file)
    said = ran.stdout + ran.stderr
    if ran.returncode < 0:
        said += f"graphgate was ended by signal {-ran.returncode}\n"
    return _outcome_of(ran.returncode), said, found, shlex.join(["graphgate", *words])


def check(
    model, args=(), kwargs=None, *, dynamic_shapes=None, more_calls=(), decompose=False, backend=None,
    backend_options=None, executor=None, executor_timeout=None, judges=None, flags=(), folder=None,
):
    """Judges a model, and returns a Result.

    By default both of graphgate's executors run the exported program, and their values and PyTorch's
    own, in eager mode, are held to the bounds of the oracle.

    `model`, `args`, `kwargs`, `dynamic_shapes`, `more_calls`: as export takes them. `model` may be the
    path of an archive or a case, too. `decompose`: judge the program of the core set of ops.
    `backend`: "compile" or "eager" puts PyTorch under test instead, as `graphgate_torch serve
    --backend` runs the exported program; `backend_options`: options of Inductor, by name.
    `executor`: who else is under test, as --executor takes it: "optimized", "reference", or a command.
    `executor_timeout`: seconds for each answer of a backend or command. `judges`: "all", or names.
    `flags`: more words for the command line (`["--profile", "torch-2.9.0"]`).
    `folder`: keeps archive and recording there. Without, they are kept in a new folder below the
    system's own for temporary files, where not all passed: Result.folder.

    Raises NotExported where PyTorch refuses to export, ImportError where it is missing, and Error
    where graphgate is.
    """
    if backend is not None and executor is not None:
        raise Error("backend and executor both say who is under test: give one of them")
    if backend_options and backend is None:
        raise Error("backend_options has no effect without a backend")
    flags = list(flags)
    if judges is not None:
        flags += ["--judges", judges if isinstance(judges, str) else ",".join(judges)]
    if backend is not None:
        _torch_export()
        executor = _backend_command(backend, _device_of(model, args, kwargs), backend_options)
    if executor is not None:
        flags += ["--executor", executor]
    if executor_timeout is not None:
        flags += ["--executor-timeout", format(executor_timeout, "g")]

    if isinstance(model, (str, os.PathLike)):
        if args or kwargs or more_calls or dynamic_shapes or decompose or folder is not None:
            raise Error(f"{model}: is a file, which brings its calls along: it goes without arguments and folder")
        return Result(*_run(model, flags), None)
    kept = pathlib.Path(tempfile.mkdtemp(prefix="graphgate-") if folder is None else folder)
    kept.mkdir(parents=True, exist_ok=True)
    try:
        archive = export(
            model, args, kwargs, path=kept / "model.pt2", dynamic_shapes=dynamic_shapes,
            more_calls=more_calls, decompose=decompose)
        ran = _run(archive.with_suffix(".core.pt2") if decompose else archive, flags)
    except BaseException:
        if folder is None:
            shutil.rmtree(kept, ignore_errors=True)
        raise
    if folder is None and ran[0] is Outcome.PASS:
        shutil.rmtree(kept, ignore_errors=True)
        kept = None
    return Result(*ran, kept)


def assert_conforms(model, args=(), kwargs=None, *, allow_inconclusive=False, **options):
    """Fails with the report where `check(model, args, kwargs, **options)` does not pass; else its Result.

    `allow_inconclusive`: what could not be decided passes, too.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    result = check(model, args, kwargs, **options)
    if result or (allow_inconclusive and result.outcome is Outcome.INCONCLUSIVE):
        return result
    raise AssertionError(
        f"graphgate check: {result.outcome.name}\n{result.report.rstrip()}\nagain: {result.command}")
