"""Variables of this process's environment that are set for a while. Imports no engine."""

import contextlib
import os


@contextlib.contextmanager
def set_for_a_while(name, value):
    """While it is entered, the variable has this value; then what it had, or none."""
    asked = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if asked is None:
            del os.environ[name]
        else:
            os.environ[name] = asked
