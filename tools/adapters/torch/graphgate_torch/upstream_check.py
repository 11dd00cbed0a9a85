"""Holds what this version of Inductor decides beside what graphgate decides under its profile.

Programs are run through graphgate's protocol, on a backend that stores graphs and decisions
(upstream_backend.py); then each graph is planned, and both are compared (upstream_comparison.py).
In the plan's place may stand what Inductor decided on another device.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from graphgate_adapter.errors import words_of
from graphgate_torch.upstream_comparison import Comparison, Counts, Planned, Upstream

# Passes of the planner's own. What they would change is no decision of a scheduler.
_PASSES = (
    "drop_proven_assertions", "noop_elimination", "reinplace", "fuse_rms_norm",
    "fuse_add_rms_norm", "fuse_silu_mul", "fuse_norm_quant", "fuse_attention_quant",
)
_EXAMPLES = 3
# Differences that are known: what is compared, and how it differs. docs/upstream_check.md says why.
_LISTED = [
    (re.compile(what), re.compile(kind)) for what, kind in (
        ("storages", "a view upstream, a copy here|a copy upstream, a view here|another storage"),
        ("nodes", "captured upstream, cut here: (a split op; )?unbacked symbol"),
        ("nodes", "captured upstream, cut here: a split op"),
        ("nodes", "cut upstream, captured here: a split op"),
        ("nodes", "cut upstream, captured here: CUDAGraph-unsafe custom ops(; a split op)?"),
        (".* partitions", "other nodes"),
        ("results of tuples", "taken out behind the partition that makes the tuple, upstream"),
        ("signatures.*", "input here alone, of the graph"),
        ("signatures.*", "symbols (upstream|here) alone"),
        ("results in place", "in place upstream, (allocated|reused) here|another buffer's bytes"),
        ("allocations", "allocated upstream, (in place|reused) here"),
        ("reuses", "reused upstream, (in place|allocated) here|another buffer's bytes"),
    )
]


# What holds for older versions alone: (version that mended it, what, how).
_LISTED_BEFORE = [
    ((2, 11), re.compile("signatures.*"),
     re.compile("(input|output) upstream alone|freed here alone|input here alone")),
    # should_partition said yes or no, and gave no reason.
    ((2, 11), re.compile("nodes"), re.compile("cut upstream, captured here: True")),
]


class Failed(Exception):
    """The check could not be made."""


def _executor(folder, device):
    """The command of an executor that stores decisions in the folder."""
    return (f"{sys.executable} -m graphgate_torch serve --backend upstream --device {device}"
            f" --set folder={folder}")


def _run(command):
    # What the judges say of eager mode is of no interest here, and an exit code of theirs is none of ours.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode > 2:
        last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
        raise Failed(f"{' '.join(command[:2])}: exit code {done.returncode}: {last}")


def record(graphgate, files, folder, device, jobs):
    """Has decisions stored for programs and cases."""
    _run([graphgate, "check", "--judges", "state", "-j", str(jobs), "--executor-timeout", "600",
          "--executor", _executor(folder, device), *files])


def record_drawn(graphgate, cases, seed, folder, device, jobs):
    """Has decisions stored for cases that graphgate draws."""
    with tempfile.TemporaryDirectory() as corpus:
        _run([graphgate, "fuzz", "--cases", str(cases), "--seed", str(seed), "-j", str(jobs),
              "--judges", "state", "--corpus", os.path.join(corpus, "corpus"), "--timeout", "600",
              "--executor-timeout", "600", "--reduce-time", "0.1", "--executor", _executor(folder, device)])


def _known_ops(graphgate):
    """The ops of graphgate's table, as schemas call them."""
    done = subprocess.run([graphgate, "ops"], capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"{graphgate} ops: exit code {done.returncode}: {done.stderr.strip()}")
    rows = (line.split(None, 1) for line in done.stdout.splitlines())
    return {row[1].partition("(")[0] for row in rows if len(row) == 2}


def _name_steps(plan, nodes):
    """Gives steps the names of their nodes where the archive did not keep them."""
    for step in plan["steps"]:
        _, is_numbered, number = step["name"].partition("node_")
        if step["name"] not in nodes and is_numbered and number.isdigit():
            step["name"] = nodes[int(number)]


class Plans:
    """What graphgate decides under a profile, for graphs of a folder."""

    def __init__(self, graphgate, profile):
        self._graphgate, self._profile = graphgate, profile
        self._known = _known_ops(graphgate)
        self.told = f"under {profile}"

    @staticmethod
    def listed(version):
        """Differences to that version that are known: (what, kind)."""
        return _LISTED + [
            (what, kind) for mended, what, kind in _LISTED_BEFORE if version < mended
        ]

    def side(self, base, stored, number):
        """The decisions for a way to cut the graph BASE.pt2, and the graph's inputs. Throws Failed."""
        archive = base + ".pt2"
        try:
            plan, places = self._planned(archive, stored["ops"], stored["variants"][number]["split_ops"])
        except Failed as error:
            raise Failed(str(error).replace(archive, "the graph")) from None
        _name_steps(plan, stored["nodes"])
        if len(plan["blocks"]) > 1:
            # Values inside and outside have the same names there, and others here.
            raise Failed("the graph holds conditionals or loops")
        return Planned(plan, places), [each["value"] for each in plan["inputs"] if "value" in each]

    def _planned(self, archive, rows, split_ops):
        """The plan of graphgate, and how its buffers came to their bytes."""
        with tempfile.TemporaryDirectory() as folder:
            plan, places, ops = (os.path.join(folder, name) for name in ("plan", "places", "ops"))
            # A schema is enough for an op that the table has not.
            own = [each for each in rows if each.partition("(")[0] not in self._known]
            with open(ops, "w", encoding="utf-8") as file:
                file.write("".join(each + "\n" for each in own))
            command = [self._graphgate, "plan", archive, "--profile", self._profile, "--compiler",
                       "eager", "--json", plan, "--places", places]
            for name in _PASSES:
                command += ["--no-pass", name]
            for name in split_ops:
                command += ["--split-op", name]
            if own:
                command += ["--custom-ops", ops]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                said = (done.stderr.strip() or done.stdout.strip()).splitlines()
                raise Failed("graphgate: " + (said[0] if said else f"exit code {done.returncode}"))
            with open(plan, encoding="utf-8") as file:
                said = json.load(file)
            with open(places, encoding="utf-8") as file:
                return said, [json.loads(line) for line in file]


