#!/usr/bin/env python3
"""Holds verbs to one line and the right exit code where NVRTC ends who loads it, as it does where memory is lacking.

    dying_nvrtc.py GRAPHGATE LIBRARY GOLDEN

LIBRARY is dying_nvrtc.cpp, compiled. Ends with 77 where GRAPHGATE was built without CUDA's headers.
"""
import json
import os
import subprocess
import sys
import tempfile

OUT_OF_MEMORY = "graphgate: out of memory\n"
MAJORS = range(11, 20)  # of CUDA: its library has the number in its name


def start(words: list[str], folder: str, how: str):
    environment = {**os.environ, "LD_LIBRARY_PATH": folder, "GRAPHGATE_DYING_NVRTC": how}
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=120)


def main() -> int:
    graphgate, library, golden = (os.path.abspath(path) for path in sys.argv[1:4])
    facts = json.loads(subprocess.run([graphgate, "doctor", "--json", "-"], check=True, capture_output=True).stdout)
    if facts["cuda_toolkit"].startswith("none"):
        print("skipped: built without CUDA's headers")
        return 77
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for major in MAJORS:
            os.symlink(library, os.path.join(folder, f"libnvrtc.so.{major}"))

        def expect(verb: str, how: str, code: int, err: str, words: list[str]) -> str:
            done = start([graphgate, *words], folder, how)
            if (done.returncode, done.stderr) != (code, err):
                wrong.append(f"{verb}, {how}: code {done.returncode}, {done.stderr!r}")
            return done.stdout

        # Facts: a process of its own asks NVRTC.
        for words in (["doctor", "--json", "-"], ["--version"]):
            expect(words[0], "memory", 3, OUT_OF_MEMORY, words)
            told = expect(words[0], "abort", 0, "", words)
            if "NVRTC does not load: its process was killed by signal 6" not in told:
                wrong.append(f"{words[0]}: {told!r}")
        # Compiling: this process loads it, so its own lines stand above.
        program = os.path.join(golden, "models", "mutations.pt2")
        compiling = ["check", "--executor", "optimized", "--device", "compiled", program]
        expect("check", "memory", 3, "LLVM ERROR: out of memory\nBuffer allocation failed\n" + OUT_OF_MEMORY, compiling)
        expect("check", "abort", -6, "", compiling)
    print("\n".join(wrong) or "as it should be")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
