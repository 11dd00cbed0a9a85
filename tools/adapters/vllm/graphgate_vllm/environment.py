"""What vLLM reads from the environment, set before it is imported."""

import os
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
        "VLLM_CACHE_ROOT": os.path.join(tempfile.gettempdir(), f"graphgate_vllm_{os.getuid()}"),
        "TOKENIZERS_PARALLELISM": "false",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
    if not _has_gpu():
        os.environ.setdefault("VLLM_TARGET_DEVICE", "cpu")


def _has_gpu():
    """Whether the driver of one is there, found without beginning with CUDA."""
    return os.path.exists("/proc/driver/nvidia/version") or os.path.exists("/dev/kfd")