class Stored:
    """What Inductor decided for the same graphs before, as another folder keeps it."""

    def __init__(self, folder):
        self._folder = folder
        self.told = f"beside {folder}, which is called here"

    @staticmethod
    def listed(_):
        """None: one version decides the same wherever a graph is."""
        return []

    def side(self, base, stored, number):
        """As that of Plans."""
        try:
            with open(os.path.join(self._folder, os.path.basename(base) + ".json"), encoding="utf-8") as file:
                other = json.load(file)
        except FileNotFoundError:
            raise Failed("the other folder has no such graph") from None
        cuts = stored["variants"][number]["split_ops"]
        for variant in other["variants"]:
            if variant["split_ops"] == cuts and "decided" in variant:
                return Upstream(variant["decided"]), stored["inputs"]
        raise Failed("the other folder has the graph, and not cut in this way")


class Check:
    """Compares all graphs of a folder with Plans, or with what is Stored.

    `counts` grows; `left_out`: why others were not compared.
    """

    def __init__(self, other):
        self._other = other
        self._version = (0,)  # of the PyTorch that decided
        self.counts = Counts()
        self.left_out = collections.Counter()
        self.graphs = self.programs = 0

    def compare(self, folder):
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            self.graphs += 1
            for number, variant in enumerate(stored["variants"]):
                if "error" in variant:
                    self.left_out["Inductor: " + variant["error"]] += 1
                    continue
                self._compare_one(path.removesuffix(".json"), stored, number)
        for path in glob.glob(os.path.join(folder, "*.refused")):
            with open(path, encoding="utf-8") as file:
                self.left_out["Inductor: " + json.load(file)["error"]] += 1

    def _compare_one(self, base, stored, number):
        try:
            ours, inputs = self._other.side(base, stored, number)
        except Failed as error:
            self.left_out[str(error)] += 1
            return
        decided = stored["variants"][number]["decided"]
        self._version = tuple(int(n) for n in re.findall(r"\d+", decided["torch"])[:2])
        label = f"{os.path.basename(base)}.{number}"
        Comparison(Upstream(decided), ours, label, self.counts, inputs).run()
        self.programs += 1

    # --- what is told ---

    def unlisted(self):
        """(what, kind) of differences that are not known."""
        listed = self._other.listed(self._version)
        return [
            (what, kind) for what, kinds in self.counts.kinds.items() for kind in kinds
            if not any(w.fullmatch(what) and k.fullmatch(kind) for w, k in listed)
        ]

    def lines(self):
        counts = self.counts
        yield f"{self.graphs} graphs, {self.programs} ways to cut them, {self._other.told}"
        for what in sorted({*counts.agreed, *counts.kinds}):
            yield f"{what}: {counts.agreed[what]} agree, {counts.differed(what)} differ"
            for kind, count in counts.kinds[what].most_common():
                shown = counts.examples[what, kind][:_EXAMPLES]
                mark = "not listed: " if (what, kind) in self.unlisted() else ""
                yield f"  {mark}{count} {kind} ({'; '.join(shown)})"
        if self.left_out:
            yield f"not compared: {sum(self.left_out.values())}"
            for why, count in self.left_out.most_common():
                yield f"  {count} {why[:200]}"


def main(arguments):
    """The verb `upstream`. Returns its exit code."""
    import torch

    version = torch.__version__.partition("+")[0]
    profile = arguments.profile or f"torch-{version}"
    if arguments.against and not os.path.isdir(arguments.against):
        print(f"graphgate_torch: --against {arguments.against}: there is no such folder", file=sys.stderr)
        return 4
    try:
        with tempfile.TemporaryDirectory() as own:
            folder = arguments.folder or own
            os.makedirs(folder, exist_ok=True)
            if arguments.files:
                record(arguments.graphgate, arguments.files, folder, arguments.device, arguments.jobs)
            if arguments.drawn:
                record_drawn(arguments.graphgate, arguments.drawn, arguments.seed, folder,
                             arguments.device, arguments.jobs)
            other = Stored(arguments.against) if arguments.against else Plans(arguments.graphgate, profile)
            check = Check(other)
            check.compare(folder)
    except (Failed, OSError) as error:
        print(f"graphgate_torch: {error if isinstance(error, Failed) else words_of(error)}", file=sys.stderr)
        return 3
    for line in check.lines():
        print(line)
    if not check.programs:
        print("graphgate_torch: nothing was compared", file=sys.stderr)
        return 3
    return 1 if check.unlisted() else 0
