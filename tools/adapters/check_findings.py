#!/usr/bin/env python3
"""Runs every script and case of SUBJECT/findings/ against environments, and keeps the ledger and its table true.

    check_findings.py SUBJECT                                  whether ledger, files, the table of its page and what
                                                               campaigns draw fit together
    check_findings.py SUBJECT --graphgate PROGRAM PYTHON...    whether the ledger says what these environments show on a CPU
    check_findings.py SUBJECT --graphgate PROGRAM --write PYTHON...    the same, and writes what they show
    check_findings.py SUBJECT --write                          writes the table from the ledger

SUBJECT is the folder of an adapter: torch, vllm, executorch, onnxruntime.

`--device cuda` runs cases and scripts on a GPU, and holds them to the results of a GPU. A script makes its tensors on
that device; one of a finding that only a GPU has names its devices itself.
Exit status: 0 where all is as it is written, 1 where something differs, 2 for wrong input.
"""

import argparse
import dataclasses
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGES = HERE.parents[1] / "docs"
END = "<!-- The end of the table of findings. -->"
JUDGES = "exact,bounds,state,verifier"
SECONDS = 600  # for one script, or one case
GENERATOR = HERE.parents[1] / "fuzz"
MOTIFS = PAGES / "motifs.md"
# Why no motif, op, family or trait of the generator reaches a finding; docs/motifs.md says each in a sentence.
NO_MOTIF = (
    "bounds", "cache", "gradient", "memory", "module", "op", "option", "python", "refusal", "saved", "size", "undecided",
)

# Runs in the environment: imports once, and forks for each script. A script that raises has not seen anything.
# The arguments are files, each behind the device on which its tensors are made. A process that was forked from one that
# had begun with CUDA, as imports of Inductor do, can't use it: on a GPU every script imports them anew.
RUN_SCRIPTS = r"""
import importlib, json, os, runpy, sys
package, folder, *modules = sys.argv.pop(1).split(",")
sys.path.insert(0, folder)
for module in modules if not os.environ.get("CUDA_VISIBLE_DEVICES", "all") else []:
    importlib.import_module(module)
version = importlib.import_module(package).__version__.split("+")[0]
print(json.dumps({"version": version}), flush=True)
for device, path in zip(sys.argv[1::2], sys.argv[2::2]):
    child = os.fork()
    if child == 0:
        os.dup2(2, 1)
        status = 0
        try:
            importlib.import_module("torch").set_default_device(device)
            runpy.run_path(path, run_name="__main__")
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException as error:
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
            status = 2
        sys.stderr.flush()
        os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps({"script": path, "status": status}), flush=True)
"""


@dataclasses.dataclass(frozen=True)
class Subject:
    """An adapter whose engine has findings: its folder, and how scripts and cases run."""

    name: str
    page: Path  # which has the table
    package: str  # whose version the results are of
    modules: tuple  # what scripts share, imported once
    serve: dict  # the command of each backend, behind the interpreter
    adapters: tuple  # folders of adapters that it imports

    @property
    def findings(self):
        return HERE / self.name / "findings"

    @property
    def ledger(self):
        return self.findings / "ledger.json"

    @property
    def begin(self):
        return (f"<!-- The table of findings: written by tools/adapters/check_findings.py from "
                f"{self.name}/findings/ledger.json. -->")


SUBJECTS = {
    "torch": Subject(
        "torch", PAGES / "torch.md", "torch", ("torch", "torch._dynamo", "torch._inductor.compile_fx"),
        {backend: f"-m graphgate_torch serve --backend {backend}" for backend in ("compile", "eager")},
        ("torch", "common")),
    "vllm": Subject(
        "vllm", PAGES / "vllm_findings.md", "vllm", ("compiled",),
        {pieces: f"-m graphgate_vllm serve --compiler {pieces}" for pieces in ("inductor", "eager")},
        ("vllm", "torch", "common")),
    "executorch": Subject(
        "executorch", PAGES / "executorch_adapter.md", "executorch.version", ("lowered",),
        {variant: f"-m graphgate_executorch serve {flags}" for variant, flags in (
            ("greedy", ""), ("greedy-inputs-given", "--inputs given"), ("greedy-outputs-given", "--outputs given"),
            ("greedy-reinplace", "--reinplace"))},
        ("executorch", "torch", "common")),
    "onnxruntime": Subject(
        "onnxruntime", PAGES / "onnxruntime_adapter.md", "onnxruntime", ("exported",),
        {level: f"-m graphgate_onnxruntime serve --optimization {level}" for level in ("all", "none")},
        ("onnxruntime", "common")),
}


