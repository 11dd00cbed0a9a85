"""Small modules in plain PyTorch, of families that no configuration of transformers has.

MODELS holds for each name a function of a dtype that returns what graphgate_torch.export.load returns.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

MODELS = {}


def model(*inputs):
    """Registers a class of modules. `inputs`: for each, a function that draws it."""
    def register(kind):
        def make(dtype):
            torch.manual_seed(0)
            module = kind().eval().to(dtype)
            calls = [tuple(draw() for draw in inputs) for _ in range(2)]
            calls = [tuple(x.to(dtype) if x.is_floating_point() else x for x in call) for call in calls]
            return {"module": module, "calls": calls}
        MODELS[kind.__name__.lower()] = make
        return kind
    return register


def normal(*sizes):
    return lambda: torch.randn(*sizes)


def uniform(*sizes):
    return lambda: torch.rand(*sizes)


def indices(limit, *sizes):
    return lambda: torch.randint(limit, sizes)


@model(normal(2, 3, 16, 16), uniform(2))
class DiffusionUNet(nn.Module):
    """Group norms, a step's embedding, attention in the middle, skips, and rows made larger."""

    def __init__(self, width=8):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(width, 16), nn.SiLU(), nn.Linear(16, width))
        self.enter = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.Conv2d(width, width, 3, stride=2, padding=1)
        self.norms = nn.ModuleList(nn.GroupNorm(4, width) for _ in range(3))
        self.middle = nn.Conv2d(width, width, 3, padding=1)
        self.attention = nn.MultiheadAttention(width, 2, batch_first=True)
        self.up = nn.Conv2d(2 * width, width, 3, padding=1)
        self.leave = nn.Conv2d(width, 3, 1)

    def forward(self, x, step):
        rates = torch.exp(-math.log(10000.0) * torch.arange(4, device=x.device, dtype=x.dtype) / 4)
        angles = step[:, None] * rates[None]
        when = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))[:, :, None, None]
        first = F.silu(self.norms[0](self.enter(x))) + when
        small = F.silu(self.norms[1](self.middle(self.down(first))))
        rows = small.flatten(2).transpose(1, 2)
        rows = rows + self.attention(rows, rows, rows, need_weights=False)[0]
        small = rows.transpose(1, 2).reshape_as(small)
        large = F.interpolate(small, scale_factor=2.0, mode="nearest")
        return self.leave(F.silu(self.norms[2](self.up(torch.cat([large, first], dim=1)))))


