#!/usr/bin/env python3
"""The step of `graphgate bench decode` through PyTorch, on the first GPU.

    graphgate bench decode --torch 'python3 tools/bench/decode_torch.py'
    echo '{"batch": 1, "mode": "eager"}' | python3 tools/bench/decode_torch.py

Each line of standard input asks for a step: "mode" is eager (a CUDA graph of eager mode),
reduce-overhead or max-autotune, the rest are sizes (Shape). Each is answered by a line:
"microseconds" of a step, the median of 9 rounds of 20 steps behind each other, "ready_seconds" and
the version of "torch"; or an "error".
"""

import dataclasses
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F


@dataclasses.dataclass(frozen=True)
class Shape:
    batch: int = 1
    layers: int = 16
    width: int = 2048
    heads: int = 32
    kv_heads: int = 8
    head_size: int = 64
    hidden: int = 8192
    vocabulary: int = 128256
    context: int = 1024


def norm(x, weight):
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
    return weight * (wide * scale).to(torch.bfloat16)


class Decoder(torch.nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s

        def parameter(*sizes):
            scale = (3.0 / sizes[-1]) ** 0.5 if len(sizes) == 2 else 1.0
            data = torch.empty(*sizes, device="cuda", dtype=torch.bfloat16).uniform_(-scale, scale)
            return torch.nn.Parameter(data, requires_grad=False)

        qkv = (s.heads + 2 * s.kv_heads) * s.head_size
        self.embed = parameter(s.vocabulary, s.width)
        self.norm = parameter(s.width)
        for name, sizes in (
            ("norm1", (s.width,)),
            ("qkv", (qkv, s.width)),
            ("out", (s.width, s.heads * s.head_size)),
            ("norm2", (s.width,)),
            ("gate_up", (2 * s.hidden, s.width)),
            ("down", (s.width, s.hidden)),
        ):
            parameters = [parameter(*sizes) for _ in range(s.layers)]
            setattr(self, name, torch.nn.ParameterList(parameters))
        for layer in range(s.layers):
            for kind in ("keys", "values"):
                cache = torch.rand(
                    s.batch, s.kv_heads, s.context, s.head_size, device="cuda", dtype=torch.bfloat16
                )
                self.register_buffer(f"{kind}_{layer}", cache)
        half = s.head_size // 2
        frequency = 10000.0 ** (-torch.arange(half, device="cuda") / half)
        angle = torch.arange(s.context, device="cuda")[:, None] * frequency
        self.register_buffer("cos_table", angle.cos().to(torch.bfloat16))
        self.register_buffer("sin_table", angle.sin().to(torch.bfloat16))

    def forward(self, tokens, position):
        s = self.s
        x = F.embedding(tokens, self.embed)
        cos, sin = self.cos_table[position], self.sin_table[position]
        mask = (torch.arange(s.context, device="cuda") <= position).view(1, 1, 1, -1)
        for layer in range(s.layers):
            qkv = F.linear(norm(x, self.norm1[layer]), self.qkv[layer])
            qkv = qkv.view(-1, s.heads + 2 * s.kv_heads, s.head_size)
            left, right = qkv[:, : s.heads + s.kv_heads].chunk(2, -1)
            turned = torch.cat((left * cos - right * sin, right * cos + left * sin), -1)
            keys = getattr(self, f"keys_{layer}")
            values = getattr(self, f"values_{layer}")
            keys.index_copy_(2, position, turned[:, s.heads :].unsqueeze(2))
            values.index_copy_(2, position, qkv[:, s.heads + s.kv_heads :].unsqueeze(2))
            query = turned[:, : s.heads].unsqueeze(2)
            attended = F.scaled_dot_product_attention(
                query, keys, values, attn_mask=mask, enable_gqa=True
            )
            x = x + F.linear(attended.reshape(-1, s.heads * s.head_size), self.out[layer])
            both = F.linear(norm(x, self.norm2[layer]), self.gate_up[layer])
            gate, up = both.chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, self.down[layer])
        return F.linear(norm(x, self.norm), self.embed)


def microseconds(step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(9):
        begin = time.perf_counter()
        for _ in range(20):
            step()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / 20 * 1e6)
    return statistics.median(rounds)


def step_of(model, mode, tokens, position):
    if mode != "eager":
        compiled = torch.compile(model, mode=mode, fullgraph=True)
        return lambda: compiled(tokens, position)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(tokens, position)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(tokens, position)
    return graph.replay


def measure(shape, mode):
    torch.manual_seed(1)
    model = Decoder(shape)
    tokens = torch.arange(shape.batch, device="cuda") % shape.vocabulary
    position = torch.tensor([shape.context - 1], device="cuda")
    torch._dynamo.reset()
    with torch.no_grad():
        begin = time.perf_counter()
        step = step_of(model, mode, tokens, position)
        step()
        torch.cuda.synchronize()
        ready = time.perf_counter() - begin
        taken = microseconds(step)
    torch.cuda.empty_cache()
    return {"microseconds": taken, "ready_seconds": ready, "torch": torch.__version__}


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
            mode = request.pop("mode", "eager")
            answer = measure(Shape(**request), mode)
        except Exception as error:  # whatever PyTorch meets is the answer
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
