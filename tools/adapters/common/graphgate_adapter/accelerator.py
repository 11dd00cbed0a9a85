"""CUDA in this process: whether its work is done, and whether it can do any more."""

import torch


def wait():
    """Waits for what runs on it, so that an error of a kernel is an error of the call that ran it.

    CUDA is not begun for that: a process that is to be forked must not have it.
    """
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


_given_up = []


def give_up():
    """Has this process end with the answer to come: what is on the device now cannot be trusted."""
    _given_up.append(True)


def is_given_up():
    """Whether somebody gave it up."""
    return bool(_given_up)


def loss():
    """The error that every later call on it fails with in this process, None where it works.

    CUDA's errors stay after an assertion in a kernel, or a wrong address. It may be found by another
    error: of an op that Python refused while the kernel ran.
    """
    error = None
    for _ in range(2):  # one that passes is told once
        try:
            wait()
            return None
        except RuntimeError as raised:
            error = raised
    return error
