#!/usr/bin/env python3
"""Exports golden/complex: small programs with complex numbers, as models hold them.

    PYTHONPATH=tools/adapters/torch make_complex_programs.py OUT_DIR [NAME...]

NAME.pt2 is the program as torch.export leaves it, NAME.core.pt2 the same after
run_decompositions(), NAME.safetensors and NAME.geometry.json are what eager mode computes on the CPU
(docs/formats.md, "Recordings"). Stack traces, which name files of the machine, are left out. Needs
PyTorch and safetensors.
"""

import json
import math
import os
import sys
import warnings
import zipfile

import torch
from graphgate_torch import export

C64 = torch.complex64


class Rotary(torch.nn.Module):
    """Llama's own rotary embedding (reference code of Llama 2 and 3)."""

    def __init__(self, dim=4, end=6, theta=10000.0):
        super().__init__()
        self.dim, self.end, self.theta = dim, end, theta

    def forward(self, xq, xk):
        freqs = 1.0 / (self.theta ** (torch.arange(0, self.dim, 2)[: self.dim // 2].float() / self.dim))
        freqs = torch.outer(torch.arange(self.end, dtype=torch.float32), freqs)
        freqs_cis = torch.polar(torch.ones_like(freqs), freqs)[: xq.shape[1]]
        xq_ = torch.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2))
        xk_ = torch.view_as_complex(xk.float().reshape(*xk.shape[:-1], -1, 2))
        freqs_cis = freqs_cis.view(1, xq_.shape[1], 1, xq_.shape[-1])
        xq_out = torch.view_as_real(xq_ * freqs_cis).flatten(3)
        xk_out = torch.view_as_real(xk_ * freqs_cis).flatten(3)
        return xq_out.type_as(xq), xk_out.type_as(xk)


class RotaryTable(torch.nn.Module):
    """The same with the table as a buffer, and positions that pick its rows."""

    def __init__(self, dim=4, end=8):
        super().__init__()
        angles = torch.outer(torch.arange(end).float(), 1.0 / 10 ** torch.arange(dim // 2).float())
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(angles), angles))

    def forward(self, x, positions):
        rows = self.freqs_cis[positions].unsqueeze(1)
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * rows).flatten(-2).to(x.dtype)


class PhaseVocoder(torch.nn.Module):
    """torchaudio's phase_vocoder: a spectrogram's time stretched, without the transforms."""

    def forward(self, spectrum, advance):
        steps = torch.arange(0, spectrum.shape[-1], 1.5)
        alphas = steps % 1.0
        phase_0 = spectrum[..., :1].angle()
        padded = torch.nn.functional.pad(torch.view_as_real(spectrum), (0, 0, 0, 2))
        padded = torch.view_as_complex(padded.contiguous())
        first = padded.index_select(-1, steps.long())
        second = padded.index_select(-1, (steps + 1).long())
        phase = second.angle() - first.angle() - advance
        phase = phase - 2 * math.pi * torch.round(phase / (2 * math.pi))
        phase = torch.cat([phase_0, (phase + advance)[..., :-1]], dim=-1)
        return torch.polar(alphas * second.abs() + (1 - alphas) * first.abs(), torch.cumsum(phase, -1))


class Products(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 4, dtype=C64))

    def forward(self, x, batch):
        y = torch.nn.functional.linear(x, self.weight)
        return y, x.mH @ x, torch.bmm(batch, batch.transpose(1, 2).conj()), y @ self.weight[:, 0].conj()


class Norms(torch.nn.Module):
    def forward(self, x):
        norm = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
        return x / norm, x.norm(), x.abs().amax(0), (x * x.conj()).real.sum(-1), x.abs().pow(2).mean()


class ConjugateProducts(torch.nn.Module):
    """Cross-correlation of two signals, and the angle between them."""

    def forward(self, x, y):
        cross = x.conj() * y
        power = torch.sqrt((x * x.conj()).real * (y * y.conj()).real)
        return cross / power, cross.sum(-1), cross.mean(0).angle(), (x.conj() + y.conj()).conj()


class ViewChains(torch.nn.Module):
    def forward(self, x):
        pairs = torch.view_as_real(x)
        swapped = torch.view_as_complex(pairs.flip(-1).contiguous())
        turned = torch.view_as_real(x.t()).select(-1, 1)
        return swapped, turned, torch.view_as_complex(pairs.reshape(-1, 2)).real, x.imag[1:].sum()


class InPlaceProduct(torch.nn.Module):
    """Floats that are turned where they lie."""

    def forward(self, x, turn):
        pairs = torch.view_as_complex(x.view(2, -1, 2))
        pairs.mul_(turn)
        pairs.mul_(2j)
        return x + 1, pairs.abs()