class WrongInput(Exception):
    pass


def read_ledger(subject):
    try:
        ledger = json.loads(subject.ledger.read_text())
    except (OSError, ValueError) as error:
        raise WrongInput(f"{subject.ledger}: {error}") from error
    return ledger


def print_ledger(ledger):
    """Returns JSON with a line for each result, so that a new result is one new line."""
    lines = ["{"]
    for key, value in ledger.items():
        if key != "findings":
            lines.append(f"  {json.dumps(key)}: {json.dumps(value)},")
    lines.append('  "findings": [')
    for place, finding in enumerate(ledger["findings"]):
        lines.append("    {")
        for key, value in finding.items():
            if key != "results":
                lines.append(f"      {json.dumps(key)}: {json.dumps(value)},")
        lines.append('      "results": [')
        rows = [f"        {json.dumps(row)}" for row in sorted(finding["results"], key=order_of)]
        lines.extend(row + "," for row in rows[:-1])
        lines.extend(rows[-1:])
        lines.append("      ]")
        lines.append("    }" + ("," if place + 1 < len(ledger["findings"]) else ""))
    lines += ["  ]", "}"]
    return "\n".join(lines) + "\n"


def order_of(row):
    return row["device"], numbers_of(row["version"]), row["backend"]


def numbers_of(version):
    return tuple(int(part) for part in re.findall(r"\d+", version))


def default_device(finding, device):
    """Returns where a finding's script makes its tensors on a machine with `device`."""
    return device if "cpu" in finding["devices"] else "cpu"


# ---- what environments show ----


def run_scripts(subject, python, findings, device):
    """Returns the package's version, and for each finding "shows", "passes" or "broken"."""
    paths = {str(subject.findings / finding["script"]): finding["name"] for finding in findings}
    words = ",".join([subject.package, str(subject.findings), *subject.modules])
    command = [python, "-c", RUN_SCRIPTS, words]
    for path, finding in zip(paths, findings, strict=True):
        command += [default_device(finding, device), path]
    environment = dict(os.environ) if device == "cuda" else dict(os.environ, CUDA_VISIBLE_DEVICES="")
    run = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True,
                         timeout=SECONDS * max(1, len(paths)))
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode != 0 or not lines:
        raise WrongInput(f"{python}: does not run {subject.name} (status {run.returncode})")
    words = {0: "passes", 1: "shows"}
    return lines[0]["version"], {
        paths[line["script"]]: words.get(line["status"], "broken") for line in lines[1:]
    }


def replay(subject, program, python, findings, backend, device):
    """Returns for each finding that has a case what the judges say of it ("shows", "passes", or the outcome), and the
    signatures of it and of those that are alike, without options. One executor runs all that need the same settings.
    """
    said = {}
    for settings in dict.fromkeys(tuple(finding.get("settings", [])) for finding in findings):
        alike = [finding for finding in findings if tuple(finding.get("settings", [])) == settings]
        said |= replay_alike(subject, program, python, alike, backend, device, settings)
    return said


