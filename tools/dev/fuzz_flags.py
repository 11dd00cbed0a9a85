#!/usr/bin/env python3
"""Campaigns and checks under flags that are drawn from all that the planner has.

    tools/dev/fuzz_flags.py build/check/graphgate --time 300 --corpus /tmp/flags
    tools/dev/fuzz_flags.py build/check/graphgate --time 300 --corpus /tmp/flags golden/models/*.pt2

A case draws its options itself, but not all there are, nor many at once; and programs that were
exported draw none. Without files each round is `graphgate fuzz` of 300 cases; with files it is
`graphgate check` of one of them. Rounds follow from the seed. A round that finds something is
printed as a line to run again; cases are kept in CORPUS/ROUND. Exits with 1 if any was, else 0.
"""

import argparse
import concurrent.futures
import functools
import os
import random
import re
import shutil
import subprocess
import sys
import time

OPS = [
    "aten." + name
    for name in """add add_ sub mul mul_ div cat clone copy_ empty zeros_like full mm addmm bmm linear relu
    sigmoid exp where sum mean amax softmax cumsum view permute transpose slice select unsqueeze
    expand split chunk stack flip index index_select gather scatter index_put embedding nonzero
    masked_select _local_scalar_dense sort topk kthvalue layer_norm native_layer_norm convolution
    _to_copy""".split()
]
# A flag, how often it is given, and values (none: a switch).
FLAGS = [
    ("compiler", 0.2, ["eager", "standalone", "fused"]),
    ("realize", 0.25, ["bytes", "reads"]),
    ("max-partition", 0.25, [1, 2, 3, 5, 8]),
    ("min-partition", 0.15, [2, 3, 5]),
    ("streams", 0.3, [2, 3, 4, 6]),
    ("interleaving", 0.3, range(1000)),
    ("memory", 0.5, ["lines", "pools", "pack"]),
    ("no-reuse", 0.1, []),
    ("no-in-place", 0.2, []),
    ("outputs-apart", 0.2, []),
    ("mode", 0.15, ["none", "piecewise", "full", "full_decode_only", "full_and_piecewise"]),
    ("weak-outputs", 0.3, []),
    ("share-pools", 0.4, []),
    ("poison", 0.3, ["0xff", "0x7f", "0x01"]),
    ("pad-fill", 0.3, ["nan", "huge", "keep"]),
    ("warm-up", 0.2, [1, 2]),
    ("plans-kept", 0.2, [1, 2]),
    ("place-alignment", 0.2, [16, 32, 64, 256, 1024]),
    ("skip-dynamic-graphs", 0.15, []),
    ("no-recompute", 0.1, []),
]
PASSES = """reinplace noop_elimination dead_code drop_proven_assertions fuse_rms_norm fuse_add_rms_norm
    fuse_silu_mul fuse_norm_quant fuse_attention_quant""".split()
POOLS = ["none", "intermediates", "outputs", "combined"]


def draw_sizes(draw):
    """Flags about sizes: no two of them that contradict each other."""
    kind = draw.randrange(6)
    if kind == 0:
        sizes = draw.choice(["1,2,4", "2,4,8", "8,16", "1,3,5,7", "16", "64"])
        multiple = [f"--size-multiple={draw.choice([2, 3, 4, 8])}"] if draw.random() < 0.2 else []
        return [f"--capture-sizes={sizes}"] + multiple
    if kind == 1:
        return [f"--max-capture-size={draw.choice([4, 16, 64])}"]
    if kind == 2:
        return [f"--compile-sizes={draw.choice(['4', '2,8', '1,3'])}"]
    if kind == 3:
        return ["--compile-range=1:5", "--compile-range=5:17"]
    return []


def draw_flags(draw, nodes):
    flags = []
    for name, chance, values in FLAGS:
        if draw.random() < chance:
            flags.append(f"--{name}" + (f"={draw.choice(values)}" if values else ""))
    if "--memory=pools" in flags and draw.random() < 0.7:
        flags.append(f"--memory-pool={draw.choice(POOLS)}")
    if draw.random() < 0.25:
        flags.append(f"--partition={draw.choice(['split-graph', 'split-graph-older'])}")
    elif draw.random() < 0.3:
        flags.append(f"--reorder={draw.choice(['simple', 'minimize'])}")
    for name, counts in (
        ("split-op", [0, 0, 1, 2, 3]),
        ("unaligned-op", [0, 0, 0, 1, 2, 4]),
        ("unsafe-unbacked-op", [0, 0, 0, 1, 2]),
    ):
        flags += [f"--{name}={draw.choice(OPS)}" for _ in range(draw.choice(counts))]
    flags += [f"--no-pass={draw.choice(PASSES)}" for _ in range(draw.choice([0, 0, 1, 2]))]
    if nodes:
        flags += [f"--cut-after={draw.choice(nodes)}" for _ in range(draw.choice([0, 0, 1, 3]))]
    return flags + draw_sizes(draw)


@functools.lru_cache(maxsize=None)
def nodes_of(graphgate, file):
    text = subprocess.run([graphgate, "convert", file, "-"], capture_output=True, text=True)
    return re.findall(r"^\s+%(\w+)[^=]*= [a-z_]+\.", text.stdout, re.M)


def finds_something(code, text):
    """SUSPECT alone of what is inconclusive is a finding."""
    return code not in (0, 2) or "SUSPECT" in text or '"event":"finding"' in text


def run_round(options, number):
    """The command of a round, its exit code, and whether it found something."""
    draw = random.Random(options.seed * 1_000_003 + number)
    judges = ["--judges=all"] if draw.random() < 0.2 else []
    if options.files:
        file = draw.choice(options.files)
        flags = draw_flags(draw, nodes_of(options.graphgate, file))
        judges = judges or ["--judges=provenance,bounds,verifier,state,happens-before,shadow,quality"]
        command = [options.graphgate, "check", *judges, *flags, file]
    else:
        corpus = os.path.join(options.corpus, str(number))
        seed = str(options.seed * 100_000 + number)
        command = [options.graphgate, "fuzz", "--seed", seed, "--cases", "300", "-j", "1"]
        command += ["--no-replay", "--corpus", corpus, *judges, *draw_flags(draw, [])]
    done = subprocess.run(command, capture_output=True, text=True)
    found = finds_something(done.returncode, done.stdout)
    if not options.files and not found:
        shutil.rmtree(corpus, ignore_errors=True)
    return command, done.returncode, found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("graphgate")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time", type=float, default=60, help="seconds after which no round begins")
    parser.add_argument("--jobs", "-j", type=int, default=os.cpu_count())
    parser.add_argument("--corpus", default="fuzz-flags")
    options = parser.parse_intermixed_args()
    end = time.monotonic() + options.time
    rounds = found = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = set()
        while running or time.monotonic() < end:
            while time.monotonic() < end and len(running) < options.jobs:
                running.add(pool.submit(run_round, options, rounds))
                rounds += 1
            done, running = concurrent.futures.wait(
                running, return_when=concurrent.futures.FIRST_COMPLETED
            )
            for command, code, is_found in (future.result() for future in done):
                if is_found:
                    found += 1
                    print(f"exit code {code}: {' '.join(command)}", flush=True)
    print(f"{rounds} rounds, {found} of them found something")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
