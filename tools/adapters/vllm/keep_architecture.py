#!/usr/bin/env python3
"""Clears the kernels in a library that GPUs of one architecture do not run, so that it packs small.

    keep_architecture.py LIBRARY ARCHITECTURE

ARCHITECTURE is a number as 90. Of each fat binary what stays is the machine code for it; where there is
none, the newest PTX that the driver can compile for it. The other images become zeros: sizes and places
stay, and the driver passes by images of other architectures. Prints how many bytes were cleared.
"""

import struct
import sys

# Of CUDA's fat binaries, as fatbinary(1) writes them: a header, and images with a header each.
_MAGIC, _VERSION = 0xBA55ED50, 1
_HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of the header, bytes behind it
_IMAGE = struct.Struct("<HHIQ")  # kind, version, bytes of the header, bytes behind it
_ARCHITECTURE_AT = 28  # in an image's header, four bytes
_PTX, _ELF = 1, 2


def _images(data, start, end):
    """(kind, architecture, where its bytes begin, where they end) of each image."""
    while start < end:
        kind, _, header, size = _IMAGE.unpack_from(data, start)
        (architecture,) = struct.unpack_from("<I", data, start + _ARCHITECTURE_AT)
        begin = start + header
        if header == 0 or begin + size > end:
            raise ValueError(f"no fat binary as known here at byte {start}")
        yield kind, architecture, begin, begin + size
        start = begin + size


def _kept(images, architecture):
    """The images that a GPU of this architecture runs."""
    code = [each for each in images if each[0] == _ELF and each[1] == architecture]
    if code:
        return code
    texts = [each for each in images if each[0] == _PTX and each[1] <= architecture]
    return [max(texts, key=lambda each: each[1])] if texts else []


def clear_others(data, architecture):
    """Clears what is not kept in `data`, a bytearray, and returns the number of bytes."""
    cleared = 0
    place = data.find(struct.pack("<IH", _MAGIC, _VERSION))
    while place >= 0:
        _, _, header, size = _HEADER.unpack_from(data, place)
        end = place + header + size
        images = list(_images(data, place + header, end))
        for image in images:
            if image not in _kept(images, architecture):
                data[image[2] : image[3]] = bytes(image[3] - image[2])
                cleared += image[3] - image[2]
        place = data.find(struct.pack("<IH", _MAGIC, _VERSION), end)
    return cleared


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdecimal():
        sys.exit("keep_architecture.py: expected LIBRARY ARCHITECTURE, as _C.abi3.so 90")
    path, architecture = sys.argv[1], int(sys.argv[2])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    cleared = clear_others(data, architecture)
    with open(path, "wb") as file:
        file.write(data)
    print(f"{path}: {cleared} of {len(data)} bytes cleared")


if __name__ == "__main__":
    main()
