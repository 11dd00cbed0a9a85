import base64
import math
import operator
import sys

import torch

torch.set_grad_enabled(False)
torch._dynamo.config.capture_scalar_outputs = True
torch._dynamo.config.capture_dynamic_output_shape_ops = True
torch._dynamo.config.recompile_limit = 64
torch._inductor.config.fx_graph_cache = False
inf, nan = math.inf, math.nan


def memory(dtype, elements):
    """A storage with these elements, or with these bytes in base 64."""
    if not isinstance(elements, str):
        return torch.tensor(elements, dtype=dtype).untyped_storage()
    content = bytearray(base64.b64decode(elements))
    if not content:
        return torch.empty(0, dtype=torch.uint8).untyped_storage()
    return torch.frombuffer(content, dtype=torch.uint8).clone().untyped_storage()


def tensor(storage, dtype, sizes, strides, offset):
    return torch.empty(0, dtype=dtype).set_(storage, offset, sizes, strides)


class Side:
    """The programs as one way of running them has them, and what each call gave."""

    def __init__(self, name, wrap):
        self.name, self.wrap, self.modules, self.run, self.calls = name, wrap, {}, {}, []
        self.error = None

    def load(self, program, module):
        self.modules[program], self.run[program] = module, self.wrap(module)

    def state(self, program, target):
        module = self.modules[program]
        return getattr(module, module.names[target])

    def call(self, program, *inputs):
        outputs = self.run[program](*inputs)
        values = {f"output {i}": each for i, each in enumerate(outputs)}
        values |= {f"input {i}": each for i, each in enumerate(inputs)}
        module = self.modules[program]
        values |= {f"state '{n}'": getattr(module, a) for n, a in module.names.items()}
        self.calls.append(Call(values))
        return outputs


class Call:
    def __init__(self, values):
        tensors = {n: v.detach() for n, v in values.items() if isinstance(v, torch.Tensor)}
        self.values = values | {n: v.clone() for n, v in tensors.items()}
        self.places = {n: (list(v.size()), list(v.stride()), v.storage_offset()) for n, v in tensors.items()}
        owners = {}
        for name, value in tensors.items():
            if value.untyped_storage().nbytes() > 0:
                owners.setdefault(value.untyped_storage().data_ptr(), []).append(name)
        self.shared = [names for names in owners.values() if len(names) > 1]


def near(got, value, radius):
    if radius is None or got == value or (got != got and value != value):
        return True
    return abs(got - value) <= radius


def differences(call, wanted):
    """What one call gave otherwise than it must, a line each."""
    for name, want in wanted["values"].items():
        got = call.values.get(name)
        if not isinstance(want, tuple):
            is_tensor = isinstance(got, torch.Tensor)
            if is_tensor or (got != want and not (got != got and want != want)):
                yield f"{name} is {got!r}, expected {want!r}"
            continue
        dtype, sizes, strides, offset, values, radii = want
        if not isinstance(got, torch.Tensor):
            yield f"{name} is {got!r}, expected a tensor"
            continue
        if got.dtype != dtype or call.places[name][0] != sizes:
            yield f"{name} is {got.dtype} {call.places[name][0]}, expected {dtype} {sizes}"
            continue
        _, got_strides, got_offset = call.places[name]
        layout = [s for n, s in zip(sizes, strides) if n > 1]
        if got.numel() and [s for n, s in zip(sizes, got_strides) if n > 1] != layout:
            yield f"{name} has strides {got_strides}, expected {strides}"
        elif got.numel() and got_offset != offset:
            yield f"{name} begins at element {got_offset} of its storage, expected {offset}"
        if values is None:
            continue
        parts = torch.view_as_real(got.resolve_conj()) if dtype.is_complex else got
        exact = not (dtype.is_floating_point or dtype.is_complex)
        flat = parts.reshape(-1).to(torch.int64 if exact else torch.float64).tolist()
        radii = radii if isinstance(radii, list) else [radii] * len(values)
        wrong = [i for i, x in enumerate(flat) if not near(x, values[i], radii[i])]
        if wrong:
            i = wrong[0]
            within = f" +- {radii[i]:.3g}" if radii[i] else ""
            place = [i // (parts.stride() if parts.is_contiguous() else parts.contiguous().stride())[d] % n
                     for d, n in enumerate(parts.size())]
            yield (f"{name}: element {place} is {flat[i]!r}, expected {values[i]!r}{within} "
                   f"({len(wrong)} of {len(flat)} elements differ)")
    fresh = lambda groups: sorted(g for g in map(sorted, groups) if any(n.startswith("output") for n in g))
    if fresh(call.shared) != fresh(wanted["shared"]):
        yield f"memory is shared by {fresh(call.shared) or 'nobody'}, expected {fresh(wanted['shared']) or 'nobody'}"


def show(side):
    found = 0
    try:
        scenario(side)
    except Exception as error:
        side.error = error
    for number, (call, wanted) in enumerate(zip(side.calls, EXPECTED)):
        for line in differences(call, wanted):
            found += 1
            print(f"{side.name}: call {number}, {line}")
    if side.error is not None and not REFUSED:
        found += 1
        said = str(side.error).strip().splitlines() or [""]
        print(f"{side.name}: call {len(side.calls)} raises {type(side.error).__name__}: {said[0]}")
    if side.error is None and REFUSED:
        found += 1
        print(f"{side.name}: the calls go well, expected: {REFUSED}")
    if found == 0:
        print(f"{side.name}: as expected")
    return found