@model(normal(2, 1, 16, 16))
class SegmentationUNet(nn.Module):
    """Pooling with indices, transposed convolutions, bilinear rows, a crop."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 8, 3, padding=1)
        self.batch = nn.BatchNorm2d(8)
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.out = nn.Conv2d(4, 2, 1)

    def forward(self, x):
        first = F.relu(self.one(x))
        pooled, at = F.max_pool2d(first, 2, return_indices=True)
        deep = F.leaky_relu(self.batch(self.two(pooled)), 0.1)
        wide = self.up(deep) + F.max_unpool2d(pooled, at, 2)
        return F.log_softmax(F.interpolate(self.out(wide), size=(16, 16), mode="bilinear"), dim=1)


@model(normal(2, 6, 4))
class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = nn.LSTM(4, 8, num_layers=2, bidirectional=True, batch_first=True)
        self.out = nn.Linear(16, 3)

    def forward(self, x):
        rows, (hidden, cell) = self.rows(x)
        return self.out(rows), hidden, cell


@model(normal(6, 2, 4), normal(1, 2, 8))
class Gru(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.cell = nn.GRU(4, 8), nn.GRUCell(8, 8)

    def forward(self, x, state):
        rows, state = self.rows(x, state)
        return self.cell(rows[-1], state[0])


@model(normal(2, 5, 4))
class PlainRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rows, self.cell = nn.RNN(4, 8, nonlinearity="relu", batch_first=True), nn.LSTMCell(8, 6)

    def forward(self, x):
        rows, _ = self.rows(x)
        state = None
        for step in rows.unbind(1):
            state = self.cell(step, state)
        return state


@model(normal(2, 8))
class GanGenerator(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter = nn.Linear(8, 8 * 4 * 4)
        self.layers = nn.Sequential(
            nn.BatchNorm2d(8), nn.ReLU(), nn.ConvTranspose2d(8, 4, 4, stride=2, padding=1, bias=False),
            nn.InstanceNorm2d(4, affine=True), nn.PReLU(4), nn.Conv2d(4, 12, 3, padding=1),
            nn.PixelShuffle(2), nn.Tanh(),
        )

    def forward(self, noise):
        return self.layers(self.enter(noise).unflatten(1, (8, 4, 4)))


@model(normal(2, 3, 16, 16))
class GanDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.utils.parametrizations.spectral_norm(nn.Conv2d(3, 4, 4, 2, 1)), nn.LeakyReLU(0.2),
            nn.utils.parametrizations.weight_norm(nn.Conv2d(4, 8, 4, 2, 1)), nn.ELU(), nn.ReflectionPad2d(1),
            nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 1),
        )

    def forward(self, x):
        return torch.sigmoid(self.layers(x))


@model(normal(3, 4), indices(20, 9), lambda: torch.tensor([0, 4, 6]))
class Dlrm(nn.Module):
    """Bags of embeddings, and the products of all pairs."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(20, 8, mode="sum")
        self.mean = nn.EmbeddingBag(20, 8, mode="mean", padding_idx=0)
        self.most = nn.EmbeddingBag(20, 8, mode="max")
        self.bottom = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.top = nn.Linear(8 + 6, 1)

    def forward(self, dense, words, offsets):
        x = self.bottom(dense)
        rows = torch.stack([x, *(bag(words, offsets) for bag in (self.bag, self.mean, self.most))], dim=1)
        products = torch.bmm(rows, rows.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, offset=-1)
        return torch.sigmoid(self.top(torch.cat([x, products[:, i, j]], dim=1)))


@model(normal(7, 4), indices(7, 2, 15))
class GraphNetwork(nn.Module):
    """Messages along edges, summed, meant and maximized at nodes; attention over a node's edges."""

    def __init__(self):
        super().__init__()
        self.message, self.score = nn.Linear(8, 8), nn.Linear(8, 1)
        self.out = nn.Linear(24, 3)

    def forward(self, nodes, edges):
        source, target = edges
        pairs = self.message(torch.cat([nodes[source], nodes.index_select(0, target)], dim=-1))
        count = nodes.size(0)
        scores = F.leaky_relu(self.score(pairs)).squeeze(-1)
        most = torch.full((count,), -1e4, dtype=scores.dtype).scatter_reduce(0, target, scores, "amax")
        weights = torch.exp(scores - most[target])
        total = torch.zeros(count, dtype=scores.dtype).index_add(0, target, weights)
        pairs = pairs * (weights / total[target].clamp_min(1e-6))[:, None]
        at = target[:, None].expand_as(pairs)
        empty = pairs.new_zeros(count, 8)
        summed = empty.scatter_add(0, at, pairs)
        meant = empty.scatter_reduce(0, at, pairs, "mean", include_self=False)
        largest = empty.scatter_reduce(0, at, pairs, "amax", include_self=False)
        return self.out(torch.cat([summed, meant, largest], dim=-1)), torch.bincount(target, minlength=7)


@model(normal(7, 4), uniform(7, 7))
class GraphConvolution(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 8), nn.Linear(8, 2)

    def forward(self, nodes, near):
        near = (near > 0.5).to(nodes.dtype) + torch.eye(7, dtype=nodes.dtype)
        degree = near.sum(-1).rsqrt()
        near = torch.diag(degree) @ near @ torch.diag(degree)
        return near @ self.two(torch.relu(near @ self.one(nodes)))


