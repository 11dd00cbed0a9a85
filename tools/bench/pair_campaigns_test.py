#!/usr/bin/env python3
"""Holds pair_campaigns.py to what it says of a build beside itself, and beside one that is wrong.

    pair_campaigns_test.py GRAPHGATE
"""

import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).with_name("pair_campaigns.py")


def pair(old, new):
    """Returns (exit code, output) of pairing two programs over a few cases."""
    command = [str(SCRIPT), str(old), str(new), "--seed", "7", "--cases", "8", "--shards", "2"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def main():
    graphgate = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        wrong = pathlib.Path(folder) / "wrong"
        mutated = "--plan-mutation pool-shrunk --reduce-time 0"
        wrong.write_text(f'#!/bin/sh\nexec "{graphgate}" "$@" {mutated}\n')
        os.chmod(wrong, 0o755)
        failing = pathlib.Path(folder) / "failing"
        failing.write_text("#!/bin/sh\necho no such campaign\nexit 4\n")
        os.chmod(failing, 0o755)
        code, output = pair(graphgate, graphgate)
        assert code == 0 and "8 cases of seed 7" in output and ": 0 differ" in output, output
        code, output = pair(graphgate, wrong)
        assert code == 1 and "old: PASS" in output and "new: CRASH" in output, output
        code, output = pair(graphgate, failing)
        assert code == 1 and "exit code 4: no such campaign" in output, output


if __name__ == "__main__":
    main()
