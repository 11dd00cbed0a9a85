"""An executor at the other end of graphgate's protocol (docs/executors.md): PyTorch."""

import json
import os
import select
import sys
import time
import traceback

import torch

from graphgate_adapter import (
    accelerator, custom_ops, declared, fork_server, graph_text, module, ops,
)
from graphgate_adapter.errors import (
    has_no_kernel_for_values,
    innermost,
    is_of_machine,
    is_refusal,
    of_adapter,
    raised_here,
    words_of,
)
from graphgate_adapter.exchange import Received, Sent
from graphgate_adapter.module import Unsupported
from graphgate_adapter.sharing import (
    Compiled, Pool, compiled_frames, compiling_seconds, signature,
)

PROTOCOL = 1


class Refusal(Exception):
    """`is_last`: nothing can be run any more in this process, which ends."""

    def __init__(self, kind, message, is_last=False):
        super().__init__(message)
        self.kind = kind
        self.is_last = is_last


def _is_not_implemented(error):
    words = str(error)
    return (
        isinstance(error, NotImplementedError)
        or "not implemented for" in words
        # A number for a tensor, which PyTorch takes for some ops alone.
        or "Expected a value of type 'Tensor' for argument" in words
    )


def _refusal(error):
    """What PyTorch says of a call in eager mode: it has no kernel, or the call is wrong."""
    if loss := accelerator.loss():
        return _lost(loss)
    if isinstance(error, Unsupported) or _is_not_implemented(error) or has_no_kernel_for_values(error):
        return Refusal("unsupported", words_of(error))
    if isinstance(error, torch.OutOfMemoryError):
        return Refusal("infrastructure", words_of(error))
    return Refusal("bad input", words_of(error))


def _lost(error):
    """What an error says that took the device along. An assertion in a kernel is how CUDA refuses."""
    is_assertion = "device-side assert" in str(error)
    return Refusal("bad input" if is_assertion else "internal", words_of(error), is_last=True)


def _given_up(error):
    """What an error says behind which nobody can tell what the device holds."""
    inner = innermost(error)
    if isinstance(inner, Unsupported):
        return Refusal("unsupported", str(inner), is_last=True)
    return Refusal("internal", words_of(error), is_last=True)