@model(normal(4, 6))
class CouplingFlow(nn.Module):
    """Affine couplings, an LU matrix, a Gaussian's density."""

    def __init__(self):
        super().__init__()
        self.nets = nn.ModuleList(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 6)) for _ in range(2))
        self.matrix = nn.Parameter(torch.eye(6) + 0.1 * torch.randn(6, 6))

    def forward(self, x):
        logs = x.new_zeros(x.size(0))
        for net in self.nets:
            a, b = x.chunk(2, dim=-1)
            scale, shift = net(a).chunk(2, dim=-1)
            scale = torch.tanh(scale)
            x = torch.cat([b * scale.exp() + shift, a], dim=-1)
            logs = logs + scale.sum(-1)
        lower = torch.tril(self.matrix, -1) + torch.eye(6, dtype=x.dtype)
        x = x @ (lower @ torch.triu(self.matrix)).t()
        logs = logs + torch.log(torch.abs(torch.diagonal(self.matrix))).sum()
        return x, logs - 0.5 * (x.square().sum(-1) + 6 * math.log(2 * math.pi))


@model(uniform(3, 4), normal(3, 4, 15))
class SplineFlow(nn.Module):
    """Rational quadratic splines: searchsorted, gather, cumulated widths."""

    def forward(self, x, raw):
        widths, heights, slopes = raw.split([5, 5, 5], dim=-1)
        slopes = F.softplus(F.pad(slopes[..., :4], (1, 1), value=0.54))
        edges = F.pad(torch.cumsum(F.softmax(widths, -1), -1), (1, 0))
        levels = F.pad(torch.cumsum(F.softmax(heights, -1), -1), (1, 0))
        at = (torch.searchsorted(edges, x[..., None], right=True) - 1).clamp(0, 4)
        left, low = edges.gather(-1, at), levels.gather(-1, at)
        width, height = edges.gather(-1, at + 1) - left, levels.gather(-1, at + 1) - low
        first, last = slopes.gather(-1, at), slopes.gather(-1, at + 1)
        ratio = height / width
        t = (x[..., None] - left) / width
        between = t * (1 - t)
        return (low + height * (ratio * t.pow(2) + first * between)
                / (ratio + (first + last - 2 * ratio) * between)).squeeze(-1)


@model(normal(3, 10), normal(3, 4))
class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(10, 8), nn.Linear(4, 10)

    def forward(self, x, noise):
        mean, logs = F.gelu(self.enter(x), approximate="tanh").chunk(2, -1)
        back = self.leave(mean + torch.exp(0.5 * logs) * noise)
        divergence = -0.5 * torch.mean(1 + logs - mean ** 2 - logs.exp())
        return back, F.binary_cross_entropy_with_logits(back, torch.sigmoid(x)) + divergence


@model(normal(2, 8, 3, 2))
class ComplexNet(nn.Module):
    """Rotations and products of complex numbers."""

    def __init__(self):
        super().__init__()
        self.angles = nn.Parameter(torch.randn(8, 3))
        self.real, self.imaginary = nn.Linear(3, 4), nn.Linear(3, 4)

    def forward(self, x):
        z = torch.view_as_complex(x) * torch.polar(torch.ones_like(self.angles), self.angles)
        w = torch.complex(self.real(z.real) - self.imaginary(z.imag), self.real(z.imag) + self.imaginary(z.real))
        return torch.view_as_real(w * torch.conj(w)), w.abs(), w.angle(), torch.view_as_real(w.sum(1))


@model(normal(2, 4, 12))
class WaveNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(4, 8, 2, dilation=2 ** i) for i in range(3))
        self.out = nn.Conv1d(4, 6, 1)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            a, b = layer(F.pad(x, (2 ** i, 0))).chunk(2, dim=1)
            x = x + torch.tanh(a) * torch.sigmoid(b)
        return F.glu(self.out(x), dim=1)


@model(normal(2, 1, 12, 12))
class Capsules(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 5, stride=2)
        self.weights = nn.Parameter(torch.randn(3, 32, 6, 4) * 0.1)

    def forward(self, x):
        low = F.relu(self.first(x)).reshape(2, 32, 4)
        guesses = torch.einsum("cijk,bik->bcij", self.weights, low)
        logits = torch.zeros(2, 3, 32, dtype=x.dtype)
        for _ in range(2):
            mixed = (F.softmax(logits, dim=1)[..., None] * guesses).sum(2)
            norm = torch.linalg.vector_norm(mixed, dim=-1, keepdim=True)
            out = norm / (1 + norm ** 2) * mixed
            logits = logits + torch.einsum("bcij,bcj->bci", guesses, out)
        return torch.norm(out, dim=-1)


