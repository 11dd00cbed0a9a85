"""Small runs of every verb, for what is done to them: faults.py and kill_storm.py.

A run reads golden files, and writes below a folder of its own. Its temporary folder lies there, too.
"""
import dataclasses
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree
import zipfile

OLD = b"what stood here before\n"


@dataclasses.dataclass
class Run:
    """`{golden}` and `{out}` stand for folders, in all words."""

    name: str
    words: list[str]
    outputs: list[str] = dataclasses.field(default_factory=list)  # files that it writes, below `out`
    folders: list[str] = dataclasses.field(default_factory=list)  # into these it may write more
    before: list[list[str]] = dataclasses.field(default_factory=list)  # commands that prepare it
    resume: list[str] | None = None  # goes on with what it left; it comes to the same then
    has_golden: bool = False  # has golden files of its own, to be written


REPORTS = ["json", "markdown", "junit", "sarif", "html"]


def reports(*names: str) -> tuple[list[str], list[str]]:
    flags, files = [], []
    for name in names or REPORTS:
        flags += [f"--{name}", "{out}/report." + name]
        files.append("report." + name)
    return flags, files


def runs() -> list[Run]:
    flags, files = reports()
    case = "{golden}/cases/catalogue/b2-inverted-range.case"
    model = "{golden}/models/mutations.pt2"
    fuzz = ["fuzz", "--cases", "6", "-j", "2", "--seed", "7", "--reduce-time", "0", "--corpus"]
    faulty = ["--judges", "verifier", "--deviation", "lifetimes_touch_wrongly"]
    return [
        Run("check", ["check", model, case, *flags, "--bundle", "{out}/bundle.zip", "--trace",
                      "{out}/trace.json"], [*files, "bundle.zip", "trace.json"]),
        Run("check_record", ["check", model, "--record", "{out}/kept"], folders=["kept"]),
        Run("check_cache", ["check", model, "--cache", "{out}/cache"], folders=["cache"]),
        Run("check_executor", ["check", case, "--judges", "bounds", "--executor", "{graphgate} serve", *flags,
                               "--log-protocol", "{out}/log.jsonl"], [*files, "log.jsonl"]),
        Run("plan", ["plan", model, "--json", "{out}/plan.json", "--html", "{out}/plan.html", "--trace",
                     "{out}/trace.json", "--cache", "{out}/cache"],
            ["plan.json", "plan.html", "trace.json"], ["cache"]),
        Run("run", ["run", model, "--save", "{out}/results.safetensors", "--trace", "{out}/trace.json"],
            ["results.safetensors", "trace.json"]),
        Run("convert", ["convert", model, "{out}/model.pt2"], ["model.pt2", "model.pt2.safetensors"]),
        Run("ops", ["ops", "--coverage", "{golden}/models", "--json", "{out}/ops.json"], ["ops.json"]),
        Run("mutants", ["mutants", "--filter", "frees_twice", "--json", "{out}/mutants.json",
                        "{golden}/cases/signature"], ["mutants.json"]),
        Run("fuzz", [*fuzz, "{out}/corpus", *faulty, *flags], files, ["corpus"],
            resume=[*fuzz, "{out}/corpus", *faulty, *flags, "--resume"]),
        Run("fuzz_merge", ["fuzz", "merge", "{out}/corpus", "--into", "{out}/sum", *flags], files,
            ["corpus", "sum"], [[*fuzz, "{out}/corpus"]]),
        Run("reduce", ["reduce", "--deviation", "frees_twice", "-o", "{out}/small.case", "--time", "5",
                       "--json", "{out}/reduce.json", "--checks", "30",
                       "{golden}/cases/catalogue/b4-freed-twice.case"],
            ["small.case", "reduce.json"]),
        Run("replay", ["replay", case, "--json", "{out}/replay.json"], ["replay.json"]),
        Run("gate", ["gate", "--baseline", "torch-2.9.0", "--candidate", "torch-2.9.1", "--corpus",
                     "{golden}/cases/signature", "--save", "{out}/side.json", *flags],
            ["side.json", *files]),
        Run("golden_check", ["golden", "check", "--only", "models/mutations", "{golden}", *flags], files),
        Run("golden_update", ["golden", "update", "--reason", "a test", "{out}/golden"],
            folders=["golden"], has_golden=True),
        # It tells what the machine does not tell: a fault is a fact.
        Run("doctor", ["doctor"]),
    ]


