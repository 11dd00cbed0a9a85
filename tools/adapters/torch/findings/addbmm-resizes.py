"""addbmm_ into a target that is too small: taken in eager mode, which resizes it.

Every other product in place refuses (addmm_, baddbmm_), and so do fake tensors. The target is a
view of the first 3 of 12 numbers; 3 numbers behind it are written, too.
"""

import sys

import torch

base = torch.zeros(12)
target = base[:3]
try:
    target.addbmm_(torch.ones(4, 2, 5), torch.ones(4, 5, 3))
except RuntimeError as error:
    print(str(error).splitlines()[0])
    sys.exit(0)
print(tuple(target.shape), base.tolist())
sys.exit(1)
