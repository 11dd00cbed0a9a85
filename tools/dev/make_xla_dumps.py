#!/usr/bin/env python3
"""Makes dumps of XLA's buffer assignment for many programs of jax, which
`graphgate plan --verify --format xla` reads.

    python make_xla_dumps.py FOLDER             all programs, with jax 0.10.2 from PyPI
    python - FOLDER NAME... < make_xla_dumps.py  some of them, without the script's path in them:
                                                 so golden/xla was made

Programs are compiled for the CPU and not run. Sizes are small: what matters is how values come and
go. Of each dump the module after optimizations, the assignment and the live ranges are kept.
"""

import os
import sys
from pathlib import Path

FOLDER, NAMES = Path(sys.argv[1]), sys.argv[2:]
os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={FOLDER} --xla_dump_hlo_as_text --xla_force_host_platform_device_count=2"
    " --xla_dump_hlo_module_re=jit_p_.*"
)
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec

F = jnp.float32
PROGRAMS = []


def shape(*dims, dtype=F):
    return jax.ShapeDtypeStruct(dims, dtype)


def family(names, args, donate=()):
    for name, f in names.items():
        f = (lambda f: lambda *a: f(*a))(f)
        f.__name__ = name
        PROGRAMS.append((name, f, args, donate))


X = shape(16, 16); W = shape(16, 16); V = shape(64); I = shape(8, dtype=jnp.int32)
KEY = jax.ShapeDtypeStruct((2,), jnp.uint32)

# Matrix products, and what stands around them.
family({
    "mm": lambda x, w: x @ w,
    "mm_relu": lambda x, w: jax.nn.relu(x @ w) @ w,
    "mm_chain": lambda x, w: ((x @ w) @ w) @ (w @ x),
    "mm_t": lambda x, w: (x.T @ w).T + x,
    "mm_sum": lambda x, w: (x @ w).sum(),
    "mm_softmax": lambda x, w: jax.nn.softmax(x @ w, axis=-1),
    "mm_bf16": lambda x, w: (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(F),
    "mm_outs": lambda x, w: (x @ w, w @ x, (x @ w).sum(0)),
    "mm_norm": lambda x, w: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) @ w,
    "mm_grad": jax.grad(lambda x, w: (jnp.tanh(x @ w) ** 2).sum(), argnums=(0, 1)),
    "mm_hess": lambda x, w: jax.jvp(jax.grad(lambda x: (jnp.tanh(x @ w) ** 2).sum()), (x,), (w,)),
    "einsum": lambda x, w: jnp.einsum("ij,kj,ki->k", x, w, x),
    "kron": lambda x, w: jnp.kron(x, w)[:20, :20],
    "outer": lambda x, w: jnp.outer(x[0], w[0]) @ x,
    "mm_int8": lambda x, w: lax.dot(x.astype(jnp.int8), w.astype(jnp.int8), preferred_element_type=jnp.int32),
    "same_twice": lambda x, w: (x + w, x + w, x),
    "passes_through": lambda x, w: (w, x),
    "constant_out": lambda x, w: (jnp.arange(16.0), jnp.float32(3), x + w),
}, (X, W))
for n in (2, 4, 8, 16):
    def chain(x, w, n=n):
        held = []
        for i in range(n):
            x = jnp.sin(x @ w) if i % 3 else jax.nn.softmax(x @ w)
            held.append(x)
        return sum((h * float(i + 1) @ w for i, h in enumerate(reversed(held))), x)
    family({f"held_{n}": chain}, (X, W))

# Donated arguments.
family({
    "donate_add": lambda x, w: x + w,
    "donate_swap": lambda x, w: (w + 1, x - 1),
    "donate_mm": lambda x, w: (x @ w, w),
    "donate_late": lambda x, w: (x @ w + x, jnp.sin(x) @ w),
    "donate_sort": lambda x, w: (jnp.sort(x, 0), w.sum()),
    "donate_row": lambda x, w: (x.at[3].set(w[2]), x.sum()),
    "donate_two": lambda x, w: (x.at[3].set(w[2]), w.at[1].set(x[3])),
    "donate_cumsum": lambda x, w: (jnp.cumsum(x, 0), w @ x),
    "donate_transposed": lambda x, w: (x.T, w + x),
    "donate_scan": lambda x, w: lax.scan(lambda c, r: (c * r[None], c.sum()), x, w),
}, (X, W), donate=(0, 1))

