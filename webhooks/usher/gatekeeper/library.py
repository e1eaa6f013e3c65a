"""A set of templates and constraints that belong together, compiled."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Final

from usher import errors
from usher.dataclass import dataclass
from usher.gatekeeper import constraints, parameters, templates
from usher.gatekeeper.compilation import Compiler, NotCompiledError
from usher.gatekeeper.constraints import Constraint
from usher.gatekeeper.fields import Written
from usher.gatekeeper.templates import Template
from usher.opa_program import RegoError

MOST_TEMPLATES: Final = 1000
MOST_CONSTRAINTS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A template with its module."""

    template: Template
    module: bytes | None
    """None if the template is not evaluated."""
    reads_inventory: bool = False
    """Whether its rules may compare with other objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Templates by the kind of their constraints, and constraints in the order of their names."""

    templates: Mapping[str, Compiled]
    constraints: tuple[Constraint, ...]


def read(objects: Iterable[Written], *, compiler: Callable[[], Compiler], built: Iterable[Library] = ()) -> Library:
    """The templates and constraints among objects, compiled, together with libraries that were built before.

    Objects of other kinds are left out. Without a template in Rego, no compiler is needed.

    Raises:
        InputError: one of them is wrong, exists twice, or is a constraint without its template.
    """
    ready: dict[str, Compiled] = {}
    asked: dict[str, Constraint] = {}
    places: dict[str, str] = {}
    for earlier in built:
        for kind, before in earlier.templates.items():
            _note(places, kind, at=before.template.place)
            ready[kind] = before
        for constraint in earlier.constraints:
            _note(places, constraint.key, at=constraint.place)
            asked[constraint.key] = constraint
    for written in objects:
        if templates.is_template(written.value):
            template = templates.read(written)
            _note(places, template.kind, at=template.place)
            ready[template.kind] = Compiled(template=template, module=None)
        elif constraints.is_constraint(written.value):
            constraint = constraints.read(written)
            _note(places, constraint.key, at=constraint.place)
            asked[constraint.key] = constraint
    if len(ready) > MOST_TEMPLATES or len(asked) > MOST_CONSTRAINTS:
        raise errors.InputError(
            f"{len(ready)} templates and {len(asked)} constraints; usher takes {MOST_TEMPLATES} and {MOST_CONSTRAINTS}"
        )
    known = {kind: each.template for kind, each in ready.items()}
    for constraint in asked.values():
        if wrong := problem(constraint, known):
            raise errors.InputError(wrong)
    made = compiler() if any(each.template.rego is not None for each in ready.values()) else None
    return Library(
        templates={
            kind: compiled(each.template, made) if made and each.template.rego is not None else each
            for kind, each in sorted(ready.items())
        },
        constraints=tuple(completed(asked[key], known[asked[key].kind]) for key in sorted(asked)),
    )


def without_inventory(library: Library, *, reason: str) -> Library:
    """The library without templates that compare with other objects; these are not evaluated, for this reason."""
    return replace(
        library,
        templates={
            kind: replace(each, module=None, template=replace(each.template, not_evaluated=reason))
            if each.reads_inventory and each.module is not None
            else each
            for kind, each in library.templates.items()
        },
    )


def _note(places: dict[str, str], name: str, *, at: str) -> None:
    """Records where a template or constraint is defined.

    Raises:
        InputError: it is already defined elsewhere.
    """
    if name in places:
        raise errors.InputError(f"{at}: {name} is also defined in {places[name]}; give it once")
    places[name] = at


def problem(constraint: Constraint, known: Mapping[str, Template]) -> str:
    """Why the parameters of a constraint do not fit the schema of its template; empty if they fit.

    Raises:
        InputError: no template defines its kind.
    """
    template = known.get(constraint.kind)
    if template is None:
        raise errors.InputError(
            f"{constraint.place}: kind: no ConstraintTemplate defines {constraint.kind}; give its file as well"
        )
    if not constraint.has_parameters:
        return ""
    found = parameters.problem(constraint.parameters, template.schema)
    return f"{constraint.place}: {found} (the schema is in {template.place})" if found else ""


def completed(constraint: Constraint, template: Template) -> Constraint:
    """A constraint with the defaults of its template. Without parameters it gets only the default of all parameters."""
    if not constraint.has_parameters:
        default = template.schema.get("default") if isinstance(template.schema, dict) else None
        if not isinstance(default, dict):
            return constraint
        constraint = replace(constraint, parameters=default)
    found = parameters.defaulted(constraint.parameters, template.schema)
    return replace(constraint, parameters=found) if isinstance(found, dict) else constraint


def compiled(template: Template, compiler: Compiler) -> Compiled:
    """A template with its module.

    Raises:
        InputError: OPA refuses its Rego, as it would in Gatekeeper.
    """
    if template.rego is None:
        return Compiled(template=template, module=None)
    try:
        module = compiler.compiled(template.rego)
    except NotCompiledError as error:
        reason = f"OPA cannot compile it to WebAssembly: {error}"
        return Compiled(template=replace(template, not_evaluated=reason), module=None)
    except RegoError as error:
        raise errors.InputError(f"{template.place}: the Rego of {template.kind} does not compile: {error}") from None
    return Compiled(template=template, module=module, reads_inventory=template.rego.reads_inventory)