class Program:
    """A loaded program: its module, what runs it, and its states.

    `key`: what else has this key may share what is compiled, through the pool. None: nobody may.
    """

    def __init__(self, graph, states, devices, backend, options, ops, pool, key):
        self.devices = devices
        self._graph = graph
        user_inputs = [each for each in graph.inputs if each.kind == "user" and each.value]
        self.places = [each.type.device for each in user_inputs]
        self._targets = sorted({i.target for i in graph.inputs if i.kind != "user"})
        self._module = module.build(graph, states, devices, backend.spelling)
        self._module.meta["ops"] = ops
        self._backend = backend
        self._options = options
        self._pool = pool
        self._key = key
        self._offered = pool.take(key) if key else None  # compiled for another with this key
        self._compiled = None
        if not self._offered:
            if backend.compiles:
                pool.forget()  # as a process that has compiled nothing
            self._compile()
        self.compile_seconds = 0.0  # what calls compiled for, until it is told
        self.plans = []  # of what was compiled, until they are told
        self.not_shown = []  # why other graphs have none

    def _compile(self):
        run = self._backend.compile(self._module, self._options)
        self._compiled = self._pool.generation, Compiled(self._module, run)

    def close(self):
        if self._key and self._compiled:
            self._pool.give_back(self._key, self._compiled)

    def place_of(self, target):
        states = [each for each in self._graph.inputs if each.kind != "user"]
        return next((each.type.device for each in states if each.target == target), None)

    def states(self):
        return [
            (target, getattr(self._module, module.attribute(target))) for target in self._targets
        ]

    def set_state(self, target, tensor, rebind):
        held = dict(self.states()).get(target)
        if held is None:
            raise Refusal("bad input", f"no state is called '{target}'")
        if not rebind:
            try:
                held.copy_(tensor)
            except Exception as error:
                raise _refusal(error) from error
        elif isinstance(held, torch.nn.Parameter):
            setattr(
                self._module, module.attribute(target), torch.nn.Parameter(tensor, requires_grad=False)
            )
        else:
            setattr(self._module, module.attribute(target), tensor)

    def call(self, inputs, mode):
        if wrong := declared.refusal(self._graph, inputs):
            raise Refusal("bad input", wrong)
        with torch.no_grad():
            if mode == "eager" or not self._backend.compiles:
                try:
                    outputs = self._run_eagerly(inputs)
                    accelerator.wait()
                    return outputs
                except Exception as error:
                    raise _refusal(error) from error
            called = signature(inputs, [tensor for _, tensor in self.states()])
            if not self._compiled:
                self._take_over(called)
            _, compiled = self._compiled
            if compiled.first_call is None:
                # What was forgotten since it was loaded is none of it.
                self._compiled = self._pool.generation, compiled
            before = _Snapshot([*inputs, *(tensor for _, tensor in self.states())])
            frames, seconds = compiled_frames(), compiling_seconds()
            try:
                with self._backend.watch() as recorder:
                    outputs = compiled.run(*inputs)
                    accelerator.wait()
                inputs[:] = self._backend.placed(compiled.run) or inputs
            except Exception as error:
                if accelerator.is_given_up():  # eager mode cannot be asked any more
                    raise _given_up(error) from error
                if loss := accelerator.loss():
                    raise _lost(loss) from error
                before.restore()
                compiled.is_compiled_again = True
                self._explain(error, inputs)
            self.compile_seconds += compiling_seconds() - seconds
            compiled.note(compiled_frames() - frames, called, recorder)
            self.plans += recorder.graphs
            self.not_shown += recorder.reasons
            return outputs

    def _take_over(self, called):
        """Has something compiled for its first call: what is offered, where that was compiled for the
        same, and else its own."""
        _, offered = self._offered
        if not self._pool.is_known(self._offered) or offered.first_call != called:
            self._pool.forget()
            self._compile()
            return
        states = self.states()
        self._compiled = self._offered
        self._module = offered.module
        for target, tensor in states:
            setattr(self._module, module.attribute(target), tensor)
        self.plans += offered.plans
        self.not_shown += offered.not_shown

    def _run_eagerly(self, inputs):
        """Node by node, with what ops of the engine ask for around them."""
        with self._backend.around_eager():
            return self._module(*inputs)

    def _explain(self, error, inputs):
        """Raises what a failure of the compiled program means: eager mode must fail, too."""
        try:
            self._run_eagerly(inputs)
        except Exception as eager:
            raise _refusal(eager) from error
        if isinstance(innermost(error), Unsupported):
            raise Refusal("unsupported", str(innermost(error))) from error
        if ours := raised_here(error):
            raise Refusal("infrastructure", of_adapter(innermost(ours))) from error
        if is_of_machine(error):
            raise Refusal("infrastructure", words_of(error)) from error
        if is_refusal(error) or self._backend.refuses(error):
            raise Refusal("unsupported", words_of(error)) from error
        raise Refusal("internal", words_of(error)) from error


class _Snapshot:
    """The bytes of tensors, storage by storage."""

    def __init__(self, values):
        storages = [v.untyped_storage() for v in values if isinstance(v, torch.Tensor)]
        self._kept = [(storage, storage.clone()) for storage in storages]

    def restore(self):
        for storage, bytes_before in self._kept:
            storage.copy_(bytes_before)


def split_sums(device, matmul=torch.backends.cuda.matmul):
    """The dtypes whose products cuBLAS may sum in parts that it rounds to the dtype (split-K).

    `matmul`: PyTorch's flags. A flag is a bool, or a pair with whether sums may be split at all,
    which newer versions keep apart.
    """
    if device == "cpu":
        return []

    def may_split(name):
        flag = getattr(matmul, name)
        if isinstance(flag, tuple):
            return all(flag)
        return bool(flag) and bool(getattr(matmul, f"{name}_split_k", True))

    names = {"bf16": "bf16", "f16": "fp16"}
    return [
        dtype for dtype, name in names.items()
        if may_split(f"allow_{name}_reduced_precision_reduction")
    ]


