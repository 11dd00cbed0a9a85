"""Where the loops of Inductor's kernels touch memory: index expressions, as a plan carries them.

A kernel's loop is run in thought, once, with an expression for each index. What depends on loaded
data is not known, and is left out: a plan says nothing of it.
"""

import dataclasses
import math

import sympy
from torch._inductor import ir, loop_body, ops_handler, scheduler
from torch._inductor.virtualized import V

from graphgate_torch.inductor_facts import hint

# Deeper expressions are not shown: whoever reads them has a limit.
_MAX_DEPTH = 60

_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CONNECTIVES = {"and_": "and", "logical_and": "and", "bitwise_and": "and",
                "or_": "or", "logical_or": "or", "bitwise_or": "or"}
_SUMS = {"add": "+", "sub": "-", "mul": "*"}
# A number of a wider type, and back, is the number.
_SAME = ("to_dtype", "identity")


class _Unknown(Exception):
    """It depends on data, or on what expressions of a plan have not."""


class _Value:
    """What an operation of the loop makes.

    `text`: an expression of loop variables, or None. `loaded`: the name and the index, where it is
    an element of memory as it is there. `choice`: (condition, value, value).
    """

    def __init__(self, text=None, loaded=None, choice=None, depth=0):
        self.text = text if depth <= _MAX_DEPTH else None
        self.loaded = loaded
        self.choice = choice
        self.depth = depth

    def __getitem__(self, _):  # one of several results
        return _Value()

    def __iter__(self):
        raise _Unknown


def _known(*values):
    return all(isinstance(each, _Value) and each.text is not None for each in values)


def _text(form, *values):
    """An expression of others, in parentheses. Nothing is, of what is not known."""
    if not _known(*values):
        return _Value()
    depth = 1 + max(each.depth for each in values)
    return _Value("(" + form.format(*(each.text for each in values)) + ")", depth=depth)


class _Printer:
    """Prints Inductor's index expressions as graph text writes sizes."""

    def __init__(self, symbols):
        self.symbols = symbols  # by sympy's symbol: a _Value

    def value(self, expression):
        expression = sympy.sympify(expression)
        if expression.is_Integer:
            return _Value(str(int(expression)))
        if expression.is_Symbol:
            return self._symbol(expression)
        name = type(expression).__name__
        operands = [self.value(each) for each in expression.args]
        if name == "Add":
            return _text(" + ".join(["{}"] * len(operands)), *operands)
        if name == "Mul":
            return _text(" * ".join(["{}"] * len(operands)), *operands)
        if name == "Identity":
            return operands[0]
        if name == "Pow" and expression.args[1].is_Integer and 0 < expression.args[1] <= 4:
            return _text(" * ".join(["{0}"] * int(expression.args[1])), operands[0])
        forms = {
            "FloorDiv": "{} // {}", "CleanDiv": "{} // {}",
            "ModularIndexing": "({} // {}) % {}", "Mod": "{} % {}", "PythonMod": "{} % {}",
            "Min": "min({}, {})", "Max": "max({}, {})",
        }
        if name in forms and forms[name].count("{}") == len(operands):
            return _text(forms[name], *operands)
        raise _Unknown

    def _symbol(self, symbol):
        if symbol in self.symbols:
            return self.symbols[symbol]
        if symbol.name.startswith(("s", "ks")):  # a size that the graph was compiled for
            return _Value(str(hint(symbol)))
        raise _Unknown


class _Loop(ops_handler.DefaultHandler):
    """Notes what a loop loads and stores, for `extract`."""

    def __init__(self, printer, owner_of):
        self.touches = []  # (owner, "reads"..., index, condition or None)
        self._printer = printer
        self._owner_of = owner_of
        self._masks = []

    def _index(self, expression):
        try:
            return self._printer.value(expression)
        except _Unknown:
            return _Value()

    def _note(self, name, how, index, *conditions):
        conditions = [each for each in [*self._masks, *conditions] if each is not True]
        if not _known(index, *conditions):
            return
        condition = _text(" and ".join(["{}"] * len(conditions)), *conditions) if conditions else None
        if condition is None or condition.text is not None:
            said = condition.text if condition else None
            self.touches.append((self._owner_of(name), how, index.text, said))

    # --- memory ---

    def load(self, name, index):
        index = self._index(index)
        self._note(name, "reads", index)
        place = (self._owner_of(name), index.text)
        return _Value(loaded=place if index.text is not None else None)

    def store(self, name, index, value, mode=None):
        index = self._index(index)
        self._note(name, "adds" if mode else "writes", index, self._changes(name, index, value))

    def store_reduction(self, name, index, value):
        self._note(name, "results", self._index(index))

    def _changes(self, name, index, value):
        """When a store of it makes another number of what is there: True, or a condition."""
        if not isinstance(value, _Value) or index.text is None:
            return True
        if value.loaded == (self._owner_of(name), index.text):
            return _Value("(0 == 1)")
        if value.choice is None:
            return True
        condition, then, otherwise = value.choice
        here, there = self._changes(name, index, then), self._changes(name, index, otherwise)
        if here is True and there is True:
            return True
        if not _known(condition):
            return _Value()  # who knows
        if here is not True:
            here = _text("{} and {}", condition, here)
        else:
            here = condition
        if there is not True:
            there = _text("(not {}) and {}", condition, there)
        else:
            there = _text("not {}", condition)
        return _text("{} or {}", here, there)

    # --- numbers of the loop ---

    def constant(self, value, dtype):
        if isinstance(value, (bool, int)) or (isinstance(value, sympy.Integer)):
            return _Value(str(int(value)))
        return _Value()

    def index_expr(self, expression, dtype):
        return self._index(expression)

    def indirect_indexing(self, value, size, check=True, wrap_neg=True):
        symbol = sympy.Symbol(f"graphgate_{len(self._printer.symbols)}", integer=True)
        known = value if _known(value) else None
        if known and wrap_neg:
            try:
                extent = self._printer.value(size)
                known = _text("where({0} < 0, {0} + {1}, {0})", known, extent)
            except _Unknown:
                known = None
        if known and known.text is not None:
            self._printer.symbols[symbol] = known
        return symbol

    def masked(self, mask, body, other):
        mask = mask if isinstance(mask, _Value) else _Value()
        self._masks.append(mask)
        try:
            value = body()
        finally:
            self._masks.pop()
        return self._choose(mask, value, other)

    def where(self, condition, then, otherwise):
        return self._choose(condition, then, otherwise)

    @staticmethod
    def _choose(condition, then, otherwise):
        chosen = _text("where({}, {}, {})", condition, then, otherwise)
        return _Value(chosen.text, choice=(condition, then, otherwise), depth=chosen.depth)

    def _default(self, name, args, kwargs):
        if name in _SAME:
            return args[0]
        sign = _COMPARISONS.get(name) or _CONNECTIVES.get(name) or _SUMS.get(name)
        if sign and len(args) == 2:
            return _text("{} " + sign + " {}", *args)
        if name == "logical_not" and _known(*args):
            return _text("not {}", args[0])
        return _Value()