# Loops.
def rnn(x, w):
    def step(c, r):
        c = jnp.tanh(c @ w + r)
        return c, c * 2
    return lax.scan(step, jnp.zeros((16,)), x)

def lstm(x, w):
    def step(carry, r):
        h, c = carry
        f, i = jax.nn.sigmoid(h @ w + r), jax.nn.sigmoid(h @ w.T - r)
        c = f * c + i * jnp.tanh(r)
        return (jnp.tanh(c) * f, c), (c, h)
    return lax.scan(step, (x[0], x[1]), x)

family({
    "scan_rnn": rnn,
    "scan_lstm": lstm,
    "scan_rnn_grad": jax.grad(lambda x, w: rnn(x, w)[1].sum(), argnums=(0, 1)),
    "scan_lstm_grad": jax.grad(lambda x, w: lstm(x, w)[1][0].sum(), argnums=(0, 1)),
    "scan_remat_grad": jax.grad(lambda x, w: lax.scan(jax.checkpoint(lambda c, r: (jnp.sin(c @ w) + r, c.sum())), x[0], x)[0].sum(), argnums=(0, 1)),
    "scan_unrolled": lambda x, w: lax.scan(lambda c, r: (c @ w + r, c), x[0], x, unroll=4),
    "scan_reverse": lambda x, w: lax.scan(lambda c, r: (c @ w + r, c), x[0], x, reverse=True),
    "scan_nested": lambda x, w: lax.scan(lambda c, r: (lax.scan(lambda d, s: (d * s, d.sum()), c, w)[0] + r, c.sum()), x[0], x),
    "fori_set": lambda x, w: lax.fori_loop(1, 10, lambda i, c: c.at[i].set(c[i - 1] + w[i]), x),
    "fori_swap": lambda x, w: lax.fori_loop(0, 10, lambda i, c: (c[1], c[0]), (x, w)),
    "fori_rotate": lambda x, w: lax.fori_loop(0, 7, lambda i, c: (c[1], c[2] + 1, c[0]), (x, w, x + w)),
    "fori_fib": lambda x, w: lax.fori_loop(0, 7, lambda i, c: (c[1], c[0] + c[1]), (x, w)),
    "fori_same": lambda x, w: lax.fori_loop(0, 7, lambda i, c: (c[0] + 1, c[0] * 2), (x, x)),
    "fori_const": lambda x, w: lax.fori_loop(0, 7, lambda i, c: (c[0] @ w, c[1]), (x, w)),
    "fori_mm": lambda x, w: lax.fori_loop(0, 7, lambda i, c: c @ w, x),
    "while_sum": lambda x, w: lax.while_loop(lambda c: c.sum() < 1000, lambda c: c * 1.5 + w, x),
    "while_pair": lambda x, w: lax.while_loop(lambda c: (c[0] @ c[1]).sum() < 1000, lambda c: (c[0] + 1, c[1] @ c[0]), (x, w)),
    "while_after": lambda x, w: (lax.while_loop(lambda c: c.sum() < 1000, lambda c: c * 1.5 + w, x + 1), x @ w),
    "while_in_while": lambda x, w: lax.while_loop(lambda c: c.sum() < 1e3, lambda c: lax.while_loop(lambda d: d.max() < 5, lambda d: d + w, c) * 2, x),
    "while_two": lambda x, w: lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, x) @ lax.while_loop(lambda c: c.sum() < 9, lambda c: c + 1, w),
    "newton": lambda x, w: lax.fori_loop(0, 5, lambda i, c: c - (c * c - x) / (2 * c + 1e-3), w),
    "power": lambda x, w: lax.fori_loop(0, 9, lambda i, v: (x @ v) / jnp.linalg.norm(x @ v), w[0]),
    "associative": lambda x, w: lax.associative_scan(jnp.add, x @ w),
    "map": lambda x, w: lax.map(lambda r: r @ w, x),
}, (X, W))
family({"donate_fori": lambda x, w: lax.fori_loop(0, 10, lambda i, c: c.at[i].set(c[i - 1] + w[i]), x),
        "donate_while": lambda x, w: lax.while_loop(lambda c: c.sum() < 1000, lambda c: c * 1.5 + w, x),
        "donate_fori_swap": lambda x, w: lax.fori_loop(0, 10, lambda i, c: (c[1], c[0]), (x, w))},
       (X, W), donate=(0, 1))

