"""Holds what was decided twice for one graph beside each other: by a version of Inductor, and by
graphgate's planner or by that version on another device.

Both were given one graph of ATen ops, and each of its nodes is a launch of its own on both sides. So
a node of the graph is the same node there, and a buffer is called by the first value of the graph
that lies in it (docs/upstream_check.md).
"""

import collections

# What upstream says of a buffer, in the planner's words.
_PLACES = {"fresh": "allocated", "reuse": "reused", "in place": "in place", "dropped": "none"}


class Counts:
    """How often what was compared agrees, and how it differs: `kinds[what][kind]`."""

    def __init__(self):
        self.agreed = collections.Counter()
        self.kinds = collections.defaultdict(collections.Counter)
        self.examples = {}

    def note(self, what, kind=None, example=None):
        """`kind`: how it differs; None where it agrees."""
        if kind is None:
            self.agreed[what] += 1
            return
        self.kinds[what][kind] += 1
        self.examples.setdefault((what, kind), []).append(example)

    def differed(self, what):
        return sum(self.kinds[what].values())


class Upstream:
    """The decisions of a version, by names of the graph.

    Has what Planned has: `storages` by value, those that are `scattered`, `partitions()` and `places()`.
    """

    def __init__(self, decided):
        self.decided = decided
        self.storages = {n: s[0] for n, s in decided["values"].items() if len(s) == 1 and s[0]}
        # What comes out of a tuple in another partition than the one that makes the tuple.
        held = collections.defaultdict(set)
        for number, said in enumerate(decided["partitions"]):
            for _, node in said["operations"]:
                held[node].add(number)
        self.scattered = {
            storage for node, numbers in held.items() if len(numbers) > 1
            for storage in decided["values"].get(node, ())
        }

    def partitions(self):
        # Where one of its operations is cut out, the node is: others are what takes its results apart.
        cut = {node for said in self.decided["partitions"] if not said["captured"]
               for _, node in said["operations"]}
        for said in self.decided["partitions"]:
            names = {node for _, node in said["operations"]}
            if said["captured"]:
                names -= cut
            inputs = {}
            for storages, drops in said["inputs"]:
                for each in storages:
                    inputs[each] = inputs.get(each, True) and drops
            outputs = {each for storages in said["outputs"] for each in storages}
            yield said["captured"], names, inputs, outputs, said["symbols"], said["reasons"]

    def places(self):
        return {new: (_PLACES[how], old) for how, new, old in self.decided["lines"]}


class Planned:
    """graphgate's plan, by names of the graph."""

    def __init__(self, plan, places):
        self.plan = plan
        self.storages = {v["name"]: v["buffer"] for v in plan["values"] if v.get("buffer")}
        self.steps = plan["steps"]
        self.scattered = set()  # a step makes all its results
        self._places = places

    def partitions(self):
        for said in self.plan["blocks"][0]["partitions"]:
            steps = self.steps[said["begin_step"]:said["end_step"]]
            inputs = {each["buffer"]: each["deallocate"] for each in said["inputs"]}
            reasons = [said["reason"]] if said["reason"] else []
            yield (said["captured"], {step["name"] for step in steps}, inputs,
                   set(said["outputs"]), said["symbols"], reasons)

    def places(self):
        return {each["buffer"]: (each["how"], each.get("old")) for each in self._places}


def _class_of(reason):
    """The reason without the names in it."""
    return "a split op" if reason.startswith(("split op", "custom partition op")) else reason