class Constants(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.tensor([1 + 2j, -0.5j, 3.0])

    def forward(self, x, r):
        y = (x * 2j + (1 - 2j)) * self.table
        full = torch.full((3,), 0.5 - 1j)
        return y - full, r * 1j, torch.add(x, y, alpha=1j), (x - 1) / (1 + 1j), 2 - y


class PartWrites(torch.nn.Module):
    def forward(self, x):
        y = x.clone()
        y.real.add_(1)
        y.imag.mul_(2)
        y.imag[0] = 0
        return y, y.real * y.imag


class Joined(torch.nn.Module):
    def forward(self, x, y, index):
        both = torch.cat([x, y], dim=0)
        return (both[index], torch.stack([x, y[:2]], 1).flip(0), both.roll(1, 0)[:, ::2],
                torch.gather(both, 0, index[:, None].expand(-1, 2)), both.permute(1, 0).contiguous())


class Chosen(torch.nn.Module):
    def forward(self, x, y):
        mask = x.real > 0
        return (torch.where(mask, x, 1j * y), x.masked_fill(mask, 2 - 1j), torch.where(mask, x, 0),
                x == y, (x != 0).any(), torch.nan_to_num(y.abs()))


class State(torch.nn.Module):
    """A diagonal recurrence with complex poles."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4, dtype=C64))
        self.poles = torch.nn.Parameter(torch.polar(torch.full((4,), 0.9), torch.arange(4).float()))
        self.out = torch.nn.Parameter(torch.randn(4, dtype=C64))

    def forward(self, x):
        self.state.mul_(self.poles).add_(x)
        return 2 * (self.out * self.state).sum().real, self.state.clone()


class DiagonalKernel(torch.nn.Module):
    """S4D's convolution kernel: a Vandermonde product of complex exponentials."""

    def __init__(self, features=2, states=3):
        super().__init__()
        self.c = torch.nn.Parameter(torch.view_as_real(torch.randn(features, states, dtype=C64)))
        self.log_dt = torch.nn.Parameter(torch.rand(features) - 3)
        self.log_real = torch.nn.Parameter(torch.log(0.5 * torch.ones(features, states)))
        self.imag = torch.nn.Parameter(math.pi * torch.arange(states).repeat(features, 1).float())

    def forward(self, u):
        dt = torch.exp(self.log_dt)
        c = torch.view_as_complex(self.c)
        a = -torch.exp(self.log_real) + 1j * self.imag
        dta = a * dt.unsqueeze(-1)
        k = dta.unsqueeze(-1) * torch.arange(u.shape[-1])
        c = c * (torch.exp(dta) - 1.0) / a
        kernel = 2 * (c.unsqueeze(-1) * torch.exp(k)).sum(1).real
        return u * kernel


class Doubles(torch.nn.Module):
    def forward(self, x, angle):
        wide = x.to(torch.complex128) * torch.polar(torch.ones_like(angle), angle)
        return wide, wide.to(C64), (wide + x).abs(), torch.complex(angle, -angle).reciprocal()


class Symbolic(torch.nn.Module):
    def forward(self, x, freqs):
        pairs = torch.view_as_complex(x.reshape(x.shape[0], -1, 2))
        return torch.view_as_real(pairs * freqs).flatten(1), pairs.sum(0)


def randn(*sizes, dtype=torch.float32):
    return torch.randn(*sizes, dtype=dtype)


def models():
    bf16 = torch.bfloat16
    yield "rotary", Rotary(), [(randn(1, 6, 2, 4), randn(1, 6, 1, 4))], None
    yield "rotary_bf16", RotaryTable(), [
        (randn(5, 2, 4, dtype=bf16), torch.tensor([0, 3, 1, 7, 2])),
        (randn(5, 2, 4, dtype=bf16), torch.arange(5)),
    ], None
    yield "phase_vocoder", PhaseVocoder(), [(randn(3, 6, dtype=C64), randn(3, 1))], None
    yield "products", Products(), [(randn(2, 4, dtype=C64), randn(2, 2, 3, dtype=C64))], None
    yield "norms", Norms(), [(randn(3, 4, dtype=C64),)], None
    yield "conjugate_products", ConjugateProducts(), [(randn(2, 5, dtype=C64), randn(2, 5, dtype=C64))], None
    yield "view_chains", ViewChains(), [(randn(3, 2, dtype=C64),)], None
    yield "in_place_product", InPlaceProduct(), [(randn(2, 4), randn(2, dtype=C64))], None
    yield "constants", Constants(), [(randn(3, dtype=C64), randn(3))], None
    yield "part_writes", PartWrites(), [(randn(3, 2, dtype=C64),)], None
    yield "joined", Joined(), [(randn(2, 4, dtype=C64), randn(3, 4, dtype=C64), torch.tensor([4, 0, 2]))], None
    yield "chosen", Chosen(), [(randn(2, 3, dtype=C64), randn(2, 3, dtype=C64))], None
    yield "state", State(), [(randn(4, dtype=C64),), (randn(4, dtype=C64),), (randn(4, dtype=C64),)], None
    yield "diagonal_kernel", DiagonalKernel(), [(randn(2, 5),)], None
    yield "doubles", Doubles(), [(randn(4, dtype=C64), randn(4, dtype=torch.float64))], None
    rows = torch.export.Dim("rows", min=2, max=16)
    yield "symbolic", Symbolic(), [
        (randn(3, 4), randn(2, dtype=C64)), (randn(5, 4), randn(2, dtype=C64)),
    ], ({0: rows}, None)


def drop_traces(path):
    """Writes the archive again without the stack traces of its nodes."""

    def clean(part):
        if isinstance(part, dict):
            return {
                key: clean(each)
                for key, each in part.items()
                if key not in ("stack_trace", "nn_module_stack", "source_fn_stack")
            }
        return [clean(each) for each in part] if isinstance(part, list) else part

    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in entries.items():
            if name.endswith("models/model.json"):
                data = json.dumps(clean(json.loads(data)), separators=(",", ":")).encode()
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    torch.manual_seed(39)
    for name, module, calls, dynamic in list(models()):
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        path = os.path.join(sys.argv[1], name + ".pt2")
        model = {"module": module, "calls": calls}
        if dynamic:
            model["dynamic_shapes"] = dynamic
        export.export(model, path)
        core = path.replace(".pt2", ".core.pt2")
        torch.export.save(torch.export.load(path).run_decompositions(), core)
        for each in (path, core):
            drop_traces(each)
            torch.export.load(each)
        print(name)


if __name__ == "__main__":
    main()