# Branches.
P = shape(dtype=jnp.bool_)
family({
    "cond": lambda x, w, p: lax.cond(p, lambda a: a @ w, lambda a: a + w, x),
    "cond_sort": lambda x, w, p: lax.cond(p, lambda a: jnp.sort(a, 0), lambda a: a, x) + w,
    "cond_pair": lambda x, w, p: lax.cond(p, lambda a, b: (b, a), lambda a, b: (a, b), x, w),
    "cond_in_loop": lambda x, w, p: lax.fori_loop(0, 5, lambda i, c: lax.cond(i % 2 == 0, lambda a: a @ w, lambda a: a + 1, c), x),
    "loop_in_cond": lambda x, w, p: lax.cond(p, lambda a: lax.fori_loop(0, 5, lambda i, c: c @ w, a), lambda a: a, x),
    "cond_in_cond": lambda x, w, p: lax.cond(p, lambda a: lax.cond(a.sum() > 0, jnp.sin, lambda b: b @ w, a), lambda a: a * 2, x) @ x,
    "cond_two": lambda x, w, p: lax.cond(p, jnp.sin, jnp.cos, x) @ lax.cond(p, jnp.exp, jnp.abs, w),
    "cond_outer": lambda x, w, p: (lax.cond(p, lambda: x @ w, lambda: x - w), x @ x),
    "cond_grad": lambda x, w, p: jax.grad(lambda x: lax.cond(p, lambda a: (a @ w).sum(), lambda a: jnp.sin(a).sum(), x))(x),
    "switch": lambda x, w, p: lax.switch(jnp.int32(x.sum()), [lambda a: a, lambda a: a @ w, lambda a: jnp.sort(a), lambda a: a * 3], x),
    "switch_loop": lambda x, w, p: lax.fori_loop(0, 6, lambda i, c: lax.switch(i % 3, [lambda a: a @ w, lambda a: a + w, lambda a: a], c), x),
    "select": lambda x, w, p: jnp.where(p, x @ w, x),
    "cond_int": lambda x, w, p: lax.cond(p, lambda: (1, x), lambda: (2, w)),
}, (X, W, P))
family({"donate_cond": lambda x, w, p: lax.cond(p, lambda a, b: (a @ b, b), lambda a, b: (b, a + 1), x, w),
        "donate_cond_set": lambda x, w, p: lax.cond(p, lambda a: a.at[1].set(w[1]), lambda a: a, x)},
       (X, W, P), donate=(0, 1))

