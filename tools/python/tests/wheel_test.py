"""Tests the wheel in a bare virtual environment: wheel_test.py [BUILD].

BUILD: the folder of a build whose program the wheel takes; without it the wheel builds its own. Ends with
status 77, which ctest takes for skipped, where PyPI gives no tools to build a wheel with.
"""

import os
import platform
import re
import subprocess
import sys
import tempfile
import unittest

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
_FOLDER = ""
_WHEEL = ""
_OWN_BUILD = False  # whether the wheel built its program itself, as a release does


def _environment():
    """Without what names this project's sources, or packages of others."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | {"PATH": "/usr/bin:/bin"}


def _run(*command, **more):
    return subprocess.run(
        command, capture_output=True, text=True, cwd=os.path.join(_FOLDER, "elsewhere"),
        env=_environment(), check=False, **more)


class Wheel(unittest.TestCase):
    def _bare(self, *command):
        """What a program of the environment says."""
        ran = _run(os.path.join(_FOLDER, "bare/bin", command[0]), *command[1:])
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def _python(self, code):
        return self._bare("python", "-c", code).strip()

    def _package(self):
        return os.path.dirname(self._python("import graphgate; print(graphgate.__file__)"))

    def test_its_name_says_which_systems_it_runs_on(self):
        name = os.path.basename(_WHEEL)
        found = re.fullmatch(r"graphgate-\d+\.\d+\.\d+-py3-none-manylinux_2_(\d+)_(\w+)\.whl", name)
        self.assertTrue(found, name)
        self.assertEqual(found[2], platform.machine())
        self.assertLessEqual(int(found[1]), int(platform.libc_ver()[1].split(".")[1]))

    def test_the_program_and_the_module_are_one(self):
        version = self._bare("graphgate", "--version")
        self.assertRegex(version, r"\d+\.\d+\.\d+")
        self.assertEqual(self._bare("python", "-m", "graphgate", "--version"), version)
        listed = self._bare("python", "-m", "pip", "--disable-pip-version-check", "show", "graphgate")
        self.assertIn(re.search(r"\d+\.\d+\.\d+", version)[0], listed)

    def test_exit_codes_and_messages_are_the_programs(self):
        for command in (("graphgate",), ("python", "-m", "graphgate")):
            ran = _run(os.path.join(_FOLDER, "bare/bin", command[0]), *command[1:], "check", "no-such.pt2")
            self.assertEqual(ran.returncode, 4, ran.stderr)
            self.assertIn("no-such.pt2", ran.stderr)

    def test_the_corpus_passes_from_any_folder(self):
        package = self._package()
        corpus = os.path.join(package, "share/graphgate/golden")
        self.assertRegex(self._bare("graphgate", "doctor"), rf"corpus +{re.escape(corpus)}\n")
        said = self._bare("graphgate", "check", "-v", os.path.join(corpus, "models/mutations.pt2"))
        self.assertIn("1 passed, 0 failed", said)
        said = self._bare(
            "graphgate", "gate", "--baseline", "torch-2.8.0", "--candidate", "torch-2.8.0", "--limit", "3",
            "--reruns", "0")
        self.assertIn("3 cases on both", said)

    def test_its_libraries_are_in_it(self):
        program = os.path.join(self._package(), "bin/graphgate")
        ran = _run("ldd", program)
        places = dict(re.findall(r"(\S+)\.so\S* => (\S+)", ran.stdout))
        inside = [name for name, place in places.items() if place.startswith(_FOLDER)]
        # What every system has, by auditwheel's list: the C and C++ libraries, and zlib.
        outside = {name.split("-")[0] for name in places} - {name.split("-")[0] for name in inside}
        self.assertLessEqual(outside, {"libc", "libm", "libgcc_s", "libstdc++", "libz"}, ran.stdout)
        self.assertIn("libzip", {name.split("-")[0] for name in inside}, ran.stdout)

    def test_no_path_of_the_machine_that_built_it_is_in_it(self):
        if not _OWN_BUILD:
            self.skipTest("the program is that of a build for tests")
        with open(os.path.join(self._package(), "bin/graphgate"), "rb") as file:
            program = file.read()
        self.assertIn(b"spec/tensor.cpp", program)  # messages do name sources
        self.assertEqual(re.findall(re.escape(_ROOT.encode()) + rb"[ -~]*", program), [])

    def test_adapters_are_importable(self):
        for name in ("adapter", "torch", "vllm", "executorch", "onnxruntime"):
            place = self._python(f"import graphgate_{name} as a; print(a.__file__)")
            self.assertTrue(place.startswith(_FOLDER), place)

    def test_another_environment_gets_the_adapter_alone(self):
        # An interpreter without graphgate_torch. Nothing but adapters may come in front of its PYTHONPATH:
        # it would import the packages of this environment.
        share = os.path.join(self._package(), "share/graphgate")
        ran = _run(
            os.path.join(_FOLDER, "bare/bin/graphgate"), "check", "--executor", "python:/usr/bin/python3",
            os.path.join(share, "golden/cases/op/view.case"))
        folder = os.path.join(share, "adapters/torch")
        self.assertEqual(
            [name for name in os.listdir(folder) if os.path.exists(os.path.join(folder, name, "__init__.py"))],
            ["graphgate_torch"])
        if ran.returncode != 0:  # the system's interpreter has no PyTorch: the adapter has begun all the same
            self.assertIn(f"PYTHONPATH={folder}", ran.stderr)
            self.assertIn("No module named 'torch'", ran.stderr)

    def test_a_model_without_pytorch_is_one_line_that_says_what_to_install(self):
        ran = _run(os.path.join(_FOLDER, "bare/bin/python"), "-c", "import graphgate; graphgate.check(abs, (1,))")
        self.assertNotEqual(ran.returncode, 0)
        self.assertIn("pip install torch safetensors", ran.stderr.splitlines()[-1])


def main():
    global _FOLDER, _WHEEL, _OWN_BUILD
    build = ["--build", sys.argv.pop(1)] if len(sys.argv) > 1 else []
    _OWN_BUILD = not build
    with tempfile.TemporaryDirectory() as folder:
        _FOLDER = os.path.realpath(folder)
        os.mkdir(os.path.join(folder, "elsewhere"))
        made = subprocess.run(
            [os.path.join(_ROOT, "tools/python/build_wheel"), *build, folder], stdout=subprocess.PIPE,
            text=True, check=False)
        if made.returncode != 0:
            sys.exit(made.returncode)
        _WHEEL = made.stdout.strip()
        # Debian's interpreter, as a bare machine has it; the one of this test elsewhere.
        python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
        bare = os.path.join(_FOLDER, "bare")
        subprocess.run([python, "-m", "venv", bare], check=True, env=_environment())
        subprocess.run(
            [bare + "/bin/python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet",
             "--no-index", _WHEEL], check=True, env=_environment())
        unittest.main()


if __name__ == "__main__":
    main()
