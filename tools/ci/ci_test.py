#!/usr/bin/env python3
"""Runs what the GitHub action and the GitLab job run, as the services do, and looks at what is left.

    ci_test.py GRAPHGATE GOLDEN [CLASS...]

The two files are read as YAML: the steps of the action run with the variables that they say, made of
its inputs and their defaults. A step that is an action of somebody else is not run, and what it is given
is looked at. The Containerfile is read alone: tools/ci/image_test builds it. Ends with 77 where there is no
reader of YAML."""
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zipfile

SKIPPED = 77
try:
    import yaml
except ImportError:
    print("there is no yaml for this python3")
    sys.exit(SKIPPED)

HERE = os.path.dirname(os.path.abspath(__file__))
GRAPHGATE, GOLDEN = "", ""
SMALL_GATE = "gate --baseline fixed --candidate fixed --limit 3 --reruns 0"
# What the steps of others take, as they are documented.
INPUTS_OF = {
    "actions/cache": {"path", "key", "restore-keys"},
    "actions/upload-artifact": {"name", "path"},
    "github/codeql-action/upload-sarif": {"sarif_file"},
}
# A package that puts a command into an environment: an executor, which is another graphgate.
SERVES = """[console_scripts]
serves = serves:main
"""
SERVES_CODE = """import os, sys
def main():
    os.execvp({graphgate!r}, ["graphgate", "serve"])
"""


def read_yaml(name: str):
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def make_wheel(folder: str) -> str:
    path = os.path.join(folder, "serves-1.0-py3-none-any.whl")
    info = "serves-1.0.dist-info/"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("serves.py", SERVES_CODE.format(graphgate=GRAPHGATE))
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: serves\nVersion: 1.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: a test\n"
                                       "Root-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "entry_points.txt", SERVES)
        wheel.writestr(info + "RECORD", "")
    return path


