"""An image of bytes with four channels or fewer cannot be resized to one pixel (CPU)."""

import sys

import torch
from torch.nn import functional as F

image = torch.arange(72).reshape(1, 3, 4, 6).byte()
sizes = list(F.interpolate(image[:, :1].expand(1, 5, 4, 6), size=(1, 1), mode="bilinear").shape)
try:
    F.interpolate(image, size=(1, 1), mode="bilinear")
except RuntimeError as error:
    print(f"five channels give {sizes}, three: {str(error).splitlines()[0]}")
    sys.exit(1)
print("three channels are resized, too")
