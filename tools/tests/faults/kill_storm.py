#!/usr/bin/env python3
"""Kills small runs of every verb that writes at random moments (SIGKILL), and runs them again.

    kill_storm.py GRAPHGATE GOLDEN [--kills N] [--run NAME]... [--jobs N] [--seed N]

What is demanded: after a kill each file is as it was or whole. The same run then, or the one that
goes on, comes to what one that nobody killed comes to. Nothing of the dead one is left by then.
The last line says how many were killed.
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import time

import runs

# What a process has forked dies with it, a moment later: until then it is no dead process's scratch.
DYING_SECONDS = 0.5


def clean_run(run: runs.Run, options) -> tuple[int, dict, str, float]:
    with runs.Place(run, options.graphgate, options.golden) as place:
        begin = time.monotonic()
        done = place.start(run.words)
        seconds = time.monotonic() - begin
        if done.returncode not in (0, 1, 2):
            sys.exit(f"{run.name}: code {done.returncode} without a kill: {done.stderr!r}")
        return done.returncode, place.gists(), place.campaign(), seconds


def storm(run: runs.Run, clean: tuple, share: float, options) -> tuple[bool, list[str]]:
    code, files, campaign, seconds = clean
    with runs.Place(run, options.graphgate, options.golden) as place:
        process = subprocess.Popen(place.command(run.words), env=place.environment(), cwd=place.root,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(share * seconds)
        process.kill()
        was_killed = process.wait() == -9
        time.sleep(DYING_SECONDS)
        wrong = []
        for name in run.outputs:
            content = place.bytes_of(name)
            if content != runs.OLD and (content is None or
                                        runs.gist(name, content, place.root) is None):
                wrong.append(f"{name} is neither what it was nor whole")
        again = place.start(run.resume or run.words)
        if again.returncode != code:
            wrong.append(f"again: code {again.returncode}, {again.stderr[-300:]!r}")
        elif run.resume is None and place.gists() != files:
            wrong.append("again: other files")
        if place.campaign() != campaign:
            wrong.append("again: another campaign")
        left = place.scratch()
        if left:
            wrong.append(f"left: {left[:4]}")
        return was_killed, wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("graphgate")
    parser.add_argument("golden")
    parser.add_argument("--kills", type=int, default=200, help="of each run")
    parser.add_argument("--run", action="append", help="only this run")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.graphgate = os.path.abspath(options.graphgate)
    options.golden = os.path.abspath(options.golden)
    draw = random.Random(options.seed)
    total = failed = 0
    for run in runs.runs():
        writes = run.outputs or run.folders
        if not writes or (options.run and run.name not in options.run):
            continue
        clean = clean_run(run, options)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tried = [pool.submit(storm, run, clean, draw.random(), options)
                     for _ in range(options.kills)]
            killed = bad = 0
            for one in tried:
                was_killed, wrong = one.result()
                killed += was_killed
                bad += bool(wrong)
                for words in wrong:
                    print(f"FAIL {run.name}: {words}", flush=True)
        total += killed
        failed += bad
        print(f"{run.name}: {killed} of {options.kills} killed, {bad} failed", flush=True)
    print(f"{total} killed, {failed} failed")
    return 1 if failed or not total else 0


if __name__ == "__main__":
    sys.exit(main())