def replay_alike(subject, program, python, findings, backend, device, settings):
    asked = [(finding, file) for finding in findings if finding["case"] and backend in finding["backends"]
             for file in [finding["case"], *finding.get("alike", [])]]
    if not asked:
        return {}
    executor = f"{shlex.quote(python)} {subject.serve[backend]} --device {device}"
    executor += "".join(f" --set {setting}" for setting in settings)
    folders = [str(HERE / name) for name in subject.adapters]
    path = os.pathsep.join(filter(None, [*folders, os.environ.get("PYTHONPATH")]))
    command = [program, "replay", "--judges", JUDGES, "--timeout", str(SECONDS), "--json", "-",
               "--executor", executor, "--executor-timeout", str(SECONDS),
               *(str(subject.findings / file) for _, file in asked)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                         env=dict(os.environ, PYTHONPATH=path))
    try:
        answers = json.loads(run.stdout)
    except ValueError as error:
        raise WrongInput(f"{python}, {backend}: {run.stderr.strip() or error}") from error
    said = {}
    for (finding, file), answer in zip(asked, [answers] if isinstance(answers, dict) else answers, strict=True):
        signatures = {found[:found.rindex("{")] + "{}" for found in answer["found"]}
        if file == finding["case"]:
            word = "shows" if signatures else "passes" if answer["outcome"] == "PASS" else answer["outcome"]
            said[finding["name"]] = word, signatures
        else:
            said[finding["name"]][1].update(signatures)
    return {name: (word, sorted(signatures)) for name, (word, signatures) in said.items()}


def results_of(subject, program, python, findings, device, date, say):
    version, scripts = run_scripts(subject, python, findings, device)
    said = {backend: replay(subject, program, python, findings, backend, device) for backend in subject.serve}
    rows = {}
    for finding in findings:
        for backend in finding["backends"]:
            row = {"version": version, "device": device, "backend": backend, "date": date}
            if finding["case"]:
                row["case"], row["signatures"] = said[backend][finding["name"]]
            if backend == finding["backends"][0]:
                row["script"] = scripts[finding["name"]]
            rows.setdefault(finding["name"], []).append(row)
            words = f"case {row.get('case', '-')}, script {row.get('script', '-')}"
            say(f"{version} {device} {backend}: {finding['name']}: {words}")
    return rows


def differences_of(finding, rows):
    """Yields a line for each result that the ledger has otherwise."""
    for row in rows:
        told = next((old for old in finding["results"] if key_of(old) == key_of(row)), None)
        place = f"{finding['name']} on {row['version']} {row['device']} {row['backend']}"
        if told is None:
            yield f"{place}: not in the ledger"
            continue
        for part in ("case", "script", "signatures"):
            if told.get(part) != row.get(part):
                yield f"{place}: {part} {row.get(part)}, the ledger says {told.get(part)}"


def key_of(row):
    return row["version"], row["device"], row["backend"]


def take(finding, rows):
    """Puts rows in the place of older ones; a result that stays as it was keeps its date."""
    for row in rows:
        old = next((old for old in finding["results"] if key_of(old) == key_of(row)), None)
        if old is not None and {**old, "date": ""} == {**row, "date": ""}:
            continue
        finding["results"] = [other for other in finding["results"] if key_of(other) != key_of(row)] + [row]


# ---- ledger, files and table ----


def upstream_text(upstream):
    parts = []
    for kind, word in (("issues", ""), ("akin", "akin to ")):
        if upstream.get(kind):
            parts.append(word + ", ".join(name_of(address) for address in upstream[kind]))
    if not parts and "searched" in upstream:
        parts.append("not found upstream")
    if not parts:
        parts.append("not looked for")
    if upstream.get("note"):
        parts.append(upstream["note"])
    return "; ".join(parts)


def name_of(address):
    found = re.fullmatch(r"https://github.com/[\w.-]+/([\w.-]+)/(?:issues|pull)/(\d+)", address)
    return f"[{found[1]}#{found[2]}]({address})" if found else address


def shown_on(finding, version, device):
    """Returns a cell: what the case shows where it is compiled, and in eager mode where that differs."""
    words = {}
    for row in finding["results"]:
        if row["version"] == version and row["device"] == device:
            words[row["backend"]] = row.get("case", row.get("script", ""))
    if not words:
        return ""
    if len(set(words.values())) == 1:
        return next(iter(words.values()))
    return ", ".join(f"{backend} {word}" for backend, word in sorted(words.items()))


