"""Writes what was read of a graph: graph text, its ops, and the plan."""

from torch._inductor import ir
from torch._inductor.virtualized import V

from graphgate_torch.inductor_facts import hint, layout, views, whole, with_bytes
from graphgate_adapter.module import DTYPES

_NAMES = {dtype: name for name, dtype in DTYPES.items()}
# Graph text has not all dtypes. Of others the bytes alone matter here: nobody computes with them.
_OF_SIZE = {1: "u8", 2: "i16", 4: "i32", 8: "i64", 16: "c128"}
_ALIGNMENT = 64


class Writing:
    """`reading`: an inductor_reading.Reading, while V.graph is its graph."""

    def __init__(self, reading):
        self._facts = reading.facts
        self._storage = reading.storage
        self._sizes = reading.sizes
        self._owners = reading.owners
        self._places = reading.places
        self._steps = reading.steps
        self._positions = reading.positions
        self._partitions = reading.partitions
        self._inputs = reading.inputs
        self._constants = reading.constants
        self._outputs = reading.outputs()

    # --- the program ---

    def _type(self, name):
        offset = 0
        buffer = V.graph.try_get_buffer(name)
        if buffer is None:
            tensor = V.graph.constants[name]
            sizes, strides = list(tensor.shape), list(tensor.stride())
            dtype, device = tensor.dtype, tensor.device
        else:
            sizes = [hint(each) for each in buffer.get_size()]
            strides = [hint(each) for each in buffer.get_stride()]
            dtype, device = buffer.get_dtype(), buffer.get_device()
            of = layout(name)
            if isinstance(of, ir.NonOwningLayout):
                offset = hint(of.view.get_layout().offset)
            if name in views():
                offset = views()[name][1] // dtype.itemsize
        return _NAMES.get(dtype) or _OF_SIZE[dtype.itemsize], sizes, strides, offset, device.type

    def program(self):
        lines = ['program "inductor" {']
        for kind, names in (("constant", self._constants), ("input", self._inputs)):
            for name in names:
                target = f' "{name}"' if kind == "constant" else ""
                lines.append(f"  {kind} %{name}{target} : {self._type_text(name)}")
        for name, fact in self._facts.items():
            made = ", ".join(f"%{each} : {self._type_text(each)}" for each in fact.makes)
            operands = [fact.part_of] if fact.part_of else [*fact.mutates, *fact.reads]
            given = ", ".join(f"%{each}" for each in operands)
            results = f"{made} = " if made else ""
            lines.append(f"  {results}inductor.{name}.default({given}) as {name}")
        lines += [f"  output %{name}" for name in self._outputs]
        return "\n".join([*lines, "}", ""])

    def _type_text(self, name):
        dtype, sizes, strides, offset, device = self._type(name)
        text = f"{dtype}[{', '.join(map(str, sizes))}]{{{', '.join(map(str, strides))}}}@{offset}"
        return text if device == "cpu" else f"{text} on {device}"

    def ops(self):
        lines = []
        for name, fact in self._facts.items():
            if fact.part_of:
                lines.append(f"inductor::{name}(Tensor(a) whole) -> Tensor(a)")
                continue
            written = [f"Tensor({chr(97 + i)}!) m{i}" for i in range(len(fact.mutates))]
            read = [f"Tensor r{i}" for i in range(len(fact.reads))]
            results = ", ".join(["Tensor"] * len(fact.makes))
            made = results if len(fact.makes) == 1 else f"({results})"
            tags = " ; tags=pointwise" if fact.is_elementwise and fact.reads else ""
            given = written + read + (["*", "str[] positions=[]"] if name in self._positions else [])
            lines.append(f"inductor::{name}({', '.join(given)}) -> {made}{tags}")
        return "\n".join([*lines, ""])

    # --- the plan ---

    def _node(self, name):
        fact = self._facts[name]
        arguments = [
            {"name": f"m{i}", "argument": {"value": each}} for i, each in enumerate(fact.mutates)
        ] + [{"name": f"r{i}", "argument": {"value": each}} for i, each in enumerate(fact.reads)]
        if name in self._positions:
            words = {each: str(i) for i, each in enumerate(fact.makes)}
            words |= {each: f"m{i}" for i, each in enumerate(fact.mutates)}
            words |= {each: f"r{i}" for i, each in enumerate(fact.reads)}
            texts = self._positions[name].texts(words.get)
            arguments.append({"name": "positions", "argument": texts})
        return {
            "name": name,
            "op": f"inductor.{name}.default",
            "arguments": arguments,
            "results": list(fact.makes),
        }

    def _step_json(self, step):
        nodes = [self._node(name) for name in step.operations]
        if len(nodes) == 1:
            return nodes[0]
        made = [each for name in step.operations for each in self._facts[name].makes]
        inner = {each for each in made if whole(each) not in self._storage}
        read = dict.fromkeys(
            each
            for name in step.operations
            for each in [*self._facts[name].mutates, *self._facts[name].reads]
            if each not in made
        )
        return {
            "name": step.operations[-1],
            "op": "graphgate.fused",
            "arguments": [{"argument": {"value": each}} for each in read],
            "results": [each for each in made if each not in inner],
            "body": nodes,
        }

    def _buffer(self, storage):
        return f"storage{storage}"

    def _storages(self, name):
        """Those that a name of a signature stands for: several where it is an operation's results."""
        return [self._storage[each] for each in with_bytes(name) if each in self._storage]

    def _partition_json(self, partition):
        said = {
            "captured": partition.captured,
            "begin_step": partition.begin,
            "end_step": partition.end,
            "reason": "" if partition.captured else "Inductor does not capture it",
        }
        signature = partition.signature
        if signature is None:
            said |= self._unclaimed(partition)
        else:
            given, handed_on = self._claimed(partition)
            said["inputs"] = [
                {"buffer": self._buffer(each), "deallocate": drops}
                for each, drops in given.items()
            ]
            said["outputs"] = [self._buffer(each) for each in handed_on]
            said["constants"] = [
                self._buffer(self._storage[name]) for name in signature.constant_names
            ]
        return said

    def _claimed(self, partition):
        """What its signature says: the storages that it is given, each with whether it drops them,
        and those that it hands on."""
        signature = partition.signature
        # A partition that drops an argument of the graph drops a reference: its caller keeps it.
        kept = {self._storage[name] for name in [*self._inputs, *self._constants]}
        inside = self._touched(self._steps[partition.begin : partition.end])
        tell_sizes = self._tell_sizes()
        viewed = {self._storage[whole(owner)] for owner, _ in views().values()}
        given, unpacked, forgotten = {}, set(), set()
        for name in signature.input_nodes:
            if name in signature.constant_names:
                continue
            storages = self._storages(name)
            drops = bool(signature.input_deallocation[name])
            # Where an operation has several results it is given them all, and may only take them
            # out of their tuple, which is no step here.
            if isinstance(layout(name), ir.MultiOutputLayout):
                unpacked.update(each for each in storages if each not in inside)
                forgotten.update(each for each in storages if each in inside and not drops)
            # Where a size inside is known by what it is given, nobody reads that.
            if name in tell_sizes:
                unpacked.update(each for each in storages if each not in inside)
            # A view of it is no step here, and touches none of its bytes.
            unpacked.update(each for each in storages if each in viewed and each not in inside)
            for storage in storages:
                given[storage] = given.get(storage, True) and drops and storage not in kept
        # A tuple that nobody drops goes when the caller returns, and nobody takes its bytes before.
        later = {*self._later(partition), *kept}
        forgotten -= later
        # Of a tuple that it makes, nobody may take some results, or only take them out.
        handed_on = [
            each
            for node in signature.output_nodes
            for each in self._storages(node.get_name())
            if each in later or not isinstance(layout(node.get_name()), ir.MultiOutputLayout)
        ]
        handed_on += [each for each in given if each in kept]
        handed_on = [each for each in dict.fromkeys(handed_on) if each not in forgotten]
        # What is dropped by one name and handed on by another stays: a result over an operand.
        given = {
            each: each in forgotten or (drops and each not in handed_on)
            for each, drops in given.items()
        }
        # The last partition that has the tuple drops with it what nobody took out.
        unpacked = {each for each in unpacked if not given[each]}
        for each in unpacked:
            del given[each]
        return given, [each for each in handed_on if each not in unpacked]

    @staticmethod
    def _tell_sizes():
        """The buffers whose sizes are symbols that only a call can tell."""
        return {
            buffer.get_name()
            for op in V.graph.operations
            if op.get_unbacked_symbol_defs()
            for buffer in op.get_outputs()
        }

    def _later(self, partition):
        """The storages that the graph returns, or that steps behind the partition touch."""
        returned = [self._storage[whole(name)] for name in self._outputs]
        return {*returned, *self._touched(self._steps[partition.end :])}

    def _touched(self, steps):
        names = [
            name
            for step in steps
            for each in step.operations
            for name in self._names_of(each)
        ]
        wholes = [whole(name) for name in names]
        return dict.fromkeys(self._storage[each] for each in wholes if each in self._storage)

    def _names_of(self, operation):
        fact = self._facts[operation]
        return [*fact.mutates, *fact.reads, *fact.makes]

    def _unclaimed(self, partition):
        """The edges of code that is in no partition function, and so claims nothing of them."""
        constants = [self._storage[name] for name in self._constants]
        inputs = [self._storage[name] for name in self._inputs]
        written = self._written()
        inside = self._touched(self._steps[partition.begin : partition.end])
        before = {*inputs, *constants, *self._touched(self._steps[: partition.begin])}
        later = self._later(partition)
        fixed = [each for each in inside if each in constants and each not in written]
        moving = [each for each in inside if each not in fixed]
        given = [each for each in moving if each in before]
        kept = {*later, *inputs, *constants}
        handed_on = [each for each in moving if each in later or (each in given and each in kept)]
        return {
            "inputs": [
                {"buffer": self._buffer(each), "deallocate": each not in kept} for each in given
            ],
            "outputs": [self._buffer(each) for each in handed_on],
            "constants": [self._buffer(each) for each in fixed],
        }

    def _written(self):
        return {
            self._storage[whole(name)]
            for fact in self._facts.values()
            for name in fact.mutates
            if whole(name) in self._storage
        }

    def plan(self):
        inputs = {self._storage[name] for name in self._inputs}
        constants = {self._storage[name] for name in self._constants}
        pools = {}
        buffers, said_pools = self._planned_pools()
        for storage, size in enumerate(self._sizes):
            if storage in self._places:
                continue
            kind = "state" if storage in constants else "input" if storage in inputs else "arena"
            pools.setdefault((kind, self._device(storage)), []).append((storage, size))
        for (kind, device), members in pools.items():
            offset = 0
            for storage, size in members:
                buffers.append({"name": self._buffer(storage), "pool": f"{kind}_{device}",
                                "offset_bytes": offset, "size_bytes": size})
                offset += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
            said_pools.append({"name": f"{kind}_{device}", "kind": kind, "device": device,
                               "size_bytes": offset, "alignment_bytes": _ALIGNMENT})
        outputs = [{"value": name} for name in self._outputs]
        return {
            "graphgate_plan": 1,
            "name": "inductor",
            "arithmetic": "fast",
            "pools": said_pools,
            "buffers": buffers,
            "values": self._values(),
            "inputs": [{"kind": "constant", "target": n, "value": n} for n in self._constants]
            + [{"kind": "user", "target": n, "value": n} for n in self._inputs],
            "steps": [self._step_json(step) for step in self._steps],
            "blocks": [
                {"name": "main", "partitions": [self._partition_json(p) for p in self._partitions],
                 "outputs": outputs}
            ],
            "outputs": outputs,
        }

    def _planned_pools(self):
        """(buffers, pools) that Inductor's memory planning has placed."""
        pools, buffers = {}, []
        for storage, (pool, offset) in self._places.items():
            name = f"planned{pools.setdefault(id(pool), (len(pools), pool))[0]}"
            buffers.append({"name": self._buffer(storage), "pool": name, "offset_bytes": offset,
                            "size_bytes": self._sizes[storage]})
        said = [
            {"name": f"planned{number}", "kind": "arena", "device": pool.device.type,
             "size_bytes": hint(pool.root.get_symbolic_size()), "alignment_bytes": _ALIGNMENT}
            for number, pool in pools.values()
        ]
        return buffers, said

    def _values(self):
        names = [*self._constants, *self._inputs]
        names += [each for fact in self._facts.values() for each in fact.makes]
        values = []
        for name in names:
            dtype, sizes, strides, offset, device = self._type(name)
            value = {"name": name, "type": {"dtype": dtype, "sizes": sizes, "strides": strides,
                                            "storage_offset": offset, "device": device}}
            owner = whole(name)
            if owner in self._storage:
                value["buffer"] = self._buffer(self._storage[owner])
            elif not self._is_inner(name):
                continue
            values.append(value)
        return values

    def _device(self, storage):
        return self._type(self._owners[storage])[4]

    def _is_inner(self, name):
        return any(name in self._facts[o].makes for step in self._steps for o in step.operations)