@model(uniform(5, 3), normal(5, 3))
class RadianceField(nn.Module):
    """Sines of places, a density, and colours summed along rays."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(15, 16), nn.Softplus(), nn.Linear(16, 4))

    def forward(self, start, way):
        way = F.normalize(way, dim=-1)
        depth = torch.linspace(0.0, 1.0, 6, dtype=start.dtype)
        points = start[:, None] + depth[:, None] * way[:, None]
        coded = torch.cat([points] + [f(points * 2.0 ** i) for i in range(2) for f in (torch.sin, torch.cos)], -1)
        colour, density = self.layers(coded).split([3, 1], dim=-1)
        alpha = 1 - torch.exp(-F.relu(density.squeeze(-1)) * 0.2)
        passed = torch.cumprod(1 - alpha + 1e-6, dim=-1).roll(1, dims=-1)
        weights = alpha * passed
        return (weights[..., None] * torch.sigmoid(colour)).sum(1), (weights * depth).sum(-1)


@model(normal(2, 3, 12, 12))
class SpatialTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(nn.Conv2d(3, 4, 5, stride=3), nn.Hardswish(), nn.Flatten(), nn.Linear(36, 6))

    def forward(self, x):
        theta = 0.1 * self.where(x).view(2, 2, 3) + torch.eye(2, 3, dtype=x.dtype)
        grid = F.affine_grid(theta, x.size(), align_corners=False)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=False)


@model(normal(1, 2, 6, 8, 8))
class Video(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv3d(2, 4, 3, padding=1), nn.BatchNorm3d(4), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(4, 4, (1, 3, 3)),
            nn.SELU(), nn.AvgPool3d((1, 2, 2)), nn.Flatten(), nn.Linear(12, 3),
        )

    def forward(self, x):
        return self.layers(x)


@model(normal(2, 3, 16, 16))
class MobileBlocks(nn.Module):
    """Depthwise convolutions, squeeze and excitation, shuffled channels."""

    def __init__(self):
        super().__init__()
        self.enter = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.depth, self.point = nn.Conv2d(8, 8, 5, padding=2, groups=8), nn.Conv2d(8, 8, 1, groups=2)
        self.squeeze, self.excite = nn.Conv2d(8, 2, 1), nn.Conv2d(2, 8, 1)
        self.shuffle = nn.ChannelShuffle(2)

    def forward(self, x):
        x = F.hardswish(self.enter(x))
        y = self.shuffle(self.point(F.relu6(self.depth(x))))
        y = y * F.hardsigmoid(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))))
        return F.mish(x + y).mean([2, 3])


@model(normal(2, 3, 16, 16))
class DenseInception(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 4, 1), nn.Conv2d(7, 4, 3, padding=1)
        self.norm = nn.LocalResponseNorm(3)
        self.out = nn.Linear(15 * 9, 5)

    def forward(self, x):
        x = torch.cat([x, self.a(x)], 1)
        mean = F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)[:, :4]
        x = torch.cat([x, self.norm(self.b(x)), mean], 1)
        x = F.max_pool2d(x, 3, stride=2, ceil_mode=True)
        return self.out(F.adaptive_avg_pool2d(x, 3).flatten(1)), F.lp_pool2d(x, 2, 2)


@model(normal(6, 2, 16), normal(5, 2, 16))
class TorchTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.whole = nn.Transformer(16, 2, 1, 1, 32)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(5).to(source.dtype)
        return self.whole(source, target, tgt_mask=mask, tgt_is_causal=True)


@model(normal(2, 4, 8))
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(8)
        self.rows, self.columns = nn.Linear(4, 4), nn.Bilinear(8, 8, 8)

    def forward(self, x):
        x = x + F.gelu(self.rows(self.norm(x).mT)).mT
        return F.celu(self.columns(x, x.flip(1)))


@model(normal(2, 7), normal(2, 4, 6))
class TuringMachine(nn.Module):
    """A memory read by likeness and shifted by a circular convolution."""

    def __init__(self):
        super().__init__()
        self.key, self.gate, self.shift = nn.Linear(7, 6), nn.Linear(7, 1), nn.Linear(7, 3)

    def forward(self, x, memory):
        near = F.cosine_similarity(memory, self.key(x)[:, None], dim=-1)
        weights = F.softmax(near * F.softplus(self.gate(x)), dim=-1)
        kernel = F.softmax(self.shift(x), dim=-1)
        moved = torch.stack([torch.roll(weights, k, dims=1) for k in (-1, 0, 1)], dim=-1)
        weights = torch.einsum("bnk,bk->bn", moved, kernel) ** 1.5
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-6)
        read = torch.bmm(weights[:, None], memory).squeeze(1)
        return read, torch.baddbmm(memory, weights[:, :, None], read[:, None], alpha=0.5)


@model(normal(4, 2))
class NeuralOde(nn.Module):
    """Four Runge-Kutta steps in a loop of its own."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, y):
        for _ in range(4):
            a = self.net(y)
            b = self.net(torch.add(y, a, alpha=0.125))
            y = torch.lerp(y, y + 0.25 * b, 0.9)
        return torch.addcmul(y, a, b, value=0.1), torch.addcdiv(y, a, b.square() + 1, value=0.1)


