"""Padding on the left reads behind the end of its operand when it is compiled (CPU): a process ends by a signal here.

The last elements of a row are a vector that is not full. Loads and stores of it leave the other lanes out, but a load
under a mask does not: `CppVecKernel._get_vec_load_line` in `_inductor/codegen/cpp.py` asks for the mask alone, and the
mask of padding on the left, `index >= 3`, is true in the lanes behind the end. That of `y[3:] = x` is, too.
"""

import ctypes
import mmap
import os
import sys

import torch

NUMBERS = 22


def at_the_end_of_a_page():
    """Returns a tensor behind whose last element lies a page that can't be read."""
    c = ctypes.CDLL(None)
    c.mmap.restype = ctypes.c_void_p
    c.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long
    c.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    page = c.mmap(None, 2 * mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE, kind, -1, 0) + mmap.PAGESIZE
    if c.mprotect(page, mmap.PAGESIZE, 0) != 0:
        raise OSError("the page can't be protected")
    memory = (ctypes.c_char * (4 * NUMBERS)).from_address(page - 4 * NUMBERS)
    return torch.frombuffer(memory, dtype=torch.float32).fill_(1)


def function(x):
    return torch.nn.functional.pad(x, (3, 0)) + 1


compiled = torch.compile(function)
compiled(torch.ones(NUMBERS))
function(at_the_end_of_a_page())
child = os.fork()
if child == 0:
    compiled(at_the_end_of_a_page())
    os._exit(0)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(f"the child's status is {status}")
sys.exit(status != 0)
