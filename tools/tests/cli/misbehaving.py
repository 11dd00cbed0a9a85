#!/usr/bin/env python3
"""An executor that misbehaves: misbehaving.py GRAPHGATE MODE STATE.

It passes on what `GRAPHGATE serve` answers, but for the first request of the kind STATE: there it
does what MODE says instead. With a + behind it, as in call+, it answers rightly first. With a
number behind it, as in call2, the how-manieth request of that kind is meant. misbehaving_test.cpp knows what becomes of each.
"""
import json
import os
import signal
import sys
import time

# Hundreds of these are started: what few of them need is imported there.
FOREVER = 1000
KINDS = ("hello", "open", "load", "call", "set_state", "close")


def write(data, file=1):
    while data:
        data = data[os.write(file, data):]


def remove_tree(folder):
    import shutil
    shutil.rmtree(folder)


def size_field(text):
    return len(text).to_bytes(8, "little")


def send(answer):
    write(json.dumps(answer).encode() + b"\n")


def hang():
    time.sleep(FOREVER)


def die():
    os.kill(os.getpid(), signal.SIGSEGV)


def leave_child(leaves_group):
    """A child that holds all files of this process."""
    if os.fork() == 0:
        if leaves_group:
            os.setsid()
            if os.fork() > 0:
                os._exit(0)
        hang()


def write_forever(data, file):
    while True:
        write(data, file)


def drip(answer):
    for i in range(len(answer)):
        write(answer[i:i + 1])
        time.sleep(3)


def close_files(*files):
    for file in files:
        os.close(file)


def half_of(answer):
    write(answer[:len(answer) // 2])


def nested(levels, opening=b"[", closing=b"]"):
    return opening * levels + b"1" + closing * levels


def with_raw_member(answer, name, text):
    """The answer with a member whose value is this text, valid or not."""
    answer = {key: value for key, value in answer.items() if key != name}
    rest = json.dumps(answer).encode()
    return rest[:-1] + (b"," if answer else b"") + json.dumps(name).encode() + b":" + text + b"}\n"


def each_tensor(answer, change):
    """Calls change(tensor) for all that are tensors, somewhere in the answer."""
    if isinstance(answer, dict):
        if "sizes" in answer:
            change(answer)
        for value in answer.values():
            each_tensor(value, change)
    elif isinstance(answer, list):
        for value in answer:
            each_tensor(value, change)
    return answer


def set_first(key, value):
    def change(tensor):
        if tensor[key]:
            tensor[key] = [value] + tensor[key][1:]
    return change


def expand(tensor):
    tensor["sizes"] = [2**40] + tensor["sizes"][1:]
    tensor["strides"] = [0] + tensor["strides"][1:]


def add_dimensions(tensor):
    tensor["sizes"] = [1] * 100_000 + tensor["sizes"]
    tensor["strides"] = [1] * 100_000 + tensor["strides"]


class Folder:
    """The folder of an answer; without one it misbehaves in vain."""

    def __init__(self, exchange, answer):
        self.path = os.path.join(exchange, answer["folder"])
        self.file = os.path.join(self.path, "tensors.safetensors")

    def replace(self, make):
        os.unlink(self.file)
        make(self.file)

    def header(self, change):
        with open(self.file, "rb") as file:
            data = file.read()
        size = int.from_bytes(data[:8], "little")
        text = change(data[8:8 + size])
        with open(self.file, "wb") as file:
            file.write(size_field(text) + text + data[8 + size:])


def sparse(path):
    size = 2**40
    text = json.dumps({"content0": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}})
    with open(path, "wb") as file:
        file.write(size_field(text) + text.encode())
        file.truncate(8 + len(text) + size)


def many_storages(exchange, line):
    """A few bytes, named so often that they are more than there is memory."""
    answer = json.loads(line)
    size = 4 << 20
    text = json.dumps({"content0": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}})
    with open(Folder(exchange, answer).file, "wb") as file:
        file.write(size_field(text) + text.encode() + bytes(size))
    send({**answer, "storages": ["content0"] * 100_000})