def table_of(ledger):
    versions = sorted({row["version"] for finding in ledger["findings"] for row in finding["results"]
                       if row["device"] == "cpu"}, key=numbers_of)
    on_gpu = sorted({(row["version"], row["device"]) for finding in ledger["findings"] for row in finding["results"]
                     if row["device"] != "cpu"})
    columns = [(version, "cpu") for version in versions] + on_gpu
    heads = [version if device == "cpu" else f"{version} on a GPU" for version, device in columns]
    lines = ["| case | what | " + " | ".join(heads) + " | upstream |", "| --- | --- |" + " --- |" * (len(heads) + 1)]
    for finding in ledger["findings"]:
        cells = [shown_on(finding, version, device) for version, device in columns]
        lines.append(f"| `{finding['name']}` | {finding['what']} | " + " | ".join(cells)
                     + f" | {upstream_text(finding['upstream'])} |")
    counts = []
    for version in versions:
        words = [shown_on(finding, version, "cpu") for finding in ledger["findings"]]
        shown = sum("shows" in word for word in words)
        mended = sum(word == "passes" for word in words)
        counts.append(f"on {version} {shown} show and {mended} pass")
    return "\n".join([*lines, "", "On a CPU, " + "; ".join(counts) + "."])


def page_with(subject, table):
    text = subject.page.read_text()
    before, begin, rest = text.partition(subject.begin + "\n")
    _, end, after = rest.partition("\n" + END)
    if not begin or not end:
        raise WrongInput(f"{subject.page}: the lines '{subject.begin}' and '{END}' are missing")
    return before + begin + table + end + after