class Comparison:
    """One graph, cut in one way."""

    def __init__(self, theirs, ours, label, counts, inputs):
        """`theirs` is called upstream, `ours` here: an Upstream, and a Planned or an Upstream.

        `inputs`: the graph's own; `label`: what examples are called by.
        """
        self._counts, self._label = counts, label
        self._theirs, self._ours = theirs, ours
        self._inputs = set(inputs)
        order = [n for n in theirs.decided["values"]
                 if n in self._theirs.storages and n in self._ours.storages]
        self._their_names, self._our_names = {}, {}
        for name in order:
            self._their_names.setdefault(self._theirs.storages[name], name)
            self._our_names.setdefault(self._ours.storages[name], name)
        self._apart = set()  # names of storages that are other ones there
        for name in order:
            theirs = self._their_names[self._theirs.storages[name]]
            ours = self._our_names[self._ours.storages[name]]
            if theirs == ours:
                self._note("storages")
                continue
            self._apart |= {theirs, ours, name}
            kind = "a copy upstream, a view here" if theirs == name else (
                "a view upstream, a copy here" if ours == name else "another storage")
            self._note("storages", kind, name)

        theirs, ours = (
            {names[storage] for storage in side.scattered if storage in names}
            for side, names in ((self._theirs, self._their_names), (self._ours, self._our_names)))
        for name in sorted(theirs & ours):
            self._note("results of tuples")
        for there, where in ((theirs - ours, "upstream"), (ours - theirs, "here")):
            for name in sorted(there):
                self._note("results of tuples",
                           f"taken out behind the partition that makes the tuple, {where}", name)
                self._apart.add(name)

    def run(self):
        self._compare_nodes()
        self._compare_partitions()
        self._compare_places()

    def _note(self, what, kind=None, example=None):
        self._counts.note(what, kind, f"{self._label}: {example}")

    # --- nodes ---

    def _compare_nodes(self):
        theirs, ours = {}, {}
        for side, said in ((theirs, self._theirs), (ours, self._ours)):
            for captured, names, *_, reasons in said.partitions():
                for name in names:
                    side.setdefault(name, set()).add((captured, "; ".join(reasons)))
        self._shared = theirs.keys() & ours.keys()
        for name in self._shared:
            their_flags = {each for each, _ in theirs[name]}
            our_flags = {each for each, _ in ours[name]}
            if their_flags == our_flags:
                self._note("nodes")
                continue
            side, kind = (ours, "captured upstream, cut here") if True in their_flags else (
                theirs, "cut upstream, captured here")
            reasons = {_class_of(each) for _, said in side[name] for each in said.split("; ")}
            self._note("nodes", f"{kind}: {'; '.join(sorted(reasons))}", name)

    # --- partitions ---

    def _compare_partitions(self):
        theirs = [each for each in self._theirs.partitions() if each[1] & self._shared]
        ours = [each for each in self._ours.partitions() if each[1] & self._shared]
        found = {(each[0], frozenset(each[1] & self._shared)): each for each in ours}
        for each in theirs:
            captured = each[0]
            word = "captured partitions" if captured else "eager partitions"
            same = found.get((captured, frozenset(each[1] & self._shared)))
            if same is None:
                self._note(word, "other nodes", sorted(each[1] & self._shared)[:3])
                continue
            self._note(word)
            self._compare_signature(each, same)

    def _named(self, storages, names):
        """Those that both sides know as one storage."""
        named = {names.get(each) for each in storages} - {None}
        return named - self._apart

    def _compare_signature(self, theirs, ours):
        captured = theirs[0]
        word = "signatures" if captured else "signatures of eager partitions"
        kinds = []
        sides = []
        for side, names in ((theirs, self._their_names), (ours, self._our_names)):
            inputs = {names[s]: drops for s, drops in side[2].items()
                      if s in names and names[s] not in self._apart}
            outputs = self._named(side[3], names) - self._inputs
            sides.append((inputs, outputs, set(side[4])))
        (their_in, their_out, their_sym), (our_in, our_out, our_sym) = sides
        for name in sorted(their_in.keys() - our_in.keys()):
            kinds.append(("input upstream alone" + self._sort(name), name))
        for name in sorted(our_in.keys() - their_in.keys()):
            kinds.append(("input here alone" + self._sort(name), name))
        for name in sorted(their_in.keys() & our_in.keys()):
            if name not in self._inputs and their_in[name] != our_in[name]:
                kinds.append(("freed upstream alone" if their_in[name] else "freed here alone", name))
        for name in sorted(their_out - our_out):
            kinds.append(("output upstream alone", name))
        for name in sorted(our_out - their_out):
            kinds.append(("output here alone", name))
        if their_sym != our_sym:
            kinds.append(("symbols upstream alone" if their_sym - our_sym else "symbols here alone",
                          f"{sorted(their_sym)} and {sorted(our_sym)}"))
        if not kinds:
            self._note(word)
            self._counts.agreed[word + ", parts"] += len(their_in) + len(their_out)
        for kind, example in kinds[:1]:
            self._note(word, kind, example)

    def _sort(self, name):
        return ", of the graph" if name in self._inputs else ""

    # --- places ---

    def _compare_places(self):
        theirs, ours = self._theirs.places(), self._ours.places()
        for storage, name in self._their_names.items():
            if name in self._apart or name in self._inputs:
                continue
            mine = self._ours.storages[name]
            if mine not in ours:
                continue
            if storage not in theirs:
                self._note("places, made by their kernel")
                continue
            (their_how, their_old), (our_how, our_old) = theirs[storage], ours[mine]
            their_old = their_old and self._their_names.get(their_old, "?")
            our_old = our_old and self._our_names.get(our_old, "?")
            word = {"allocated": "allocations", "reused": "reuses", "in place": "results in place",
                    "none": "dropped allocations"}[their_how]
            if (their_how, their_old) == (our_how, our_old):
                self._note(word)
            elif their_how == our_how:
                self._note(word, "another buffer's bytes", f"{name}: {their_old}, {our_old}")
            else:
                self._note(word, f"{their_how} upstream, {our_how} here",
                           f"{name}: {their_old}, {our_old}")