def tf32(device, cudnn=torch.backends.cudnn):
    """The ops whose float32 factors PyTorch's libraries may round to TF32, of those that are told.

    `cudnn`: PyTorch's flags.
    """
    if device == "cpu":
        return []
    try:
        allows = cudnn.allow_tf32
    except RuntimeError:  # convolutions and recurrent networks have flags that differ
        allows = cudnn.conv.fp32_precision == "tf32"
    return ["convolution"] if allows else []


class Server:
    def __init__(self, backend, device, layouts, log):
        self._backend = backend
        self._layouts = layouts
        self._log = log
        self._device = device
        self._exchange = None
        self._open = {}
        self._programs = {}
        self._pool = Pool()
        self._answers = 0
        self.is_over = False  # it has refused for the last time
        self.listener = None  # where processes are forked from this one

    def answer(self, line):
        try:
            return self._answer(line)
        except Refusal as refusal:
            return self._refuse(refusal.kind, str(refusal), refusal.is_last)
        except Unsupported as error:
            return self._refuse("unsupported", str(error))
        except Exception as error:
            # PyTorch's own refusals are Refusals by now, with its words.
            traceback.print_exc()
            return self._refuse("infrastructure", of_adapter(error), accelerator.loss() is not None)

    def _answer(self, line):
        sent = Sent()
        request = Received(line, self._exchange)
        ((what, body),) = request.json.items()
        handle = {
            "hello": self._hello, "open": self._open_executor, "load": self._load,
            "call": self._call, "set_state": self._set_state, "close": self._close,
        }[what]
        answer = handle(body, request, sent)
        self._answers += 1
        return sent.line(answer, self._exchange, f"answer{self._answers}")

    def _refuse(self, kind, message, is_last=False):
        refusal = {"refusal": kind, "message": message}
        if is_last or accelerator.is_given_up():
            refusal["last"] = True
            self.is_over = True
        self._note(refusal)
        return json.dumps(refusal)

    def _note(self, what):
        if self._log:
            with open(self._log, "a", encoding="utf-8") as file:
                file.write(json.dumps(what) + "\n")

    def _new(self, table, value):
        self._answers += 1
        table[self._answers] = value
        return self._answers

    def _hello(self, body, request, sent):
        if body["protocol"] != PROTOCOL:
            raise Refusal("bad input", f"protocol {body['protocol']} is not known, only {PROTOCOL}")
        self._exchange = body["exchange"]
        path = body.get("fork_server")
        if path and self._can_fork():
            self.listener = fork_server.listen(path)
        takes = self._backend.takes()
        version = self._backend.torch_version(self._device)
        return {
            "name": f"{self._backend.name()} {self._device}",
            "options": list(self._backend.options),
            "arithmetic": self._backend.arithmetic(self._device),
            "kernels": self._backend.kernels(self._device),
            "split_sums": split_sums(self._device),
            "tf32": tf32(self._device),
            "layouts": self._layouts,
            "devices": sorted({"cpu", torch.device(self._device).type}),
            "not_wrapped": module.NOT_WRAPPED,
            **({} if takes is None else {"ops": takes}),
            **({} if version is None else {"torch": version}),
            "fork_server": self.listener is not None,
        }

    def _can_fork(self):
        """Whether a fork of this process can do what a process of its own can."""
        return fork_server.has_one_thread() and not torch.cuda.is_initialized()

    def warm_up(self):
        """Before a fork. Where that leaves a thread behind, nothing is forked."""
        self._backend.warm_up(self._device)
        if not self._can_fork():
            self.listener.close()
            self.listener = None

    def _open_executor(self, body, request, sent):
        custom_ops.register(body["ops"], self._backend.takes_aliases)
        return {"executor": self._new(self._open, (body["options"], json.dumps(body["ops"])))}

    def _load(self, body, request, sent):
        options, custom = self._open[body["executor"]]
        graph = graph_text.parse(body["graph"])
        devices = module.Devices(graph, self._device)
        places = {each.target: each.type.device for each in graph.inputs if each.kind != "user"}
        states = {
            each["name"]: request.tensor(each["tensor"], devices, places[each["name"]])
            for each in body["tensors"]
        }
        key = None
        if self._backend.can_share(self._device, options):
            key = body["graph"], custom, json.dumps(options, sort_keys=True)
        program = Program(graph, states, devices, self._backend, options, custom, self._pool, key)
        return {"program": self._new(self._programs, (body["executor"], program))}

    def _program(self, body):
        return self._programs[body["program"]][1]

    def _call(self, body, request, sent):
        program = self._program(body)
        devices = program.devices
        inputs = [
            request.value(each, devices, place)
            for each, place in zip(body["inputs"], program.places, strict=True)
        ]
        begin = time.monotonic()
        outputs = program.call(inputs, body.get("mode"))
        called = time.monotonic() - begin
        compiling, program.compile_seconds = program.compile_seconds, 0.0
        milliseconds = {"compile": round(1e3 * compiling), "call": round(1e3 * called)}
        result = {
            "outputs": [sent.value(each, devices) for each in outputs],
            "final_inputs": [sent.value(each, devices) for each in inputs],
            "final_states": [
                {"name": name, "tensor": sent.tensor(tensor.detach(), devices)}
                for name, tensor in program.states()
            ],
            "findings": [],
            "provenance": [],
        }
        plans, program.plans = program.plans, []
        reasons, program.not_shown = program.not_shown, []
        if plans or reasons:
            self._note(
                {"own_plans": len(plans), "not_shown": reasons, "milliseconds": milliseconds}
            )
        return {
            "result": result, "own_plans": [each.message() for each in plans], "not_shown": reasons,
            "milliseconds": milliseconds,
        }

    def _set_state(self, body, request, sent):
        program = self._program(body)
        tensor = request.tensor(body["tensor"], program.devices, program.place_of(body["target"]))
        program.set_state(body["target"], tensor, body["rebind"])
        return {"done": True}

    def _close(self, body, request, sent):
        for number, (executor, program) in list(self._programs.items()):
            if executor == body["executor"]:
                program.close()
                del self._programs[number]
        self._open.pop(body["executor"], None)
        return {"done": True}