# What is done instead of an answer, with the line that would be right.
LINES = {
    "signal": lambda line: die(),
    "kill": lambda line: os.kill(os.getpid(), signal.SIGKILL),
    "exit-0": lambda line: os._exit(0),
    "exit-3": lambda line: (os.write(2, b"one\nmy last \x1b[31mwords\xff\n"), os._exit(3)),
    "hang": lambda line: hang(),
    "drip": drip,
    "garbage": lambda line: write(bytes(range(1, 10)) + b"\xff\xfe no answer\n"),
    "empty": lambda line: write(b"\n"),
    "no-object": lambda line: write(b"[1]\n"),
    "half-hang": lambda line: (half_of(line), hang()),
    "half-exit": lambda line: (half_of(line), os._exit(0)),
    "half-signal": lambda line: (half_of(line), die()),
    "endless": lambda line: write_forever(b"x" * 65536, 1),
    "endless-lines": lambda line: write_forever(b'{"x":1}\n' * 8192, 1),
    "endless-errors": lambda line: write_forever(b"x" * 65536, 2),
    "endless-error-lines": lambda line: write_forever(b"y\n" * 32768, 2),
    "closed-input": lambda line: (close_files(0), hang()),
    "closed-output": lambda line: (close_files(1), hang()),
    "closed-all": lambda line: (close_files(0, 1, 2), hang()),
    "closed-errors": lambda line: (close_files(2), hang()),
    "child-signal": lambda line: (leave_child(False), die()),
    "orphan-signal": lambda line: (leave_child(True), die()),
    "child-exit": lambda line: (leave_child(False), os._exit(0)),
    "orphan-exit": lambda line: (leave_child(True), os._exit(0)),
    "orphan-hang": lambda line: (leave_child(True), hang()),
    "child-answer": lambda line: (leave_child(False), write(line)),
    "orphan-answer": lambda line: (leave_child(True), write(line)),
    "twice": lambda line: write(line + line),
    "more": lambda line: write(line + b'{"done":true}\n'),
    "deep": lambda line: write(b'{"x":' + nested(1_000_000) + b"}\n"),
    "deep-open": lambda line: write(b'{"x":' + b"[" * 20_000_000 + b"\n"),
    "many": lambda line: write(b'{"x":[1' + b",1" * 10_000_000 + b"]}\n"),
}
# The same with the answer read, which is sent when it is changed.
ANSWERS = {
    "other": lambda answer: {"x": 1},
    "refuses-unsupported": lambda answer: {"refusal": "unsupported", "message": "cannot"},
    "refuses-bad-input": lambda answer: {"refusal": "bad input", "message": "will not"},
    "refuses-internal": lambda answer: {"refusal": "internal", "message": "broken"},
    "refuses-infrastructure": lambda answer: {"refusal": "infrastructure", "message": "no disk"},
    "refuses-maybe": lambda answer: {"refusal": "maybe", "message": "?"},
    "forges": lambda answer: {"refusal": "internal",
                              "message": "no\nPASS all.case: 1 nodes\x1b[2J, all good"},
    "sizes": lambda answer: each_tensor(answer, set_first("sizes", 2**62)),
    "more-sizes": lambda answer: each_tensor(answer, set_first("sizes", 99)),
    "negative-sizes": lambda answer: each_tensor(answer, set_first("sizes", -1)),
    "negative-strides": lambda answer: each_tensor(answer, set_first("strides", -1)),
    "expanded": lambda answer: each_tensor(answer, expand),
    "dimensions": lambda answer: each_tensor(answer, add_dimensions),
    "no-storage": lambda answer: each_tensor(answer, lambda t: t.update(storage=4_000_000_000)),
    "nan-size": lambda answer: each_tensor(answer, set_first("sizes", float("nan"))),
    "folder-up": lambda answer: {**answer, "folder": "../../etc"},
    "folder-root": lambda answer: {**answer, "folder": "/etc"},
    "folder-zero": lambda answer: {**answer, "folder": "a\0b"},
    "folder-long": lambda answer: {**answer, "folder": "a" * 10_000},
}
# It refuses, says that it ends, and does.
LAST = {
    "last-unsupported": "unsupported",
    "last-bad-input": "bad input",
    "last-internal": "internal",
    "last-infrastructure": "infrastructure",
}
# The same with the answer's folder.
FOLDERS = {
    "folder-gone": lambda folder: remove_tree(folder.path),
    "folder-file": lambda folder: (remove_tree(folder.path), open(folder.path, "w").close()),
    "folder-loop": lambda folder: (remove_tree(folder.path),
                                   os.symlink(folder.path, folder.path)),
    "tensors-fifo": lambda folder: folder.replace(os.mkfifo),
    "tensors-device": lambda folder: folder.replace(lambda path: os.symlink("/dev/zero", path)),
    "tensors-sparse": lambda folder: folder.replace(sparse),
    "tensors-cut": lambda folder: os.truncate(folder.file, os.path.getsize(folder.file) - 1),
    "tensors-empty": lambda folder: os.truncate(folder.file, 0),
    "header-nan": lambda folder: folder.header(lambda text: text.replace(b"[0,", b"[NaN,")),
    "header-deep": lambda folder: folder.header(lambda text: nested(1_000_000)),
    "header-many": lambda folder: folder.header(lambda text: b'{"x":[1' + b",1" * 10**7 + b"]}"),
    "header-text": lambda folder: folder.header(lambda text: b"x" * len(text)),
}