# Sorts, searches, indices.
family({
    "sort": lambda x, v, i: jnp.sort(x, 0),
    "argsort": lambda x, v, i: jnp.argsort(x, 1),
    "sort_pairs": lambda x, v, i: lax.sort((v, jnp.cos(v), jnp.arange(64)), num_keys=2),
    "sort_kept": lambda x, v, i: jnp.sort(v) + v,
    "top_k": lambda x, v, i: lax.top_k(x, 3),
    "median": lambda x, v, i: jnp.median(x, axis=1),
    "unique": lambda x, v, i: jnp.unique(i, size=8),
    "search": lambda x, v, i: jnp.searchsorted(jnp.sort(v), x[0]),
    "nonzero": lambda x, v, i: jnp.nonzero(v > 0, size=20),
    "take": lambda x, v, i: x[i] @ x,
    "take_along": lambda x, v, i: jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
    "scatter_add": lambda x, v, i: x.at[i].add(v[:16]) + x,
    "scatter_max": lambda x, v, i: x.at[i].max(1.0),
    "scatter_set": lambda x, v, i: v.at[i].set(0.0),
    "segment_sum": lambda x, v, i: jax.ops.segment_sum(x[:8], i, 5),
    "dus": lambda x, v, i: lax.dynamic_update_slice(x, x[:4, :4] * 2, (i[0], i[1])),
    "dus_twice": lambda x, v, i: lax.dynamic_update_slice(lax.dynamic_update_slice(x, x[:4, :4], (i[0], i[1])), x[4:8, 4:8], (i[1], i[2])),
    "dus_shift": lambda x, v, i: lax.dynamic_update_slice(x, x[:15] * 2, (1, 0)),
    "dus_kept": lambda x, v, i: (lax.dynamic_update_slice(jnp.sin(x), x[:4, :4], (i[0], i[1])), jnp.sin(x) @ x),
    "roll": lambda x, v, i: jnp.roll(x, 3, 0) @ x,
    "flip": lambda x, v, i: x[::-1] + x,
    "pad": lambda x, v, i: jnp.pad(x, 2)[1:17, 1:17] @ x,
    "concat": lambda x, v, i: jnp.concatenate([x, x @ x, x * 2]) @ x,
    "concat_rows": lambda x, v, i: jnp.concatenate([x @ x, x * 2], 1).T,
    "stack": lambda x, v, i: jnp.stack([x, x + 1, x @ x]).sum(0),
    "cumsum": lambda x, v, i: jnp.cumsum(x, 0),
    "cumprod": lambda x, v, i: jnp.cumprod(v),
    "argmax": lambda x, v, i: (x.argmax(0), x.max(1)),
    "histogram": lambda x, v, i: jnp.bincount(i, length=10),
    "one_hot": lambda x, v, i: jax.nn.one_hot(i, 16) @ x,
    "iota": lambda x, v, i: jnp.arange(64) + i.sum(),
    "bits": lambda x, v, i: lax.bitcast_convert_type(x, jnp.int32) ^ 3,
    "int4": lambda x, v, i: (x.astype(jnp.int4) + 1).astype(jnp.int32),
    "uint8": lambda x, v, i: (x > 0).astype(jnp.uint8).sum(0),
    "complex": lambda x, v, i: jnp.abs(lax.complex(x, x.T) @ x),
    "fft": lambda x, v, i: jnp.fft.ifft2(jnp.fft.fft2(x) * 2).real,
    "rfft": lambda x, v, i: jnp.fft.rfft(v),
    "triangle": lambda x, v, i: jnp.tril(x) @ jnp.triu(x),
    "empty": lambda x, v, i: (x[:0] @ x, x.sum()),
    "scalar": lambda x, v, i: v[0] * 2 + v[1],
}, (X, V, I))
family({"donate_scatter": lambda x, v, i: x.at[i].add(v[:16]),
        "donate_dus": lambda x, v, i: lax.dynamic_update_slice(x, x[:4, :4] * 2, (i[0], i[1])),
        "donate_dus_shift": lambda x, v, i: lax.dynamic_update_slice(x, x[:15] * 2, (1, 0)),
        "donate_sort_pairs": lambda x, v, i: lax.sort((v, jnp.cos(v)), num_keys=1)}, (X, V, I), donate=(0, 1))

# Linear algebra and random numbers.
family({
    "cholesky": lambda x: jnp.linalg.cholesky(x @ x.T + 20 * jnp.eye(16)),
    "qr": lambda x: jnp.linalg.qr(x), "svd": lambda x: jnp.linalg.svd(x), "inv": lambda x: jnp.linalg.inv(x),
    "eigh": lambda x: jnp.linalg.eigh(x + x.T), "det": lambda x: jnp.linalg.det(x), "expm": lambda x: jax.scipy.linalg.expm(x),
    "solve": lambda x: jnp.linalg.solve(x, x + 1), "triangular": lambda x: lax.linalg.triangular_solve(x, x + 1, lower=True),
    "inv_grad": jax.grad(lambda x: jnp.linalg.inv(x).sum()), "chol_grad": jax.grad(lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(16)).sum()),
    "logsumexp": lambda x: jax.nn.logsumexp(x, 1), "callback": lambda x: jax.pure_callback(lambda a: a * 2, X, x) + 1,
    "prints": lambda x: (jax.debug.print("{}", x.sum()), x + 1)[1], "erf": lambda x: jax.scipy.special.erf(x) @ x,
    "gamma": lambda x: jax.scipy.special.gammaln(x), "norm": lambda x: jnp.linalg.norm(x, axis=0),
    "reduce_many": lambda x: (x.sum(0), x.max(0), x.min(1), x.prod()), "variance": lambda x: x.var(0),
    "reduce_pair": lambda x: lax.reduce((x, x * 2), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)),
    "barrier": lambda x: lax.optimization_barrier((x @ x, x + 1)),
    "vmap_mm": lambda x: jax.vmap(lambda r: jnp.outer(r, r) @ x)(x), "jacobian": lambda x: jax.jacfwd(lambda r: jnp.sin(x @ r))(x[0]),
    "jacrev": lambda x: jax.jacrev(lambda r: jnp.sin(x @ r))(x[0]), "hessian": lambda x: jax.hessian(lambda r: jnp.sin(x @ r).sum())(x[0]),
    "dct": lambda x: jnp.convolve(x[0], x[1]), "interp": lambda x: jnp.interp(x[0], x[1], x[2]),
    "resize": lambda x: jax.image.resize(x, (32, 32), "linear") @ jnp.ones((32, 4)), "poly": lambda x: jnp.polyval(x[0], x[1]),
}, (X,))
family({"normal": lambda k: jax.random.normal(k, (100,)), "permute": lambda k: jax.random.permutation(k, 100),
        "categorical": lambda k: jax.random.categorical(k, jnp.ones((4, 9))), "split": lambda k: jax.random.split(k, 5),
        "gamma_draw": lambda k: jax.random.gamma(k, 2.0, (8,)), "dropout": lambda k: jnp.where(jax.random.bernoulli(k, 0.5, (16, 16)), 2.0, 0.0)}, (KEY,))

