#!/usr/bin/env python3
"""Runs every example of --help, as it stands there, where a golden folder is.

    help_examples.py GRAPHGATE GOLDEN [--seconds N]

What takes longer is ended (SIGTERM): an example that was refused has said so by then. Bad input (4) is
right for one reason: the example names a file of the reader's own, which is not there. So is trouble
with what is around (3) where it needs a GPU, another machine or an environment of the reader's. No
example may end by a defect (5) or by a signal."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

from help_text import examples_in, help_of, verbs_of

BAD_INPUT, INFRASTRUCTURE = 4, 3
NEEDS_MORE = ["--device cuda", "ssh host", "/opt/", "python3 -m graphgate_", "decode_torch.py"]
NOT_THERE = ["No such file or directory", "holds no campaign", "is no file, no id"]


def run(example: str, folder: str, seconds: float) -> tuple[int, str, bool]:
    """Its exit code, what it said on standard error, and whether it was ended."""
    process = subprocess.Popen(["bash", "-c", "exec " + example], cwd=folder, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE,
                               env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
    try:
        _, said = process.communicate(timeout=seconds)
        return process.returncode, said, False
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            _, said = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            _, said = process.communicate()
        return process.returncode, said, True


def fault_of(example: str, code: int, said: str, is_ended: bool) -> str:
    last = said.strip().splitlines()[-1] if said.strip() else ""
    if "Traceback" in said:
        return f"ends with a traceback: {last}"
    if is_ended or code in (0, 1, 2):
        return ""
    if code == INFRASTRUCTURE and any(words in example for words in NEEDS_MORE):
        return ""
    is_own = any(words in last for words in NOT_THERE) and "golden/" not in last
    if code == BAD_INPUT and is_own:
        return ""
    return f"exit code {code}: {last}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graphgate", type=os.path.abspath)
    parser.add_argument("golden", type=os.path.abspath)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    examples = []
    for verb in verbs_of(options.graphgate, []):
        examples += examples_in(help_of(options.graphgate, verb))
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(options.graphgate, os.path.join(folder, "graphgate"))
        shutil.copytree(options.golden, os.path.join(folder, "golden"))  # one example writes there
        for example in examples:
            fault = fault_of(example, *run(example, folder, options.seconds))
            if fault:
                faults += 1
                print(f"{example}: {fault}", flush=True)
    print(f"{len(examples)} examples, {faults} faults")
    return 1 if faults or len(examples) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
