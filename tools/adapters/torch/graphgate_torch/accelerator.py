"""CUDA in this process: whether its work is done, and whether it can do any more."""

import torch


def wait():
    """Waits for what runs on it, so that an error of a kernel is an error of the call that ran it.

    CUDA is not begun for that: a process that is to be forked must not have it.
    """
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def is_lost():
    """Whether nothing runs on it any more in this process. CUDA's errors stay: after an assertion
    in a kernel, or a wrong address, every later call fails with the same."""
    for _ in range(2):  # an error that passes is told once
        try:
            wait()
            return False
        except RuntimeError:
            pass
    return True
