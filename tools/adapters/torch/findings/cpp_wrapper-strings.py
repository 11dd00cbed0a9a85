"""Strings that a custom op takes, with `cpp_wrapper`: they are pasted into C++ as they are, so a backslash begins an escape
sequence, and a quotation mark ends the string."""

import sys

import torch


@torch.library.custom_op("graphgate::letters", mutates_args=())
def letters(x: torch.Tensor, text: str) -> torch.Tensor:
    return x + len(text)


@letters.register_fake
def _(x, text):
    return torch.empty_like(x)


def path(x):
    return letters(x, "a\\n")


def quoted(x):
    return letters(x, 'say "x"')


x = torch.zeros(1)
wrong = False
for function in (path, quoted):
    eager = function(x).tolist()
    try:
        compiled = torch.compile(function, options={"cpp_wrapper": True})(x).tolist()
    except Exception as error:  # of the C++ compiler
        compiled = str(error)
    print(eager, compiled)
    wrong |= eager != compiled
sys.exit(wrong)
