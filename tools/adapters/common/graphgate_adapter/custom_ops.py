"""Registers the ops that a case brings along: further overloads of ops that PyTorch has.

A row is the schema and what a schema cannot say (docs/formats.md, "Op table"). An overload computes
what its op does; its effects beside that are order only, which PyTorch keeps for what writes.
"""

import torch

from graphgate_adapter.module import Unsupported

_registered = {}  # name -> (row, library)


def _tags(facts):
    names = [
        name
        for fact in facts
        if fact.startswith("tags=")
        for name in fact.removeprefix("tags=").split(",")
    ]
    return tuple(getattr(torch.Tag, name) for name in names if hasattr(torch.Tag, name))


def _arguments(schema):
    return [each.name for each in schema.arguments]


def _register(row, takes_aliases):
    schema, *facts = (part.strip() for part in row.split(" ; "))
    parsed = torch._C.parse_schema(schema)
    name = parsed.name + ("." + parsed.overload_name if parsed.overload_name else "")
    if not takes_aliases and any(each.alias_info for each in parsed.returns):
        raise Unsupported(f"compiled graphs hold no custom op that returns its operand, as {name}")
    known = _registered.get(name)
    if known is not None and known[0] == row:
        return
    if any(fact.startswith(("undeclared_writes", "undeclared_aliases")) for fact in facts):
        raise Unsupported(f"PyTorch's schema cannot say what {name} writes")
    namespace, op = parsed.name.split("::")
    packet = getattr(getattr(torch.ops, namespace), op, None)
    if known is None and packet and (parsed.overload_name or "default") in packet.overloads():
        # The engine has it, and a case says of it what the engine says.
        own = getattr(packet, parsed.overload_name or "default")._schema
        if _arguments(own) != _arguments(parsed) or own.is_mutable != parsed.is_mutable:
            raise Unsupported(f"{name} is an op here already, and another one: {own}")
        return
    base = next(
        (
            getattr(packet, overload)
            for overload in (packet.overloads() if packet else ())
            if overload != parsed.overload_name
            and _arguments(getattr(packet, overload)._schema) == _arguments(parsed)
            and getattr(packet, overload)._schema.is_mutable == parsed.is_mutable
        ),
        None,
    )
    if base is None:
        raise Unsupported(f"nothing tells what {name} computes")
    if known is not None:
        known[1]._destroy()
        del _registered[name]
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(schema.removeprefix(namespace + "::"), tags=_tags(facts))
    library.impl(name.removeprefix(namespace + "::"), base, "CompositeExplicitAutograd")
    torch.library.register_fake(name, base, lib=library)
    _registered[name] = (row, library)


def register(rows, takes_aliases):
    """Registers the ops of these rows. Unsupported where PyTorch cannot, or who runs them."""
    for row in rows:
        _register(row, takes_aliases)
