"""Calls with complex numbers that PyTorch's own samples leave out, for record_op_cases.py.

    record_op_cases.py --calls complex_calls.py --out FILE.jsonl

calls() gives functions of no argument; what ATen calls they make is recorded.
"""

import math

import torch

aten = torch.ops.aten
INF, NAN = math.inf, math.nan

# Parts that are no numbers, infinite, signed zeros, or far apart.
SPECIAL = [
    complex(0.0, 0.0), complex(-0.0, 0.0), complex(0.0, -0.0), complex(1.5, -2.0), complex(-3.0, 0.0),
    complex(0.0, 4.0), complex(1e-3, 2e3), complex(INF, 1.0), complex(-INF, 0.5), complex(2.0, INF),
    complex(NAN, 1.0), complex(-1.0, NAN),
]
UNARY = (
    "abs angle sgn neg conj_physical exp log sqrt rsqrt reciprocal sin cos tan sinh cosh tanh asin acos "
    "atan sigmoid isnan isinf isfinite isreal square log1p expm1 exp2 log2 log10 logical_not positive"
).split()


def of(dtype, *sizes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(sizes, dtype=dtype, generator=generator)


def unary(dtype):
    plain = of(dtype, 2, 3)
    special = torch.tensor(SPECIAL, dtype=dtype)
    for name in UNARY:
        function = getattr(torch, name)
        for each in (plain, plain.t(), of(dtype), of(dtype, 0, 2), special):
            yield lambda f=function, x=each: f(x)
        in_place = getattr(torch.Tensor, name + "_", None)
        if in_place is not None:
            yield lambda f=in_place, x=plain: f(x.clone())


def binary(dtype):
    part = torch.float32 if dtype == torch.complex64 else torch.float64
    z, w = of(dtype, 2, 3), of(dtype, 2, 3, seed=1)
    special = torch.tensor(SPECIAL, dtype=dtype)
    others = [
        w, of(dtype, 3, 2, seed=2).t(), of(dtype, 3, seed=3), of(dtype, seed=4), of(part, 2, 3, seed=5),
        of(part, seed=6), of(torch.float64, 2, 3, seed=7), of(torch.complex128, 2, 3, seed=8),
        torch.tensor([1, -2, 3]), torch.tensor([True, False, True]), of(torch.float16, 2, 1, seed=9),
        2, -0.5, True, 2j, 1 - 2j, complex(INF, 0.0),
    ]
    for function in (torch.add, torch.sub, torch.mul, torch.div, torch.eq, torch.ne, torch.pow):
        for other in others:
            yield lambda f=function, y=other: f(z, y)
            if isinstance(other, torch.Tensor):
                yield lambda f=function, y=other: f(y, z)
        if function is not torch.pow:
            yield lambda f=function: f(special, special.flip(0))
    for x in (of(part, 2, 3), torch.tensor([1, 2]), torch.tensor([True, False]), of(part)):
        for number in (2j, complex(0.5, -1.0)):
            yield lambda a=x, b=number: torch.mul(a, b)
            yield lambda a=x, b=number: torch.add(a, b)
    yield lambda: torch.add(z, w, alpha=0.5 - 2j)
    yield lambda: torch.sub(z, w, alpha=2)
    yield lambda: torch.rsub(z, 1 + 1j)
    yield lambda: torch.pow(2, z)
    yield lambda: torch.pow(1j, z)
    for exponent in (2, 3, 0.5, -1, 0, 1j):
        yield lambda e=exponent: torch.pow(z, e)
    for name in ("add_", "sub_", "mul_", "div_"):
        for other in (w, of(part, 2, 3, seed=5), 2j, 3):
            yield lambda f=getattr(torch.Tensor, name), y=other: f(z.clone(), y)
        yield lambda f=getattr(torch.Tensor, name): f(z.clone()[:, 1:], w[:, :2])
    yield lambda: torch.mul(z, w, out=torch.empty(2, 3, dtype=dtype))
    yield lambda: torch.addcmul(z, w, w, value=1j)
    yield lambda: torch.addcdiv(z, w, w, value=2)
    yield lambda: torch.lerp(z, w, 0.25)
    yield lambda: torch.mul(z.conj(), w)
    yield lambda: torch.add(z.conj().imag, 1)


def parts(dtype):
    part = torch.float32 if dtype == torch.complex64 else torch.float64
    z = of(dtype, 3, 4)
    pairs = of(part, 3, 4, 2)
    special = torch.tensor([0.0, -0.0, INF, -INF, NAN, 2.0], dtype=part)
    for each in (z, z.t(), z[1:, ::2], of(dtype), of(dtype, 0), z.conj(), z.expand(2, 3, 4)):
        yield lambda x=each: aten.real.default(x)
        yield lambda x=each: aten.imag.default(x)
        yield lambda x=each: x.conj()
        yield lambda x=each: x.resolve_conj()
        yield lambda x=each: x.clone()
        if not each.is_conj():
            yield lambda x=each: torch.view_as_real(x)
    for each in (pairs, pairs.transpose(0, 1), pairs[1:], pairs[:, ::2], of(part, 2), of(part, 0, 2)):
        yield lambda x=each: torch.view_as_complex(x)
    for a, b in ((of(part, 2, 3), of(part, 2, 3, seed=1)), (of(part, 3, 2).t(), of(part, 2, 3)),
                 (of(part, 2, 1), of(part, 3)), (of(part), of(part, seed=1)), (special, special.flip(0))):
        yield lambda x=a, y=b: torch.complex(x, y)
        yield lambda x=a, y=b: torch.polar(x, y)
    for to in (torch.complex64, torch.complex128, torch.float32, torch.float64, torch.bool, torch.int64):
        yield lambda t=to: z.to(t)
        yield lambda t=to: aten._to_copy.default(z, dtype=t)
        yield lambda t=to: aten.copy_.default(torch.zeros(3, 4, dtype=t), z)
    for x in (of(part, 2, 3), torch.tensor([3, -4]), torch.tensor([True, False]), of(torch.bfloat16, 2)):
        yield lambda a=x: a.to(dtype)
        yield lambda a=x: torch.zeros(a.shape, dtype=dtype).copy_(a)


def moved(dtype):
    z, w = of(dtype, 3, 4), of(dtype, 3, 4, seed=1)
    mask = torch.tensor([[True, False, True, False]])
    index = torch.tensor([2, 0])
    yield lambda: torch.where(mask, z, w)
    yield lambda: torch.where(mask, z, torch.tensor(1j, dtype=dtype))
    yield lambda: torch.where(mask, z.real, w)
    yield lambda: aten.where.ScalarOther(mask, z, 0)
    yield lambda: z.masked_fill(mask, 1 - 1j)
    yield lambda: z.masked_fill(mask, torch.tensor(2.0))
    yield lambda: z.clone().masked_fill_(mask, 2j)
    yield lambda: torch.cat([z, w], 1)
    yield lambda: torch.cat([z, w.real], 0)
    yield lambda: torch.stack([z, w], -1)
    yield lambda: z[index]
    yield lambda: z.index_select(1, index)
    yield lambda: torch.gather(z, 1, index[None].expand(3, 2))
    yield lambda: z.clone().index_put_((index,), w[:2])
    yield lambda: z.index_add(0, index, w[:2], alpha=2j)
    yield lambda: z.scatter(1, index[None].expand(3, 2), w)
    yield lambda: z.flip(0).roll(1, 1)
    yield lambda: torch.nn.functional.pad(z, (1, 0), value=0.5)
    yield lambda: torch.full((2, 3), 1 - 2j, dtype=dtype)
    yield lambda: torch.full((2,), 2j)
    yield lambda: torch.full((2,), 3, dtype=dtype)
    yield lambda: torch.full_like(z, -1j)
    yield lambda: z.new_full((2,), 0.5 + 1j)
    yield lambda: torch.full_like(z.real, 2)
    yield lambda: torch.zeros(2, dtype=dtype)
    yield lambda: torch.ones_like(z)
    yield lambda: aten.scalar_tensor.default(1 - 1j, dtype=dtype)
    yield lambda: z.clone().fill_(1j)
    yield lambda: z.clone().zero_()
    yield lambda: torch.eye(2, dtype=dtype)
    yield lambda: torch.tril(z, -1)
    yield lambda: torch.diagonal(z)
    yield lambda: z.repeat(2, 1)
    yield lambda: z.unfold(1, 2, 1)
    yield lambda: torch.equal(z, w)


def reduced(dtype):
    z = of(dtype, 3, 4)
    special = torch.tensor(SPECIAL, dtype=dtype)
    for x in (z, z.t(), of(dtype), of(dtype, 0, 3), special):
        yield lambda a=x: a.sum()
        yield lambda a=x: a.mean()
        yield lambda a=x: a.prod()
        yield lambda a=x: torch.linalg.vector_norm(a)
        yield lambda a=x: a.any()
        yield lambda a=x: a.all()
    for dim in (0, -1):
        yield lambda d=dim: z.sum(d)
        yield lambda d=dim: z.sum(d, keepdim=True, dtype=torch.complex128)
        yield lambda d=dim: z.mean(d, keepdim=True)
        yield lambda d=dim: z.prod(d)
        yield lambda d=dim: z.cumsum(d)
        yield lambda d=dim: z.cumprod(d)
        yield lambda d=dim: z.var(d)
        for order in (0, 1, 2, 3, INF, -INF):
            yield lambda d=dim, o=order: torch.linalg.vector_norm(z, o, d)
    a, b = of(dtype, 2, 3), of(dtype, 3, 4, seed=1)
    yield lambda: a @ b
    yield lambda: a @ b.conj()
    yield lambda: a.mH.T @ b
    yield lambda: torch.mm(a.conj(), b)
    yield lambda: torch.bmm(a[None].expand(2, 2, 3), b[None].expand(2, 3, 4))
    yield lambda: torch.mv(a, b[:, 0])
    yield lambda: torch.dot(a[0], a[1])
    yield lambda: torch.vdot(a[0], a[1])
    yield lambda: torch.addmm(of(dtype, 4), a, b, beta=2j, alpha=0.5)
    yield lambda: torch.baddbmm(of(dtype, 2, 2, 4), a[None].expand(2, 2, 3), b[None].expand(2, 3, 4), beta=0)
    yield lambda: torch.einsum("ij,jk->ki", a, b)
    yield lambda: torch.outer(a[0], b[0])


def calls():
    for dtype in (torch.complex64, torch.complex128):
        for group in (unary, binary, parts, moved, reduced):
            yield from group(dtype)