class Place:
    """A folder for one run; gone at the end."""

    def __init__(self, run: Run, graphgate: str, golden: str):
        self.run, self.graphgate, self.golden = run, graphgate, golden
        self.root = tempfile.mkdtemp(prefix="graphgate-faults-")
        self.out = os.path.join(self.root, "out")
        self.temporary = os.path.join(self.root, "tmp")
        os.mkdir(self.out)
        os.mkdir(self.temporary)

    def __enter__(self):
        if self.run.has_golden:
            copy_few(self.golden, os.path.join(self.out, "golden"))
        for words in self.run.before:
            self.start(words).check_returncode()
        for name in self.run.outputs:
            with open(os.path.join(self.out, name), "wb") as file:
                file.write(OLD)
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def command(self, words: list[str]) -> list[str]:
        return [self.graphgate] + [
            word.format(golden=self.golden, out=self.out, graphgate=self.graphgate) for word in words]

    def environment(self, **more: str) -> dict[str, str]:
        return {**os.environ, "TMPDIR": self.temporary, **more}

    def start(self, words: list[str], **more: str) -> subprocess.CompletedProcess:
        return subprocess.run(self.command(words), env=self.environment(**more), cwd=self.root,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)

    def bytes_of(self, name: str) -> bytes | None:
        try:
            with open(os.path.join(self.out, name), "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def files(self) -> list[str]:
        """All that lies below `out` and the temporary folder, in folders that are not excused."""
        found = []
        for top in (self.out, self.temporary):
            for folder, _, names in os.walk(top):
                found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return sorted(found)

    def gists(self) -> dict[str, bytes | None]:
        return {name: gist(name, self.bytes_of(name) or b"", self.root) for name in self.run.outputs}

    def campaign(self) -> str:
        """What a campaign came to, but for its times; empty where there is none."""
        path = os.path.join(self.out, "corpus/campaigns/shard-0-of-1.campaign")
        if not os.path.exists(path):
            return ""
        with open(path, encoding="utf-8") as file:
            return "".join(line for line in file if not line.startswith(("seconds", "triage")))

    def scratch(self) -> list[str]:
        """What a run must not leave: files aside, and anything in the temporary folder."""
        left = [os.path.join("tmp", name) for name in os.listdir(self.temporary)]
        return left + [name for name in self.files() if ".partial-" in name or ".tmp." in name]


def copy_few(golden: str, to: str) -> None:
    """A program of golden files, for a run that updates them."""
    os.makedirs(os.path.join(to, "cases/mutation"))
    os.makedirs(os.path.join(to, "recorded"))
    shutil.copy(os.path.join(golden, "cases/mutation/cache-rows.case"),
                os.path.join(to, "cases/mutation"))
    with open(os.path.join(to, "recorded/list.txt"), "w", encoding="utf-8") as file:
        file.write("program cases/mutation/cache-rows.case\n")


NUMBERS = re.compile(rb'("[a-z_]*seconds[a-z_]*": |in |time=")[-+0-9.e]+|[0-9.]+ ?s\b|[0-9]+\.[0-9]+')


def steady(content: bytes, root: str) -> bytes:
    """Without what differs between two runs: times, and the folder."""
    return NUMBERS.sub(b"#", content.replace(root.encode(), b"ROOT"))


def page_data(page: str) -> bytes:
    """What a page draws, without the times of a campaign. A ValueError where the page is not whole."""
    begin = page.index('id="data">') + len('id="data">')
    data = json.loads(page[begin:page.index("</script>", begin)])
    if not page.endswith("</html>\n"):
        raise ValueError("the page has no end")
    for panel in data["panels"]:
        panel.pop("points", None)
        for finding in panel.get("findings", []):
            finding.pop("history", None)
    return json.dumps(data).encode() + b"\n"


def gist(name: str, content: bytes, root: str) -> bytes | None:
    """What a file says, without what differs between two runs; None where it is not whole."""
    try:
        if name.endswith((".zip", ".pt2")):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                is_whole = archive.testzip() is None
                return " ".join(sorted(archive.namelist())).encode() if is_whole else None
        if name == "trace.json":  # all else in it is times
            events = json.loads(content)["traceEvents"]
            said = "".join(f"{event['ph']} {event['name']}\n" for event in events)
            return steady(said.encode(), root) if content.endswith(b"\n") else None
        if name.endswith((".json", ".sarif")):
            json.loads(content)
        elif name.endswith(".html"):
            content = page_data(content.decode())
        elif name.endswith(".jsonl"):
            said = [json.loads(line)["direction"] for line in content.splitlines()]
            return " ".join(said).encode() if content.endswith(b"\n") else None
        elif name.endswith(".junit"):
            xml.etree.ElementTree.fromstring(content)
        elif name.endswith(".safetensors"):
            size = int.from_bytes(content[:8], "little")
            ends = [one["data_offsets"][1] for key, one in json.loads(content[8:8 + size]).items()
                    if key != "__metadata__"]
            if len(content) != 8 + size + max(ends, default=0):
                return None
    except (ValueError, KeyError, zipfile.BadZipFile, xml.etree.ElementTree.ParseError):
        return None
    return steady(content, root) if content.endswith(b"\n") or name.endswith(".safetensors") else None