def serve(backend, device, layouts="kept", log=None):
    """Answers requests on standard input until it ends. Nothing else may write to its output.

    `layouts`: whether strides and storage offsets of outputs are to be eager mode's, "kept" or "free".
    `log`: a file that gets a line for each refusal, and for each call that compiled graphs how many
    have an own plan and why others have none; of all processes of a campaign.
    """
    if log:
        with open(log, "a", encoding="utf-8"):
            pass  # a file that cannot be written is told before the greeting
    ops.register()
    while _answer_requests(Server(backend, device, layouts, log)):
        if torch.device(device).type != "cpu" and torch.cuda._is_in_bad_fork():
            # CUDA was begun before the fork after all. On the CPU nobody asks it for more than whether
            # there is a GPU.
            os.execv(sys.executable, sys.orig_argv)


def _answer_requests(server):
    """True in a process that was forked meanwhile: it has other files, and begins anew."""
    requests = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    is_warm = False
    while True:
        if server.listener and not is_warm:
            is_warm = True
            server.warm_up()
        if server.listener:
            ready, _, _ = select.select([requests, server.listener], [], [])
            if server.listener in ready:
                if fork_server.accept(server.listener, [requests.fileno(), answers.fileno()]):
                    for file in (requests, answers, server.listener):
                        file.close()
                    return True
                continue
        line = requests.readline()
        if not line:
            return False
        print(server.answer(line), file=answers, flush=True)
        if server.is_over:
            os._exit(0)  # what would be tidied up needs the device that is lost
