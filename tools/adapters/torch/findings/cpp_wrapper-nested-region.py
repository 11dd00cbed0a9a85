"""A nested region that is called twice, with `cpp_wrapper`: C++ that does not compile."""

import sys

import torch


@torch.compiler.nested_compile_region
def region(x):
    return x @ x


def function(x):
    return region(region(x))


x = torch.eye(2) * 2
with torch.no_grad():
    eager = function(x).tolist()
    try:
        compiled = torch.compile(function, options={"cpp_wrapper": True})(x).tolist()
    except Exception as error:  # of the C++ compiler
        compiled = next((line for line in str(error).splitlines() if "error:" in line), str(error))
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
