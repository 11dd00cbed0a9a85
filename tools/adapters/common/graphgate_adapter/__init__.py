"""What the adapters for executors in Python share: the protocol, graph text, modules, serving.

Each adapter is a package of its own beside this one (docs/executors.md). It tells its name when it is
imported, so that what goes wrong in it is not taken for an error of the engine.
"""

import os

_adapters = [("graphgate_adapter", "the engine", os.path.dirname(os.path.abspath(__file__)))]


def register(name, engine, folder):
    """Takes note of an adapter: the package's name, what it runs, and where its files are.

    An adapter that builds on another one is registered after it.
    """
    _adapters.append((name, engine, os.path.abspath(folder)))


def name_and_engine():
    """The name of the adapter of this process, and what it runs."""
    return _adapters[-1][:2]


def has_file(path):
    """Whether it is a file of an adapter, or of this package."""
    folder = os.path.dirname(os.path.abspath(path))
    return any(folder == each for _, _, each in _adapters)


def has_module(name):
    """Whether a module of that name is one of an adapter's, or of this package."""
    return any(name.split(".")[0] == each for each, _, _ in _adapters)
