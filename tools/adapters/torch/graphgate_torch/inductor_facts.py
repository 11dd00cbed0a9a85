"""The operations of a graph before Inductor schedules them: what they read, make and write."""

import dataclasses

import sympy
from torch._inductor import dependencies, ir
from torch._inductor.virtualized import V

from graphgate_adapter.module import Unsupported


_NO_BYTES = (ir.NoneLayout, ir.MultiOutputLayout)


@dataclasses.dataclass
class Operation:
    """One node of the program. Buffers by the names of what owns their bytes."""

    name: str
    reads: list
    makes: list  # new buffers
    mutates: list
    is_elementwise: bool  # every element is read where it is written
    part_of: str = ""  # of a view: whose bytes `makes` lies in
    is_empty: bool = False  # it writes nothing: its bytes are there once they are allocated


def layout(name):
    return getattr(V.graph.try_get_buffer(name), "layout", None)


def written(name):
    """The buffer that a write to `name` goes to."""
    of = layout(name)
    if isinstance(of, ir.MutationLayoutSHOULDREMOVE):
        return written(of.get_buffer().get_name())
    return name


def views():
    """By name of an operation's result that is a view of an operand: (its owner, its offset in bytes)."""
    return V.graph.__dict__.setdefault("graphgate_views", {})


def whole(name):
    """The buffer whose bytes `name` lies in: a part of a concatenation has none of its own."""
    if name in views():
        return whole(views()[name][0])
    of = layout(name)
    if isinstance(of, ir.NonOwningLayout):
        return whole(of.view.get_name())
    return written(name)


def with_bytes(name):
    """The buffers whose bytes `name` holds: itself, or, of an operation's several results, each."""
    if not isinstance(layout(name), ir.MultiOutputLayout):
        return [whole(name)]
    return [
        each
        for op in V.graph.operations
        if isinstance(op, ir.MultiOutput) and op.inputs[0].get_name() == name
        for each in with_bytes(op.get_name())
    ]


def hint(size):
    """The number that the graph was compiled for, where there is one: 8 for sizes that depend on data.

    Symbol by symbol, so that a buffer is as large as its sizes and strides say.
    """
    size = sympy.sympify(size)
    return int(size.xreplace({each: _number_of(each) for each in size.free_symbols}))


def _number(size):
    """Of an integer, or PyTorch's symbolic one."""
    return size if isinstance(size, int) else hint(size.node.expr)


def _number_of(symbol):
    sizevars = V.graph.sizevars
    # Since PyTorch 2.12 there are two of them, and this one takes what depends on data.
    ask = getattr(sizevars, "size_hint", None) or sizevars.optimization_hint
    return ask(symbol, fallback=8)


def _index_of(dep):
    return getattr(dep, "index", None) if isinstance(dep, dependencies.MemoryDep) else None


class Facts:
    """The `operations` of the graph that is compiled, V.graph, in the order in which they were lowered.

    Unsupported where graph text cannot say what one does.
    """

    def __init__(self):
        self.operations = []
        self._stands_for = {}  # outputs that are another buffer, once it was written
        self._maker = {}
        self._made = {*V.graph.graph_inputs, *V.graph.constants}
        for op in V.graph.operations:
            if isinstance(op, ir.MultiOutput):
                self._add_part(op)
            else:
                self._add(op)

    def owner(self, name):
        """The buffer that a name stands for, once all its writes are done."""
        return self._name(written(self._name(name)))

    def _name(self, name):
        return self._stands_for.get(name, name)

    def _add_part(self, op):
        if op.get_inputs_that_alias_output():
            self._add_view(op.inputs[0], op, op.indices)
            return
        parent = self._maker[op.inputs[0].get_name()]
        parent.makes.append(op.get_name())
        self._maker[op.get_name()] = parent
        self._made.add(op.get_name())

    def _add_view(self, kernel, buffer, indices):
        """A result that is a view of an operand. It takes no launch."""
        name = buffer.get_name()
        aliases = kernel.get_inputs_that_alias_output()
        operands = [each for each in kernel.inputs if each.get_name() in aliases]
        node = getattr(kernel, "fx_node", None)
        if len(operands) != 1 or node is None or not node.args:
            raise Unsupported("an operation returns a view of one of several operands")
        operand, result = operands[0], node.meta["val"]
        for _, index in indices:
            result = result[index]
        given = node.args[0].meta["val"]
        item = result.dtype.itemsize
        offset = (
            hint(operand.get_layout().offset) * operand.get_dtype().itemsize
            + _number(result.storage_offset()) * item
            - _number(given.storage_offset()) * given.dtype.itemsize
        )
        sizes = [hint(each) for each in buffer.get_size()]
        if [_number(each) for each in result.shape] != sizes or offset % item or offset < 0:
            raise Unsupported("an operation returns a view that is not where its operand is")
        owner = self.owner(operand.get_name())
        views()[name] = owner, offset
        self.operations.append(Operation("view_" + name, [], [name], [], False, part_of=owner))
        self._made.add(name)

    def _add(self, op):
        fact = Operation(op.get_operation_name(), [], [], [], True)
        for buffer in op.get_outputs():
            self._add_output(fact, buffer)
        # The scheduler launches nothing for it: no elements, bytes that nobody has written (an
        # empty tensor), or others have already in parts.
        if op.is_no_op():
            fact.makes = [name for name in fact.makes if name not in self._made]
            if not fact.makes:
                return
            fact.mutates = []
            fact.is_elementwise, fact.is_empty = False, True
        else:
            self._add_reads(fact, op.get_read_writes())
            if op.get_inputs_that_alias_output() and not (fact.makes or fact.mutates):
                return  # views of its operands, which are its parts
        fact.mutates = list(dict.fromkeys(fact.mutates))
        fact.reads = [name for name in dict.fromkeys(fact.reads) if name not in fact.mutates]
        self._made.update(fact.makes)
        self.operations.append(fact)

    def _add_output(self, fact, buffer):
        name = buffer.get_name()
        of = layout(name)
        self._maker[name] = fact
        mutated = [self._name(written(each)) for each in buffer.get_mutation_names()]
        if isinstance(of, ir.NonOwningLayout):
            self._make_view(name)
            mutated.append(name)
        is_view = not mutated and bool(buffer.get_inputs_that_alias_output())
        if is_view and not isinstance(of, ir.MultiOutputLayout):
            self._add_view(buffer, buffer, [])
        for each in mutated:
            if each != name:
                self._stands_for[name] = each
            fact.mutates.append(each)
        if not mutated and not is_view and not isinstance(of, _NO_BYTES):
            fact.makes.append(name)

    def _make_view(self, name):
        """A part of a buffer that is there before its first part is written."""
        owner = whole(name)
        if owner not in self._made:
            new = Operation("new_" + owner, [], [owner], [], False, is_empty=True)
            self.operations.append(new)
            self._made.add(owner)
        self.operations.append(Operation("part_" + name, [], [name], [], False, part_of=owner))
        self._made.add(name)

    def _add_reads(self, fact, deps):
        writes = {_index_of(dep) for dep in deps.writes}
        for dep in deps.reads:
            if isinstance(dep, dependencies.WeakDep):
                continue
            name = self.owner(dep.name)
            # What has no bytes is waited for, and not read.
            if not isinstance(layout(name), _NO_BYTES):
                fact.reads.append(name)
            fact.is_elementwise &= writes == {_index_of(dep)} and None not in writes