@model(normal(4, 5))
class SplineNetwork(nn.Module):
    """A network of learned splines (Kolmogorov and Arnold)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("knots", torch.linspace(-2, 2, 9))
        self.weights = nn.Parameter(torch.randn(3, 5, 5))

    def forward(self, x):
        x = x[..., None]
        bases = ((x >= self.knots[:-1]) & (x < self.knots[1:])).to(x.dtype)
        for k in range(1, 4):
            left = (x - self.knots[: -k - 1]) / (self.knots[k:-1] - self.knots[: -k - 1])
            right = (self.knots[k + 1:] - x) / (self.knots[k + 1:] - self.knots[1:-k])
            bases = left * bases[..., :-1] + right * bases[..., 1:]
        return torch.einsum("nik,oik->no", bases, self.weights)


@model(normal(3, 4), normal(3, 2))
class MixtureDensity(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3 + 6 + 3)

    def forward(self, x, y):
        logits, means, logs = self.net(x).split([3, 6, 3], dim=-1)
        means = means.view(-1, 3, 2)
        distance = ((y[:, None] - means) ** 2).sum(-1) * torch.exp(-2 * logs)
        return -torch.logsumexp(F.log_softmax(logits, -1) - 0.5 * distance - 2 * logs, dim=-1), \
            torch.cdist(x, x), F.pairwise_distance(y, y + 1)


@model(normal(3, 8, 2), lambda: torch.tensor([5, 8, 6]))
class SetAttention(nn.Module):
    """Sets of several lengths: masks from lengths, pooling by the largest, ranks."""

    def __init__(self):
        super().__init__()
        self.enter, self.score = nn.Linear(2, 8), nn.Linear(8, 1, bias=False)

    def forward(self, x, lengths):
        mask = torch.arange(8)[None] < lengths[:, None]
        h = F.silu(self.enter(x))
        scores = self.score(torch.tanh(h)).squeeze(-1).masked_fill(~mask, -1e4)
        pooled = torch.einsum("bn,bnd->bd", torch.softmax(scores, -1), h)
        most = torch.where(mask[..., None], h, torch.full_like(h, -1e4)).amax(1)
        order = scores.argsort(dim=-1, descending=True, stable=True)
        top, at = torch.topk(scores, 3, dim=-1)
        return pooled, most, torch.take_along_dim(h, order[..., None], 1)[:, :2], top, F.one_hot(at, 8).sum(1)


@model(normal(2, 6, 5), indices(4, 2, 3))
class SpeechLoss(nn.Module):
    """Losses as outputs: cross entropy with smoothing, a margin, Huber's, a divergence."""

    def __init__(self):
        super().__init__()
        self.net = nn.Linear(5, 5)

    def forward(self, x, y):
        logits = self.net(x)[:, :3]
        flat, at = logits.flatten(0, 1), y.flatten()
        return (F.cross_entropy(flat, at, label_smoothing=0.1), F.nll_loss(F.log_softmax(flat, -1), at),
                F.smooth_l1_loss(flat, flat.roll(1, 0)), F.huber_loss(flat, flat.flip(0), delta=0.5),
                F.kl_div(F.log_softmax(flat, -1), F.softmax(flat.flip(0), -1), reduction="batchmean"),
                F.triplet_margin_loss(flat, flat.flip(0), flat.roll(1, 0)),
                F.cosine_embedding_loss(flat, flat.flip(0), torch.ones(6, dtype=flat.dtype)),
                F.multi_margin_loss(flat, at), F.poisson_nll_loss(flat[:, 0], at.to(flat.dtype)),
                F.soft_margin_loss(flat, flat.sign().detach()))


