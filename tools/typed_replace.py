"""A plugin for mypy: it checks the arguments of `msgspec.structs.replace` as mypy does for `dataclasses.replace`.

It also reports a call that gets a value of the wrong kind, which would fail when it runs.
"""

from collections.abc import Callable, Iterator

from mypy.plugin import FunctionSigContext, Plugin
from mypy.plugins.dataclasses import replace_function_sig_callback
from mypy.types import FunctionLike, Instance, Type, TypeVarLikeType, UnionType, get_proper_type

STRUCTS = "msgspec.structs.replace"
DATACLASSES = "dataclasses.replace"


class TypedReplace(Plugin):
    def get_function_signature_hook(self, fullname: str) -> Callable[[FunctionSigContext], FunctionLike] | None:
        return {STRUCTS: of_structs, DATACLASSES: of_dataclasses}.get(fullname)


def of_structs(context: FunctionSigContext) -> FunctionLike:
    if not all(kind.type.has_base("msgspec.Struct") for kind in kinds(context)):
        context.api.fail(f"The value is not a msgspec.Struct; use {DATACLASSES}", context.context)
    return replace_function_sig_callback(context)


def of_dataclasses(context: FunctionSigContext) -> FunctionLike:
    if any(kind.type.has_base("msgspec.Struct") for kind in kinds(context)):
        context.api.fail(f"The value is a msgspec.Struct; use {STRUCTS}", context.context)
    return replace_function_sig_callback(context)


def kinds(context: FunctionSigContext) -> Iterator[Instance]:
    """The classes that the value to replace may have."""
    first = context.args[0] if context.args else []
    if len(first) == 1:
        yield from instances(context.api.get_expression_type(first[0]))


def instances(found: Type) -> Iterator[Instance]:
    proper = get_proper_type(found)
    if isinstance(proper, TypeVarLikeType):
        yield from instances(proper.upper_bound)
    elif isinstance(proper, UnionType):
        for item in proper.items:
            yield from instances(item)
    elif isinstance(proper, Instance):
        yield proper


def plugin(_version: str) -> type[Plugin]:
    return TypedReplace