def _product(sizes):
    return math.prod(hint(each) for each in sizes)


def _touches(body, owner_of):
    """(sizes of the loops, what they touch)."""
    sizes = [*body.sizes[0], *body.sizes[1]]
    symbols = [sympy.Symbol(f"d{i}", integer=True) for i in range(len(sizes))]
    loop = _Loop(_Printer({each: _Value(each.name) for each in symbols}), owner_of)
    outer = len(body.sizes[0])
    with V.set_ops_handler(loop):
        body(symbols[:outer], symbols[outer:])
    return [hint(each) for each in sizes], loop.touches


@dataclasses.dataclass
class Positions:
    """What one operation touches in a launch, as docs/executors.md says it."""

    head: str
    touches: list

    def texts(self, word_of):
        """`word_of(buffer)`: what the operation calls it, or None."""
        lines = [self.head]
        for owner, how, index, condition in self.touches:
            word = word_of(owner)
            if word is not None:
                said = f"{word} {how} {index}"
                lines.append(said if condition is None else f"{said} if {condition}")
        return list(dict.fromkeys(lines))


def _nests():
    """By a node's id: the id of the loops that it is in."""
    nests = {}
    for node in V.graph.scheduler.nodes:
        # Loops around several nests may fall apart while the code is written.
        inner = getattr(node, "outer_fused_nodes", None) or [node]
        for each in inner:
            nests.update({id(leaf): each for leaf in each.get_nodes()})
    return nests


def _has_loops(leaf):
    return (
        type(leaf) is scheduler.SchedulerNode
        and isinstance(leaf.node, ir.ComputedBuffer)
        and isinstance(leaf._body, loop_body.LoopBody)
    )


def _of_nest(number, leaves, owner_of):
    """Nothing of templates, and of what is not one loop over the same elements."""
    outer = [_product(leaf._body.sizes[0]) for leaf in leaves]
    inner = [_product(leaf._body.sizes[1]) for leaf in leaves]
    reducing = {o for o, i in zip(outer, inner) if i > 1}
    shared = reducing or set(outer)
    if len(shared) != 1 or 0 in outer or 0 in inner:
        return {}
    shared = shared.pop()
    total = shared * max(inner)
    positions, phase = {}, 0
    for leaf, o, i in zip(leaves, outer, inner):
        if o * i in (shared, total):
            sizes, touches = _touches(leaf._body, owner_of)
            head = f"nest {number} phase {phase} over [{', '.join(map(str, sizes))}] shared {shared}"
            positions[leaf.node.get_operation_name()] = Positions(head, touches)
        # What a reduction makes is there behind its loop.
        phase += 1 if i > 1 else 0
    return positions


def of_launch(leaves, owner_of):
    """Positions by operation, of those that are known.

    `leaves`: the scheduler's nodes that are launched, in their order; `owner_of(name)`: the buffer
    whose bytes a name of a loop stands for.
    """
    containers, nests = _nests(), {}
    for leaf in leaves:
        container = containers.get(id(leaf))
        nests.setdefault(id(container), (container, []))[1].append(leaf)
    positions = {}
    for number, (container, nest) in enumerate(nests.values()):
        # Others are kernels beside each other, or one whose loops are exchanged.
        is_one = type(container) in (scheduler.SchedulerNode, scheduler.FusedSchedulerNode)
        if is_one and all(_has_loops(leaf) for leaf in nest):
            positions.update(_of_nest(number, nest, owner_of))
    return positions
