#!/usr/bin/env python3
"""Makes each call to the system fail that a small run of a verb makes, one at a time.

These are the n-th open, write, rename, fsync, fork, mmap, read and making of a file, for every n, and a
sample of allocations.

    faults.py GRAPHGATE LIBRARY GOLDEN [--every N] [--run NAME]... [--jobs N] [--kind KIND]...
              [--allocations N] [--seed N]

LIBRARY is failing_calls.cpp, compiled; GRAPHGATE has glibc's allocator. Demanded of each are the code and the files of the run
without a fault, or exit code 3 and one line. No signal ends it, each file is as it was or whole, nothing is
left aside, and the state goes on. The last lines say how many points there were of each kind.

There are too many allocations to fail each: so many of a run, --allocations, as far from each other as
they can be, and another sample for each --seed.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import struct
import subprocess
import sys

import runs

KINDS = ["open", "write", "rename", "fsync", "fork", "mmap", "read", "make", "allocate"]
GOES_ON = ["write", "make"]  # also from the n-th on, as on a full disk
MOST_LINES = 3  # one for each file that is judged, and one for what cannot be written
INFRASTRUCTURE = 3
WORDS = ["Input/output error", "No space left", "Too many open files", "temporarily unavailable",
         "Cannot allocate memory", "out of memory", "Malloc failure"]


@dataclasses.dataclass
class Clean:
    """What the run comes to without a fault."""

    code: int
    files: dict[str, bytes]
    campaign: str
    counts: dict[str, int]


def counted(place: runs.Place, words: list[str], fault: str, options) -> tuple:
    counts = os.path.join(place.root, "counts")
    with open(counts, "wb") as file:
        file.write(bytes(4096))
    done = place.start(words, LD_PRELOAD=options.library, GRAPHGATE_FAULT=fault,
                       GRAPHGATE_FAULT_COUNTS=counts)
    with open(counts, "rb") as file:
        numbers = struct.unpack(f"{len(KINDS)}Q", file.read(8 * len(KINDS)))
    os.remove(counts)
    return done, dict(zip(KINDS, numbers))


def clean_run(run: runs.Run, options) -> Clean:
    with runs.Place(run, options.graphgate, options.golden) as place:
        done, counts = counted(place, run.words, "", options)
        left = place.scratch()
        if left or b"Traceback" in done.stderr or done.returncode not in (0, 1, 2):
            sys.exit(f"{run.name}: without a fault: code {done.returncode}, {left}, {done.stderr!r}")
        return Clean(done.returncode, place.gists(), place.campaign(), counts)


def complaints(place: runs.Place, clean: Clean, done) -> list[str]:
    """What is wrong with how a run ended."""
    wrong = []
    # What a gate tells of how it goes are objects, and no lines for a person.
    lines = [line for line in done.stderr.decode(errors="replace").splitlines()
             if line and not line.startswith('{"event":')]
    if done.returncode == INFRASTRUCTURE:
        is_clear = all(line.startswith("graphgate: ") for line in lines)
        # A gate tells of a case that could not be compared in its report.
        is_told = any(word in done.stdout.decode(errors="replace") for word in WORDS)
        least = 0 if is_told else 1
        if not least <= len(set(lines)) == len(lines) <= MOST_LINES or not is_clear:
            wrong.append(f"{len(lines)} lines: {lines}")
    elif done.returncode != clean.code:
        wrong.append(f"code {done.returncode}: {lines[-3:]} {done.stdout[-300:]!r}")
    for name in place.run.outputs:
        content = place.bytes_of(name)
        if content is None:
            wrong.append(f"{name} is gone")
            continue
        # How far a finding is reduced depends on the time: campaigns are compared by their states.
        is_same = place.run.resume or runs.gist(name, content, place.root) == clean.files[name]
        if done.returncode == clean.code and not is_same:
            wrong.append(f"{name} differs from what it is without a fault")
        if content != runs.OLD and runs.gist(name, content, place.root) is None:
            wrong.append(f"{name} is neither what it was nor whole")
    left = place.scratch()
    if left:
        wrong.append(f"left: {left[:4]}")
    return wrong


def resumed(place: runs.Place, clean: Clean) -> list[str]:
    done = place.start(place.run.resume)
    if done.returncode != clean.code:
        return [f"resumed: code {done.returncode}: {done.stderr[-300:]!r}"]
    return [] if place.campaign() == clean.campaign else ["resumed: another campaign"]


def try_fault(run: runs.Run, clean: Clean, fault: str, options) -> tuple[str, list[str]]:
    with runs.Place(run, options.graphgate, options.golden) as place:
        try:
            done, _ = counted(place, run.words, fault, options)
        except subprocess.TimeoutExpired:
            return fault, ["does not end"]
        wrong = complaints(place, clean, done)
        if run.resume:
            wrong += resumed(place, clean)
        return fault, wrong


def points_of(clean: Clean, options) -> list[str]:
    points = []
    for kind in options.kind or KINDS:
        count = clean.counts.get(kind, 0)
        step = max(count // options.allocations, 1) if kind == "allocate" else 1
        for number in range(1 + options.seed % step, count + 1, step):
            points.append(f"{kind}:{number}")
            if kind in GOES_ON:
                points.append(f"{kind}:{number}+")
    return points


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("graphgate")
    parser.add_argument("library")
    parser.add_argument("golden")
    parser.add_argument("--every", type=int, default=1, help="only every so many points")
    parser.add_argument("--allocations", type=int, default=60, help="how many of them, about")
    parser.add_argument("--seed", type=int, default=0, help="of the sample of allocations")
    parser.add_argument("--run", action="append", help="only this run")
    parser.add_argument("--kind", action="append", help="only this kind")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for name in ("graphgate", "library", "golden"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    total = failed = 0
    kinds = collections.Counter()
    for run in runs.runs():
        if options.run and run.name not in options.run:
            continue
        clean = clean_run(run, options)
        points = points_of(clean, options)[::options.every]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tried = [pool.submit(try_fault, run, clean, point, options) for point in points]
            bad = 0
            for one in tried:
                fault, wrong = one.result()
                bad += bool(wrong)
                for words in wrong:
                    print(f"FAIL {run.name} {fault}: {words}", flush=True)
        total += len(tried)
        failed += bad
        kinds.update(point.split(":")[0] for point in points)
        print(f"{run.name}: {len(tried)} points, {bad} failed", flush=True)
    print(", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind]))
    print(f"{total} points, {failed} failed")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
