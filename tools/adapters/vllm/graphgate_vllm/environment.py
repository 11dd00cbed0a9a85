"""What vLLM reads from the environment, set before it is imported."""

import atexit
import contextlib
import os
import shutil
import stat
import tempfile


def prepare():
    """Sets what is not set: a vLLM that logs errors only, keeps no compiled graphs, and needs no GPU.

    Call it before anything imports vLLM or numpy.
    """
    defaults = {
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_NO_USAGE_STATS": "1",
        # Its key is of the files that Dynamo traced. Programs come from none, and would be one entry.
        "VLLM_DISABLE_COMPILE_CACHE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    if "VLLM_CACHE_ROOT" not in os.environ:
        os.environ["VLLM_CACHE_ROOT"] = _cache_root()
    if not _has_gpu():
        os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")
        # vLLM has PyTorch ask NVML whether there is a GPU. Every op that is traced asks, and without a GPU
        # each loads the driver's library in vain.
        os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


def _cache_root():
    """A folder that nobody else writes to: what lies there is imported.

    It is below the user's cache. Where nothing can be written there, it is a new folder for this process.
    """
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(cache, "graphgate", "vllm")
    with contextlib.suppress(OSError):
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
        is_own = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if is_own and os.access(path, os.W_OK):
            return path
    made = tempfile.mkdtemp(prefix="graphgate-vllm-")
    atexit.register(_remove, made, os.getpid())
    return made


def _remove(folder, owner):
    """Forks leave it to their parent."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _has_gpu():
    """Whether the driver of one is there, found without beginning with CUDA."""
    return os.path.exists("/proc/driver/nvidia/version") or os.path.exists("/dev/kfd")
