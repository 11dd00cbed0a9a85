"""Variables of this process's environment that are set for a while. Imports no engine."""

import contextlib
import os


@contextlib.contextmanager
def kept(*names):
    """While it is entered, the variables may be set; then they have what they had, or nothing."""
    before = {name: os.environ.get(name) for name in names}
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def set_for_a_while(name, value):
    """While it is entered, the variable has this value; then what it had, or none."""
    with kept(name):
        os.environ[name] = value
        yield