class Job(unittest.TestCase):
    """A job in a folder of its own, with graphgate in its path."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        os.mkdir(self.at("bin"))
        os.symlink(GRAPHGATE, self.at("bin/graphgate"))
        self.variables = {name: value for name, value in os.environ.items()
                          if not name.startswith(("GITHUB_", "GRAPHGATE_"))}
        self.variables["PATH"] = self.at("bin") + ":" + os.environ["PATH"]

    def at(self, name: str) -> str:
        return os.path.join(self.folder.name, name)

    def text(self, name: str) -> str:
        with open(self.at(name), encoding="utf-8") as file:
            return file.read()

    def run_here(self, *words: str, **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(words, cwd=self.folder.name, env={**self.variables, **variables},
                              text=True, capture_output=True)

    def script(self, *words: str, **variables: str) -> subprocess.CompletedProcess:
        return self.run_here(os.path.join(HERE, "graphgate_ci"), *words, **variables)

    def expect_reports(self, folder: str) -> None:
        self.assertEqual(sorted(os.listdir(self.at(folder))),
                         ["graphgate.sarif", "junit.xml", "report.json", "summary.md"])
        json.loads(self.text(folder + "/report.json"))
        self.assertEqual(json.loads(self.text(folder + "/graphgate.sarif"))["version"], "2.1.0")
        xml.etree.ElementTree.fromstring(self.text(folder + "/junit.xml"))


class Script(Job):
    def test_leaves_reports_and_ends_as_graphgate_does(self):
        good = self.script(*SMALL_GATE.split())
        self.assertEqual(good.returncode, 0, good.stderr)
        self.assertIn("3 clean", good.stdout)
        self.expect_reports("graphgate-reports")
        case = os.path.join(GOLDEN, "cases/catalogue/b4-freed-twice.case")
        bad = self.script("check", "--deviation", "frees_twice", case, GRAPHGATE_REPORTS="bad")
        self.assertEqual(bad.returncode, 1, bad.stderr)
        self.expect_reports("bad")
        self.assertIn("FAIL", self.text("bad/summary.md"))

    def test_leaves_no_reports_of_an_earlier_job(self):
        os.mkdir(self.at("graphgate-reports"))
        for name in ("summary.md", "junit.xml", "kept.txt"):
            with open(self.at("graphgate-reports/" + name), "w", encoding="utf-8") as file:
                file.write("PASS of yesterday\n")
        refused = self.script("check", "no-such.pt2", "--no-such-flag", GITHUB_STEP_SUMMARY=self.at("page.md"))
        self.assertEqual(refused.returncode, 4, refused.stderr)
        self.assertEqual(os.listdir(self.at("graphgate-reports")), ["kept.txt"])
        self.assertFalse(os.path.exists(self.at("page.md")))

    def test_lets_through_what_is_inconclusive_only_where_that_is_said(self):
        with open(self.at("own.txt"), "w", encoding="utf-8") as file:
            file.write('program "p" {\n  input %x : f32[4]\n  %y : f32[4] = nobody.knows.default(%x)\n'
                       '  output %y\n}\n')
        self.assertEqual(self.script("check", "own.txt").returncode, 2)
        allowed = self.script("check", "own.txt", GRAPHGATE_ALLOW_INCONCLUSIVE="true")
        self.assertEqual(allowed.returncode, 0, allowed.stderr)

    def test_says_in_one_line_what_is_wrong_with_its_words(self):
        for words, variables, message in [
            ([], {}, "nothing to run"),
            (["plan", "x.pt2"], {}, "'plan' writes no reports"),
            (SMALL_GATE.split(), {"GRAPHGATE_PACKAGE": "none.deb"}, "none.deb: there is no such"),
            (SMALL_GATE.split(), {"GRAPHGATE_ENVIRONMENTS": "torch"}, "expected NAME=REQUIREMENTS"),
            (SMALL_GATE.split(), {"GRAPHGATE_ENVIRONMENTS": "..=torch"}, "expected NAME=REQUIREMENTS"),
            (SMALL_GATE.split(), {"GRAPHGATE_ALLOW_INCONCLUSIVE": "yes"}, "expected true or false"),
        ]:
            refused = self.script(*words, **variables)
            self.assertEqual(refused.returncode, 4, message)
            self.assertEqual(refused.stderr.count("\n"), 1, refused.stderr)
            self.assertIn(message, refused.stderr)

    def test_says_which_environment_there_is_not(self):
        case = os.path.join(GOLDEN, "cases/op/conversion.case")
        lines = "old=torch==2.14.0\nnewer=torch==2.15.0"
        for word in ("python:@new:compile", "next=vllm:@new"):
            ran = self.script("check", "--executor", word, case, GRAPHGATE_ENVIRONMENTS=lines)
            self.assertEqual(ran.returncode, 4, ran.stderr)
            self.assertEqual(
                ran.stderr,
                f"graphgate_ci: {word}: GRAPHGATE_ENVIRONMENTS has no line 'new=REQUIREMENTS'\n")
        self.assertFalse(os.path.exists(self.at(".graphgate/environments")))

    def test_calls_a_folder_that_cannot_be_made_the_machines_fault(self):
        with open(self.at("file"), "w", encoding="utf-8"):
            pass
        ran = self.script(*SMALL_GATE.split(), GRAPHGATE_REPORTS="file/reports")
        self.assertEqual(ran.returncode, 3, ran.stderr)
        self.assertIn("graphgate_ci: GRAPHGATE_FOLDER and GRAPHGATE_REPORTS", ran.stderr)

    def test_refuses_a_quote_without_an_end(self):
        ran = self.script(GRAPHGATE_RUN="check 'a b.case")
        self.assertEqual(ran.returncode, 4, ran.stderr)
        self.assertEqual(ran.stderr, "graphgate_ci: GRAPHGATE_RUN: a quote has no end: check 'a b.case\n")

    def test_says_where_there_is_no_graphgate(self):
        missing = self.script(*SMALL_GATE.split(), PATH=os.defpath)
        self.assertEqual(missing.returncode, 3)
        self.assertIn("there is no graphgate", missing.stderr)


class Action(Job):
    def setUp(self):
        super().setUp()
        self.action = read_yaml("action.yml")

    def filled_in(self, text: str, given: dict) -> str:
        def value_of(match: re.Match) -> str:
            name = match[1]
            if name.startswith("inputs."):
                key = name.removeprefix("inputs.")
                self.assertIn(key, self.action["inputs"])
                row = self.action["inputs"][key]
                self.assertTrue(row.get("required") or "default" in row, key)
                return given.get(key, row.get("default"))
            self.assertIn(name, ["github.run_id", "steps.graphgate.outputs.exit-code"])
            return "1"
        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value_of, text)

    def test_is_one_that_github_takes(self):
        self.assertEqual(self.action["runs"]["using"], "composite")
        for name, row in self.action["inputs"].items():
            self.assertTrue(row["description"], name)
            self.assertIsInstance(row.get("default", ""), str, name)
        used = set(re.findall(r"inputs\.([\w-]+)", json.dumps(self.action)))
        self.assertEqual(used, set(self.action["inputs"]))
        for step in self.action["runs"]["steps"]:
            if "uses" in step:
                action, version = step["uses"].split("@")
                self.assertRegex(version, r"^v\d+$")
                self.assertLessEqual(set(step["with"]), INPUTS_OF[action])
            else:
                self.assertEqual(step["shell"], "bash")

    def test_runs_the_script_with_its_inputs(self):
        given = {"run": SMALL_GATE, "package": "", "reports": "kept"}
        ran = 0
        for step in self.action["runs"]["steps"]:
            if "run" not in step:
                continue
            ran += 1
            variables = {name: self.filled_in(text, given) for name, text in step["env"].items()}
            done = self.run_here("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"],
                                 GITHUB_ACTION_PATH=HERE, GITHUB_STEP_SUMMARY=self.at("page.md"),
                                 GITHUB_OUTPUT=self.at("outputs"), **variables)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(ran, 1)
        self.expect_reports("kept")
        self.assertEqual(self.text("page.md"), self.text("kept/summary.md"))
        self.assertEqual(self.text("outputs"), "exit-code=0\n")
        sarif = [step["with"]["sarif_file"] for step in self.action["runs"]["steps"]
                 if "sarif" in step.get("uses", "")]
        self.assertTrue(os.path.exists(self.at(self.filled_in(sarif[0], given))))


class GitLab(Job):
    def test_runs_the_script_with_its_variables(self):
        job = read_yaml("gitlab.yml")[".graphgate"]
        os.symlink(os.path.join(HERE, "graphgate_ci"), self.at("bin/graphgate_ci"))
        variables = {**job["variables"], "GRAPHGATE_RUN": SMALL_GATE}
        done = self.run_here("bash", "-eo", "pipefail", "-c", "\n".join(job["script"]), **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        def path_of(text: str) -> str:
            return self.at(re.sub(r"\$(\w+)", lambda match: variables[match[1]], text))
        for path in [job["artifacts"]["reports"]["junit"], *job["artifacts"]["paths"],
                     *job["cache"]["paths"]]:
            self.assertTrue(os.path.exists(path_of(path)), path)
        self.expect_reports("graphgate-reports")


class Environments(Job):
    """Seconds of processor each: slow."""

    def test_makes_environments_once_and_names_them(self):
        wheel = make_wheel(self.folder.name)
        variables = {
            "PIP_NO_INDEX": "1",
            "GRAPHGATE_ENVIRONMENTS": f"old={wheel}\nolder='{wheel}'\n",
            "GRAPHGATE_RUN": "gate --baseline cmd:@old/bin/serves --candidate 'cmd:@older/bin/serves' "
                             "--limit 2 --reruns 0",
        }
        for _ in range(2):
            done = self.script(**variables)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("2 clean", done.stdout)
            made = os.stat(self.at(".graphgate/environments/older/requirements")).st_mtime_ns
            variables.setdefault("made", str(made))
            self.assertEqual(variables["made"], str(made))

    def test_installs_a_package_of_pip(self):
        wheel = make_wheel(self.folder.name)
        # The package brings no graphgate along: the one in the path is taken.
        done = self.script(*SMALL_GATE.split(), GRAPHGATE_PACKAGE=wheel, PIP_NO_INDEX="1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.at(".graphgate/program/bin/serves")))


class Schemas(unittest.TestCase):
    """The two files as the services read them: by the schemas that are published of their forms, which the
    package check-jsonschema of PyPI brings along."""

    def setUp(self):
        self.checker = os.environ.get("GRAPHGATE_CHECK_JSONSCHEMA") or shutil.which("check-jsonschema")
        if not self.checker:
            self.skipTest("there is no check-jsonschema (pip install check-jsonschema, or name it in "
                          "GRAPHGATE_CHECK_JSONSCHEMA)")

    def check(self, text: str, *words: str) -> subprocess.CompletedProcess:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "file.yml")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            return subprocess.run([self.checker, *words, path], text=True, capture_output=True)

    def expect(self, text: str, *words: str) -> None:
        good = self.check(text, *words)
        self.assertEqual(good.returncode, 0, good.stdout + good.stderr)

    def read(self, name: str) -> str:
        with open(os.path.join(HERE, name), encoding="utf-8") as file:
            return file.read()

    def shown(self, name: str) -> str:
        """What the comment at the top of a file shows of its use."""
        lines = [line for line in self.read(name).splitlines() if line.startswith("#   ")]
        return "".join(line.removeprefix("#   ") + "\n" for line in lines)

    def test_the_action_is_one(self):
        words = "--builtin-schema", "vendor.github-actions"
        self.expect(self.read("action.yml"), *words)
        wrong = self.check(self.read("action.yml").replace("shell: bash", "shel: bash"), *words)
        self.assertEqual(wrong.returncode, 1, "a schema that takes all tells nothing")

    def test_a_workflow_may_use_the_action_as_its_comment_shows(self):
        step = "".join("      " + line + "\n" for line in self.shown("action.yml").splitlines())
        self.expect("on: push\njobs:\n  upgrade:\n    runs-on: ubuntu-latest\n    steps:\n" + step,
                    "--builtin-schema", "vendor.github-workflows")

    def test_the_job_is_one_and_so_is_what_extends_it(self):
        words = "--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci"
        # The schema leaves hidden jobs, whose names begin with a point, as they are.
        job = self.read("gitlab.yml").replace("\n.graphgate:", "\ngraphgate:")
        self.expect(job, *words)
        self.expect(self.shown("gitlab.yml"), *words)
        wrong = self.check(job.replace("when: always", "when: allways"), *words)
        self.assertEqual(wrong.returncode, 1, "a schema that takes all tells nothing")


class Containerfile(unittest.TestCase):
    def test_is_made_of_instructions_and_of_commands_that_a_shell_reads(self):
        with open(os.path.join(HERE, "Containerfile"), encoding="utf-8") as file:
            text = re.sub(r"\\\n\s*", "", file.read())
        lines = [line for line in text.splitlines() if line and not line.startswith("#")]
        names = [line.split()[0] for line in lines]
        self.assertEqual(names, ["ARG", "FROM", "ARG", "COPY", "RUN", "ENV", "WORKDIR", "CMD"])
        for line in lines:
            if line.startswith("RUN "):
                subprocess.run(["sh", "-n", "-c", line.removeprefix("RUN ")], check=True)
        path = next(line for line in lines if line.startswith("ENV PATH="))
        self.assertIn("/usr/share/graphgate/ci", path)
        self.assertTrue(os.stat(os.path.join(HERE, "graphgate_ci")).st_mode & stat.S_IXUSR)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    GRAPHGATE, GOLDEN = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