# Convolutions and pools.
IMG = shape(2, 8, 8, 3); KER = shape(3, 3, 3, 4); KER2 = shape(3, 3, 4, 4)
conv = lambda a, b, s=1: lax.conv_general_dilated(a, b, (s, s), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
pool = lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
net = lambda a, b, c: pool(jax.nn.relu(conv(jax.nn.relu(conv(a, b)), c))).mean((1, 2))
family({
    "conv": lambda a, b, c: conv(a, b), "conv_stride": lambda a, b, c: conv(a, b, 2), "conv_net": net,
    "conv_grad": jax.grad(lambda a, b, c: (net(a, b, c) ** 2).sum(), argnums=(0, 1, 2)),
    "conv_residual": lambda a, b, c: conv(conv(a, b), c) + conv(a, b),
    "max_pool": lambda a, b, c: pool(a), "max_pool_grad": jax.grad(lambda a, b, c: pool(a).sum()),
    "avg_pool": lambda a, b, c: lax.reduce_window(a, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME") / 9,
    "conv_depth": lambda a, b, c: lax.conv_general_dilated(a, jnp.ones((3, 3, 1, 3)), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=3),
    "conv_back": lambda a, b, c: lax.conv_transpose(a, jnp.swapaxes(b, 2, 3)[..., :4, :], (2, 2), "SAME") if False else lax.conv_transpose(a, b, (2, 2), "SAME"),
    "batch_norm": lambda a, b, c: (a - a.mean((0, 1, 2))) / jnp.sqrt(a.var((0, 1, 2)) + 1e-5),
}, (IMG, KER, KER2))

# A transformer: forward, gradient, a step of training, a step of decoding.
D, H, T, L = 16, 2, 8, 2
def weights():
    layer = {"q": X, "k": X, "v": X, "o": X, "up": shape(D, 4 * D), "down": shape(4 * D, D), "g": shape(D)}
    return {"embed": shape(32, D), "layers": [layer for _ in range(L)]}
TOK = shape(2, T, dtype=jnp.int32)
def attend(l, h, mask):
    q, k, v = (jnp.reshape(h @ l[n], h.shape[:2] + (H, D // H)) for n in "qkv")
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / 3.0
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(mask, s, -1e9)), v).reshape(h.shape) @ l["o"]
def forward(w, t):
    h = w["embed"][t]; mask = jnp.tril(jnp.ones((T, T), bool))
    for l in w["layers"]:
        h = h + attend(l, h / jnp.sqrt((h * h).mean(-1, keepdims=True) + 1e-6) * l["g"], mask)
        h = h + jax.nn.gelu(h @ l["up"]) @ l["down"]
    return h @ w["embed"].T
def forward_scan(w, t):
    h = w["embed"][t]; mask = jnp.tril(jnp.ones((T, T), bool))
    stacked = jax.tree.map(lambda *a: jnp.stack(a), *w["layers"])
    return lax.scan(lambda h, l: (h + attend(l, h, mask) + jax.nn.gelu(h @ l["up"]) @ l["down"], None), h, stacked)[0] @ w["embed"].T
def loss(w, t, f=forward):
    return -jnp.take_along_axis(jax.nn.log_softmax(f(w, t)), jnp.roll(t, -1, 1)[..., None], -1).mean()
def train(w, m, t):
    g = jax.grad(loss)(w, t)
    m = jax.tree.map(lambda a, b: 0.9 * a + b, m, g)
    return jax.tree.map(lambda a, b: a - 0.1 * b, w, m), m
def adam(w, m, v, t):
    g = jax.grad(lambda w, t: loss(w, t, forward_scan))(w, t)
    m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, m, g); v = jax.tree.map(lambda a, b: 0.99 * a + 0.01 * b * b, v, g)
    return jax.tree.map(lambda a, b, c: a - 0.1 * b / (jnp.sqrt(c) + 1e-8), w, m, v), m, v
def decode(cache, w, t, pos):
    h = w["embed"][t[:, 0]]
    out = []
    for (kc, vc), l in zip(cache, w["layers"]):
        kc = lax.dynamic_update_slice(kc, (h @ l["k"])[:, None], (0, pos, 0)); vc = lax.dynamic_update_slice(vc, (h @ l["v"])[:, None], (0, pos, 0))
        s = jax.nn.softmax(jnp.where(jnp.arange(T) <= pos, jnp.einsum("bd,btd->bt", h @ l["q"], kc), -1e9))
        h = h + jnp.einsum("bt,btd->bd", s, vc) @ l["o"]; out.append((kc, vc))
    return out, h @ w["embed"].T
CACHE = [(shape(2, T, D), shape(2, T, D)) for _ in range(L)]
def generate(cache, w, t):
    def step(c, pos):
        cache, t = c
        cache, logits = decode(cache, w, t, pos)
        return (cache, logits.argmax(-1)[:, None].astype(jnp.int32)), t[:, 0]
    return lax.scan(step, (cache, t[:, :1]), jnp.arange(T))
for name, f, a, d in [("transformer", forward, (weights(), TOK), ()), ("transformer_scan", forward_scan, (weights(), TOK), ()),
                      ("transformer_grad", jax.grad(loss), (weights(), TOK), ()), ("transformer_scan_grad", jax.grad(lambda w, t: loss(w, t, forward_scan)), (weights(), TOK), ()),
                      ("transformer_train", train, (weights(), weights(), TOK), (0, 1)), ("transformer_adam", adam, (weights(), weights(), weights(), TOK), (0, 1, 2)),
                      ("decode", decode, (CACHE, weights(), TOK, shape(dtype=jnp.int32)), (0,)), ("decode_kept", decode, (CACHE, weights(), TOK, shape(dtype=jnp.int32)), ()),
                      ("generate", generate, (CACHE, weights(), TOK), (0,)), ("generate_kept", generate, (CACHE, weights(), TOK), ())]:
    f = (lambda f: lambda *a: f(*a))(f); f.__name__ = name
    PROGRAMS.append((name, f, a, d))

# Two devices.
mesh = Mesh(np.array(jax.devices()[:2]), ("d",)); S = PartitionSpec("d")
def spread(name, f, args=(X,)):
    g = jax.shard_map(f, mesh=mesh, in_specs=S, out_specs=S)
    h = lambda *a: g(*a); h.__name__ = name
    PROGRAMS.append((name, h, args, ()))
spread("psum", lambda a: lax.psum(a, "d") + a)
spread("all_gather", lambda a: lax.all_gather(a, "d", tiled=True)[:8] + a)
spread("ppermute", lambda a: lax.ppermute(a, "d", [(0, 1), (1, 0)]) @ jnp.ones((16, 16)))
spread("all_to_all", lambda a: lax.all_to_all(a, "d", 1, 0, tiled=True).reshape(a.shape) + a)
spread("scatter_sum", lambda a: jnp.tile(lax.psum_scatter(a, "d", scatter_dimension=0, tiled=True), (2, 1)))
spread("ring", lambda a: lax.fori_loop(0, 2, lambda i, c: (lax.ppermute(c[0], "d", [(0, 1), (1, 0)]), c[1] + c[0]), (a, jnp.zeros_like(a) + a))[1])



def keep_three_files():
    """NAME.txt, NAME-buffer-assignment.txt and NAME-live-range.txt of each program; no objects and code."""
    for path in sorted(FOLDER.glob("module_*")):
        if path.is_dir():
            for inner in path.iterdir():
                inner.unlink()
            path.rmdir()
            continue
        name = path.name.split(".jit_p_")[-1]
        middle, _, ending = name.partition(".cpu_after_optimizations")
        if ending in (".txt", "-buffer-assignment.txt", "-live-range.txt"):
            path.rename(FOLDER / (middle + ending))
        else:
            path.unlink()


def main():
    failed = 0
    chosen = [one for one in PROGRAMS if not NAMES or one[0] in NAMES]
    for name, function, args, donate in chosen:
        function.__name__ = "p_" + name
        try:
            jax.jit(function, donate_argnums=donate).lower(*args).compile()
        except Exception as error:  # a release of jax that lacks something: the others are made
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0]}")
    keep_three_files()
    print(f"{len(chosen)} programs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
