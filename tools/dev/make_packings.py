#!/usr/bin/env python3
"""Makes packing instances that are known to fit into their capacity: hard ones, for the packer.

    tools/dev/make_packings.py NEWFOLDER [--seed N] [--count N]

The files have the form of golden/memplan (id,lower,upper,size; NAME.CAPACITY.csv). Each is the memory of
an allocator that was watched, with its places forgotten:

    offset |  time goes on; at each step some neighbours die, and their hole is filled anew,
      1024 |  wholly or up to the given share, by buffers of drawn sizes
           |aaaa|ccccc|dd|
           |bbbbbbbb|ee|ff|
         0 +----------------

Five kinds. `tile`: short lives and like sizes, as a loop over tiles has them. `mixed`: a few large buffers
that die soon over many small ones that stay, as a compiled network has them. `slack`: mixed, with a
few percent free at every step. `even`: sizes and lives drawn evenly. `aligned`: mixed, with sizes
that are no multiples of the alignment (256), which the capacity counts rounded up.
Perfect packings (`--fill 1`) have no free byte at any step.
"""

import argparse
import pathlib
import random

GRANULE = 1024
HEIGHT = 1024  # granules
STEPS = 1024  # of GRANULE units of time each, as in the published instances


def cut(rng, size, parts, skew):
    """`size` granules as about `parts` sizes; with more skew they differ more."""
    weights = [rng.expovariate(1.0) ** skew + 0.02 for _ in range(min(max(1, parts), size))]
    scale = size / sum(weights)
    ends, total = set(), 0.0
    for weight in weights:
        total += weight * scale
        ends.add(max(1, min(size, round(total))))
    ends = sorted(ends | {size})
    return [end - begin for begin, end in zip([0] + ends, ends)]


class Watched:
    """The buffers alive, from low to high; holes stand among them."""

    def __init__(self, rng, live, skew, fill):
        self.rng, self.live, self.skew, self.fill = rng, live, skew, fill
        self.alive = []  # (birth, size, is_hole)
        self.done = []  # (lower, upper, size)

    def filled(self, time, size, parts):
        return [(time, one, self.rng.random() >= self.fill) for one in cut(self.rng, size, parts, self.skew)]

    def step(self, time, death_of):
        """Buffers of which `death_of` says so die; what lies side by side is filled anew."""
        after, hole, died = [], 0, 0
        for buffer in [*self.alive, None]:
            if buffer and self.rng.random() < death_of(time - buffer[0], buffer[1]):
                hole, died = hole + buffer[1], died + 1
                if not buffer[2]:
                    self.done.append((buffer[0], time, buffer[1]))
                continue
            if hole:
                parts = died + self.rng.choice((-1, 0, 0, 1))
                parts += self.rng.randint(0, 1) if len(self.alive) < self.live else -self.rng.randint(0, 2)
                after += self.filled(time, hole, parts)
                hole = died = 0
            if buffer:
                after.append(buffer)
        self.alive = after

    def run(self, times, death_of):
        self.alive = self.filled(0, HEIGHT, self.live)
        for time in times:
            self.step(time, death_of)
        for birth, size, is_hole in self.alive:
            if not is_hole:
                self.done.append((birth, STEPS, size))
        return self.done


def draw(rng, kind, count, live, points, fill):
    """About `count` buffers, `live` of them at a time or fewer, born and dying at about `points` times."""
    times = sorted(rng.sample(range(1, STEPS), points))
    share = min(0.9, (count - live) / (live * points))  # dies per step, on average
    skew = 1.0
    if kind == "tile":
        skew = 0.4

        def death_of(age, size):
            return min(1.0, share * 1.5) if age > 0.7 * STEPS / points / share else share * 0.2
    elif kind == "even":

        def death_of(age, size):
            return share
    else:  # large ones die soon
        skew = 1.7

        def death_of(age, size):
            return min(0.9, 0.8 * share * (size * live / HEIGHT) ** 0.7)

    buffers = Watched(rng, live, skew, fill).run(times, death_of)
    rng.shuffle(buffers)
    return buffers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=4, help="instances of each kind")
    parser.add_argument("--fill", type=float, help="chance that a hole is filled (default: by kind)")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    fills = {"tile": 0.8, "mixed": 0.95, "slack": 0.95, "even": 0.95, "aligned": 0.95}
    for kind, fill in fills.items():
        for i in range(options.count):
            rng = random.Random(f"{options.seed} {kind} {i}")
            count = rng.randint(150, 460)
            live = rng.randint(15, 22) if kind == "tile" else rng.randint(25, 110)
            points = rng.randint(count // 3, count // 2)
            buffers = draw(rng, kind, count, live, points, options.fill or fill)
            if kind == "slack":  # one in twelve of the small ones is taken out
                small = sorted(size for _, _, size in buffers)[len(buffers) * 3 // 4]
                buffers = [b for b in buffers if b[2] > small or rng.random() > 1 / 12]
            capacity = HEIGHT * GRANULE
            path = options.folder / f"{kind}{options.seed}_{i}.{capacity}.csv"
            with path.open("w") as out:
                out.write("id,lower,upper,size\n")
                for k, (lower, upper, size) in enumerate(buffers):
                    size_bytes = size * GRANULE
                    if kind == "aligned":
                        size_bytes -= rng.randint(0, 255)
                    out.write(f"{k},{lower * GRANULE},{upper * GRANULE},{size_bytes}\n")


if __name__ == "__main__":
    main()