def check_files(subject, ledger):
    """Yields a line for everything in which ledger and files do not fit together."""
    names = [finding["name"] for finding in ledger["findings"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{subject.ledger.name}: '{name}' comes twice"
    named = set()
    for finding in ledger["findings"]:
        named |= {finding["case"], finding["script"], *finding.get("alike", [])} - {""}
        if not finding["results"]:
            yield f"{subject.ledger.name}: '{finding['name']}' has no result"
        upstream = finding["upstream"]
        if not any(upstream.get(key) for key in ("issues", "akin", "searched")) and not upstream.get("note"):
            yield f"{subject.ledger.name}: '{finding['name']}' says nothing of upstream"
    there = {path.name for path in subject.findings.iterdir() if path.suffix in (".case", ".py")}
    there -= {f"{module}.py" for module in subject.modules}
    for name in sorted(named - there):
        yield f"{subject.findings.name}/{name}: is not there, and the ledger names it"
    for name in sorted(there - named):
        yield f"{subject.findings.name}/{name}: is in no line of the ledger"


# ---- what campaigns draw of it ----


def words_of_generator():
    """Returns the motifs, each with the names of its ops, and every name that a family or a trait is drawn by."""
    motifs = {}
    for path in sorted((GENERATOR / "motifs").glob("*.txt")):
        # A program, and the choices before it.
        for part in re.split(r"(?<=^}\n)", path.read_text(), flags=re.MULTILINE):
            found = re.search(r'^program "([^"]+)"', part, re.MULTILINE)
            if found:
                motifs["motif." + found[1]] = ops_in(part)
    sources = [*sorted((GENERATOR / "families").glob("*.cpp")), *sorted((GENERATOR / "generate").glob("*.cpp"))]
    texts = "".join(path.read_text() for path in sources)
    unary = {f"aten.{name}" for name in re.findall(r'\{"(\w+)", Takes::', texts)}  # families/pointwise_unary.cpp
    return motifs, unary | set(re.findall(r'"([\w.:-]+)"', texts))


def ops_in(text):
    """Returns the ops that graph text names, without overloads; those in place are the op itself."""
    return {plain(name) for name in re.findall(r"\b((?:aten|prims|vllm|vllm_ir|_C|quantized_decomposed|higher_order)\.\w+)",
                                               text)}


def plain(name):
    """Returns an op's name without what tells that it is in place, or PyTorch's own: aten.softmax of aten._softmax."""
    return name.rstrip("_").replace("._", ".")


def check_motifs(subject, ledger):
    """Yields a line for every finding of which the ledger does not say truly what draws it, or why nothing does."""
    motifs, names = words_of_generator()
    for finding in ledger["findings"]:
        place = f"{subject.ledger.name}: '{finding['name']}'"
        drawn, reason = finding.get("motif", []), finding.get("no_motif", "")
        if bool(drawn) == bool(reason):
            yield f"{place} should say either a 'motif', what campaigns draw it by, or 'no_motif', why they do not"
        if reason and reason not in NO_MOTIF:
            yield f"{place}: 'no_motif' is one of {', '.join(NO_MOTIF)}"
        path = subject.findings / finding["case"]
        ops = ops_in(path.read_text()) if drawn and finding["case"] and path.exists() else set()
        for name in drawn:
            if name not in motifs and name not in names:
                yield f"{place}: no motif, op, family or trait is called '{name}'"
            elif name in motifs and ops and not ops & motifs[name]:
                yield f"{place}: '{name}' has none of the ops of its case, which are {', '.join(sorted(ops))}"
            elif ops_in(name) - ops and ops:
                yield f"{place}: its case has no '{name}'"


def row_of_motifs(subject, ledger):
    """Returns the line of docs/motifs.md that counts what campaigns draw of a subject's findings."""
    findings = ledger["findings"]
    reasons = [finding["no_motif"] for finding in findings if finding.get("no_motif")]
    by_motif = sum(any(name.startswith("motif.") for name in finding.get("motif", [])) for finding in findings)
    by_name = len(findings) - by_motif - len(reasons)
    words = ", ".join(f"{reasons.count(reason)} {reason}" for reason in NO_MOTIF if reason in reasons)
    return f"| {subject.name} | {len(findings)} | {by_motif} | {by_name} | {words or 'none'} |"


def page_of_motifs(subject, row):
    text = MOTIFS.read_text()
    begin = f"| {subject.name} | "
    if len([line for line in text.splitlines() if line.startswith(begin)]) != 1:
        raise WrongInput(f"{MOTIFS}: expected one line that begins with '{begin}'")
    return "\n".join(row if line.startswith(begin) else line for line in text.splitlines()) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=SUBJECTS, help="whose findings: an adapter's folder")
    parser.add_argument("python", nargs="*", help="interpreters that have it")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where (default: %(default)s)")
    parser.add_argument("--graphgate", help="the program that judges cases")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="of these findings alone")
    parser.add_argument("--write", action="store_true", help="write what was seen, and the table")
    arguments = parser.parse_intermixed_args()
    subject = SUBJECTS[arguments.subject]
    ledger = read_ledger(subject)
    if arguments.python and not arguments.graphgate:
        raise WrongInput("--graphgate: expected the program that judges cases")
    unknown = set(arguments.only) - {finding["name"] for finding in ledger["findings"]}
    if unknown:
        raise WrongInput(f"--only: the ledger has no '{sorted(unknown)[0]}'")
    chosen = [finding for finding in ledger["findings"]
              if arguments.device in finding["devices"] and (not arguments.only or finding["name"] in arguments.only)]
    wrong = list(check_files(subject, ledger)) + list(check_motifs(subject, ledger))
    date = datetime.date.today().isoformat()
    for python in arguments.python:
        rows = results_of(subject, arguments.graphgate, python, chosen, arguments.device, date,
                          lambda line: print(line, file=sys.stderr))
        for finding in chosen:
            if arguments.write:
                take(finding, rows[finding["name"]])
            else:
                wrong += differences_of(finding, rows[finding["name"]])
        if arguments.write:
            subject.ledger.write_text(print_ledger(ledger))
    if arguments.write:
        subject.ledger.write_text(print_ledger(ledger))
    if subject.page.exists():
        page = page_with(subject, table_of(ledger))
        if arguments.write:
            subject.page.write_text(page)
        elif page != subject.page.read_text():
            wrong.append(f"{subject.page.name}: its table is not that of the ledger; check_findings.py --write writes it")
    motifs = page_of_motifs(subject, row_of_motifs(subject, ledger))
    if arguments.write:
        MOTIFS.write_text(motifs)
    elif motifs != MOTIFS.read_text():
        wrong.append(f"{MOTIFS.name}: its count of {subject.name} is not the ledger's; check_findings.py --write writes it")
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except WrongInput as error:
        print(f"check_findings: {error}", file=sys.stderr)
        sys.exit(2)
