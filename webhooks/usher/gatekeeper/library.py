"""A set of templates and constraints that belong together, compiled."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from usher import errors
from usher.gatekeeper import constraints, parameters, templates
from usher.gatekeeper.compilation import Compiler, RegoError
from usher.gatekeeper.constraints import Constraint
from usher.gatekeeper.fields import Written
from usher.gatekeeper.templates import Template

MOST_TEMPLATES: Final = 1000
MOST_CONSTRAINTS: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Compiled:
    """A template with its module."""

    template: Template
    module: bytes | None
    """None where the template is not evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Templates by the kind of their constraints, and constraints in the order of their names."""

    templates: Mapping[str, Compiled]
    constraints: tuple[Constraint, ...]


def read(objects: Iterable[Written], compiler: Compiler) -> Library:
    """The templates and constraints among objects, compiled; other objects are left out.

    Raises:
        InputError: one of them is wrong, is there twice, or is a constraint without its template.
    """
    found: dict[str, Template] = {}
    asked: dict[str, Constraint] = {}
    for written in objects:
        if templates.is_template(written.value):
            template = templates.read(written)
            if earlier := found.get(template.kind):
                raise written.wrong("spec.crd.spec.names.kind", f"{template.kind} is also defined at {earlier.place}")
            found[template.kind] = template
        elif constraints.is_constraint(written.value):
            constraint = constraints.read(written)
            if other := asked.get(constraint.key):
                raise written.wrong("metadata.name", f"{constraint.key} is also defined at {other.place}")
            asked[constraint.key] = constraint
    if len(found) > MOST_TEMPLATES or len(asked) > MOST_CONSTRAINTS:
        raise errors.InputError(
            f"{len(found)} templates and {len(asked)} constraints; usher takes {MOST_TEMPLATES} and {MOST_CONSTRAINTS}"
        )
    for constraint in asked.values():
        if wrong := problem(constraint, found):
            raise errors.InputError(wrong)
    return Library(
        templates={kind: compiled(template, compiler) for kind, template in sorted(found.items())},
        constraints=tuple(asked[key] for key in sorted(asked)),
    )


def problem(constraint: Constraint, known: Mapping[str, Template]) -> str:
    """Why the parameters of a constraint do not fit the schema of its template; empty where they fit.

    Raises:
        InputError: no template defines its kind.
    """
    template = known.get(constraint.kind)
    if template is None:
        raise errors.InputError(
            f"{constraint.place}: kind: no ConstraintTemplate defines {constraint.kind}; give its file as well"
        )
    found = parameters.problem(constraint.parameters, template.schema)
    return f"{constraint.place}: {found} (the schema is in {template.place})" if found else ""


def compiled(template: Template, compiler: Compiler) -> Compiled:
    """A template with its module.

    Raises:
        InputError: OPA refuses its Rego, as it would in Gatekeeper.
    """
    if template.rego is None:
        return Compiled(template=template, module=None)
    try:
        return Compiled(template=template, module=compiler.compiled(template.rego))
    except RegoError as error:
        raise errors.InputError(f"{template.place}: the Rego of {template.kind} does not compile: {error}") from None
