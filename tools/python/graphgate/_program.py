"""Where the program is."""

import os
import shutil


class Missing(Exception):
    """The program is not there."""


def _comes_back(path):
    """Whether it is the command of a wheel: a script that runs this package."""
    with open(path, "rb") as file:
        return b"graphgate.__main__" in file.read(4096)


def find():
    """The path of the program: of the wheel, or else the one on PATH."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "graphgate")
    found = own if os.access(own, os.X_OK) else shutil.which("graphgate")
    if found is None or _comes_back(found):
        raise Missing(
            f"the program is neither at {own}, where the wheel has it, nor on PATH; install the wheel, or "
            "put the folder of a build on PATH")
    return found
