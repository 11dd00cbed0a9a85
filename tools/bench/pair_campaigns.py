#!/usr/bin/env python3
"""Pairs two builds of graphgate over the same drawn cases: verdicts, and processor time.

    pair_campaigns.py OLD NEW --seed 5 --cases 20000
    pair_campaigns.py OLD NEW --cases 20000 --shards 40 --only 8 -- --judges all

Each build runs the campaign's shards in turns with the other one, old and new first by turns, one
worker each. A case agrees where its line of the case log does: outcome, digest of the verdict
(reasons and features), and signature. Processor time is that of the process and its workers
(as wait4 counts), user and system. The ratio of a shard is old by new, and what is printed
is the ratio of the sums and the median over the shards. Exit code 1 where a case differs.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def run(command, log):
    """Runs a command; returns (exit code, processor seconds of it and of all it has waited for)."""
    with open(log, "wb") as output:
        child = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage.ru_utime + usage.ru_stime


def campaign(graphgate, arguments, shard, folder):
    """Runs one shard; returns (lines of its case log by index, processor seconds)."""
    log = folder / "cases"
    command = [graphgate, "fuzz", "--seed", str(arguments.seed), "--cases", str(arguments.cases),
               "-j", "1", "--shard", f"{shard}/{arguments.shards}", "--overwrite",
               "--corpus", str(folder / "corpus"), "--case-log", str(log), *arguments.more]
    code, seconds = run(command, folder / "output")
    if code not in (0, 1, 2):
        sys.exit(f"{graphgate}: exit code {code}: {(folder / 'output').read_text()[-2000:]}")
    lines = dict(line.split(" ", 1) for line in log.read_text().splitlines())
    return lines, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--cases", type=int, default=20000)
    parser.add_argument("--shards", type=int, default=10, help="parts that are timed in turns")
    parser.add_argument("--only", type=int, help="run this many of the shards alone")
    parser.add_argument("--shown", type=int, default=20, help="cases that differ, at most so many")
    parser.add_argument("more", nargs="*", help="behind --: further options of fuzz")
    arguments = parser.parse_args()
    ratios, sums, cases, differing, outcomes = [], [0.0, 0.0], 0, [], {}
    with tempfile.TemporaryDirectory() as temporary:
        folders = [pathlib.Path(temporary) / name for name in ("old", "new")]
        for folder in folders:
            folder.mkdir()
        builds = [arguments.old, arguments.new]
        for shard in range(arguments.only or arguments.shards):
            results = [None, None]
            for side in ((0, 1) if shard % 2 == 0 else (1, 0)):
                results[side] = campaign(builds[side], arguments, shard, folders[side])
            (old, old_seconds), (new, new_seconds) = results
            ratios.append(old_seconds / new_seconds)
            sums[0] += old_seconds
            sums[1] += new_seconds
            cases += len(old)
            for index in sorted(old.keys() | new.keys(), key=int):
                outcome = old.get(index, "none").split(" ", 1)[0]
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
                if old.get(index) != new.get(index):
                    differing.append((index, old.get(index), new.get(index)))
            print(f"shard {shard}: {len(old)} cases, {old_seconds:.2f} s and {new_seconds:.2f} s, "
                  f"ratio {ratios[-1]:.3f}, {len(differing)} differ so far", flush=True)
    for index, old, new in differing[: arguments.shown]:
        print(f"case {index}:\n  old: {old}\n  new: {new}")
    counted = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{cases} cases of seed {arguments.seed} ({counted}): {len(differing)} differ")
    print(f"processor time old by new: {sums[0] / sums[1]:.3f} of the sums, "
          f"{statistics.median(ratios):.3f} the median of {len(ratios)} shards "
          f"({cases / sums[0]:.1f} and {cases / sums[1]:.1f} cases a second)")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
