"""ExecuTorch as what runs a module: exported, lowered, planned, and run by the portable runtime."""

import contextlib
import dataclasses

import torch
from executorch.extension.pybindings import _C
from executorch.version import __version__

from graphgate_executorch import lowering, plan, sharing
from graphgate_adapter.backend import Backend, Plans
from graphgate_adapter.module import Unsupported


@dataclasses.dataclass
class Settings:
    """What the command line says."""

    planner: str = "greedy"  # or "naive"
    plans_inputs: bool = True
    plans_outputs: bool = True
    reinplaces: bool = False
    removes_view_copies: bool = True
    is_dynamic: bool = False
    checks_edge: bool = True  # to_edge refuses ops that are not of the core set
    shows_plans: bool = True


class Warming(torch.nn.Module):
    """A small module with a state that it writes."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        self.count.add_(x)
        return (self.count * 2.0,)


def kernels():
    """The names of the ops that the runtime has a kernel of."""
    return set(_C._get_operator_names())


class ExecuTorch(Backend):
    """A module that to_edge and to_executorch lower, and that the portable runtime runs."""

    def __init__(self, settings):
        self.settings = settings
        self._recorder = Plans()

    def name(self):
        settings = self.settings
        variant = [settings.planner]
        variant += ["reinplace"] if settings.reinplaces else []
        variant += [] if settings.plans_inputs else ["inputs-given"]
        variant += [] if settings.plans_outputs else ["outputs-given"]
        variant += [] if settings.removes_view_copies else ["view-copies"]
        variant += ["dynamic"] if settings.is_dynamic else []
        version = __version__.partition("+")[0]
        return f"executorch-{version} torch-{torch.__version__} {'-'.join(variant)}"

    def kernels(self, device):
        return "own"

    def arithmetic(self, device):
        return "strict"

    def takes(self):
        return lowering.ops(self.settings.checks_edge)

    def warm_up(self, device):
        """Lowers once, which imports what every process would import. Nothing is run: the runtime
        would begin its threads."""
        with contextlib.suppress(Exception), torch.no_grad():
            lowering.lower(Warming(), (torch.ones(4),), self.settings)

    @contextlib.contextmanager
    def watch(self):
        """Notes the plans of what is lowered while it is entered."""
        self._recorder = Plans()
        yield self._recorder

    def compile(self, module, options):
        return _Compiled(self, module)

    def note(self, lowered):
        """Has the plan of what was lowered told, or why there is none."""
        if not self.settings.shows_plans:
            return
        try:
            self._recorder.graphs += plan.read(lowered.program)
        except Unsupported as error:
            self._recorder.reasons.append(str(error))
        except Exception as error:
            self._recorder.reasons.append(f"the reader of plans: {type(error).__name__}: {error}")


def _is_same(one, other):
    return (
        one.dtype == other.dtype and one.shape == other.shape
        and torch.equal(sharing.bytes_of(one), sharing.bytes_of(other))
    )


class _Compiled:
    """A module, and the methods that it was lowered to, one for each signature of inputs.

    A method holds the module's constants, and states of its own. Before a call it is given the
    module's states, where they are others; behind it the module is given the method's.
    """

    def __init__(self, engine, module):
        self._engine = engine
        self._module = module
        self._methods = []  # of lowering.Method, with the constants that it was lowered with

    def _states(self):
        return {
            name: state.detach()
            for name, state in [*self._module.named_parameters(), *self._module.named_buffers()]
        }

    def _method_for(self, inputs):
        states = self._states()
        for method, constants in self._methods:
            if method.takes(inputs) and all(_is_same(states[n], c) for n, c in constants.items()):
                method.set_states(states)
                return method
        lowered = lowering.lower(self._module, inputs, self._engine.settings)
        self._engine.note(lowered)
        method = lowered.load()
        constants = {name: state.clone() for name, state in states.items() if name not in method.states}
        self._methods.append((method, constants))
        return method

    def __call__(self, *inputs):
        states = self._states()
        # What eager mode refuses, it refuses here, too.
        shared = sharing.Sharing(self._module, inputs, states.values())
        method = self._method_for(inputs)
        written = method.written_inputs
        if written and shared.is_shared([inputs[each] for each in written]):
            raise Unsupported("an input is written that shares memory: torch.export takes each for its own")
        outputs, final_inputs, final_states = method.run(inputs)
        for index, tensor in final_inputs.items():
            inputs[index].copy_(tensor)
        for name, tensor in final_states.items():
            states[name].copy_(tensor)
        return shared.told(outputs)