@model(normal(2, 3, 8, 8))
class PatchesBack(nn.Module):
    """Windows cut out and put back: unfold, fold, strided views."""

    def forward(self, x):
        columns = F.unfold(x, 3, padding=1, stride=2)
        back = F.fold(columns * 0.5, (8, 8), 3, padding=1, stride=2)
        windows = x.unfold(2, 4, 2).unfold(3, 4, 2).mean((-1, -2))
        return back, windows, F.pixel_unshuffle(x, 2), F.pad(x, (1, 2, 0, 1), mode="circular"), \
            F.pad(x, (2, 1, 1, 1), mode="replicate"), torch.rot90(x, 1, (2, 3))


@model(normal(4, 4))
class Projections(nn.Module):
    """Linear algebra in a model: whitening, a solve, a determinant."""

    def forward(self, x):
        square = x @ x.mT / 4 + torch.eye(4, dtype=x.dtype)
        factor = torch.linalg.cholesky(square)
        white = torch.linalg.solve_triangular(factor, x, upper=False)
        return white, torch.linalg.solve(square, x), torch.logdet(square), torch.linalg.inv(square)


@model(normal(2, 9, 4))
class StateSpace(nn.Module):
    """A scan by hand, and a causal convolution by a Toeplitz matrix."""

    def __init__(self):
        super().__init__()
        self.decay, self.mix = nn.Parameter(torch.randn(4)), nn.Conv1d(4, 4, 3, groups=4, padding=2)

    def forward(self, x):
        decay = torch.sigmoid(self.decay)
        mixed = F.silu(self.mix(x.mT)[..., :9].mT)
        powers = torch.arange(9, dtype=x.dtype)
        steps = (powers[:, None] - powers[None]).clamp_min(0)
        kernel = (decay[:, None, None] ** steps).tril()
        rows = torch.einsum("dij,bjd->bid", kernel, mixed)
        state, states = torch.zeros_like(x[:, 0]), []
        for t in range(9):
            state = decay * state + mixed[:, t]
            states.append(state)
        return rows, torch.stack(states, 1), torch.cummax(mixed, dim=1).values, torch.logcumsumexp(mixed, dim=1)


@model(indices(30, 2, 6), indices(2, 2, 6))
class Tagger(nn.Module):
    """A conditional random field over tags: the forward sum and Viterbi's path."""

    def __init__(self):
        super().__init__()
        self.words, self.cases = nn.Embedding(30, 8, padding_idx=0), nn.Embedding(2, 8)
        self.tags = nn.Linear(8, 4)
        self.moves = nn.Parameter(torch.randn(4, 4))

    def forward(self, words, cases):
        scores = self.tags(torch.relu(self.words(words) + self.cases(cases)))
        total, best, path = scores[:, 0], scores[:, 0], []
        for t in range(1, 6):
            total = torch.logsumexp(total[:, :, None] + self.moves, dim=1) + scores[:, t]
            best, at = torch.max(best[:, :, None] + self.moves, dim=1)
            best = best + scores[:, t]
            path.append(at)
        return torch.logsumexp(total, -1), torch.stack(path, 1), best.argmax(-1)