def misbehave(mode, line, exchange):
    if mode in LINES:
        LINES[mode](line)
    elif mode in ANSWERS:
        send(ANSWERS[mode](json.loads(line)))
    elif mode in LAST:
        send({"refusal": LAST[mode], "message": LAST[mode] + ", no disk", "last": True})
        os._exit(0)
    elif mode in FOLDERS:
        FOLDERS[mode](Folder(exchange, json.loads(line)))
        write(line)
    elif mode == "slow" or mode.startswith("slow-once="):
        sign = mode.partition("=")[2]
        if not (sign and os.path.exists(sign)):
            time.sleep(0.8)
        if sign:
            open(sign, "w").close()
        write(line)
    elif mode == "deep-plan":
        write(with_raw_member(json.loads(line), "plan", nested(1_000_000)))
    elif mode == "deep-result":
        write(with_raw_member(json.loads(line), "result", nested(1_000_000, b'{"a":', b"}")))
    elif mode == "deep-own-plans":
        plans = b'[{"graph":"","ops":[],"plan":' + nested(1_000_000) + b"}]"
        write(with_raw_member(json.loads(line), "own_plans", plans))
    elif mode == "many-storages":
        many_storages(exchange, line)
    elif mode == "no-exchange":
        remove_tree(exchange)
        write(line)
    elif mode in ("planted-requests", "planted-programs"):
        # Links where graphgate writes next.
        aim = os.path.join(exchange, "aim")
        os.mkdir(aim)
        for i in range(100):
            name = f"request{i}" if mode == "planted-requests" else f"program{i}.pt2"
            if not os.path.lexists(os.path.join(exchange, name)):
                os.symlink(aim if mode == "planted-requests" else os.path.join(aim, "file"),
                           os.path.join(exchange, name))
        write(line)
    elif mode == "other-exchange":
        remove_tree(exchange)
        os.symlink("/", exchange)
        write(line)
    else:
        sys.exit(f"no mode is called {mode}")


def serve(graphgate):
    """Starts it; returns the descriptor for its requests and the file of its answers."""
    for_requests, requests = os.pipe()
    answers, for_answers = os.pipe()
    os.posix_spawn(graphgate, [graphgate, "serve"], os.environ, setsigdef=[signal.SIGPIPE],
                   file_actions=[(os.POSIX_SPAWN_DUP2, for_requests, 0),
                                 (os.POSIX_SPAWN_DUP2, for_answers, 1)])
    os.close(for_requests)
    os.close(for_answers)
    return requests, os.fdopen(answers, "rb")


def main():
    graphgate, mode, state = sys.argv[1:4]
    answers_first = state.endswith("+")
    kind = state.rstrip("+0123456789")
    wanted = int(state.rstrip("+")[len(kind):] or 1)
    assert kind in KINDS, kind
    requests, answers = serve(graphgate)
    exchange = None
    seen = 0
    for line in sys.stdin.buffer:
        request = json.loads(line)
        exchange = request.get("hello", {}).get("exchange", exchange)
        write(line, requests)
        answer = answers.readline()
        seen += kind in request
        if kind not in request or seen != wanted:
            write(answer)
            continue
        if answers_first:
            write(answer)
        misbehave(mode, answer, exchange)


if __name__ == "__main__":
    main()
