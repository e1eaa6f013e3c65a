"""Loads usher.yaml from a file; errors name the line and key of every problem."""

import contextlib
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Union, get_args, get_origin

import pydantic
import pydantic_core
from msgspec import Struct
from pydantic import BaseModel

from usher import errors, paths
from usher.config import fabrics, models, selection
from usher.documents import reader

MOST_BYTES: Final = 256 * 1024
"""The largest usher.yaml. The API server waits three seconds for a verdict on it."""

MOST_ENTRIES: Final = 1000
"""The most entries of one list or mapping of usher.yaml. Reviews look through lists of rules."""

MOST_VALUES: Final = 20_000
"""The most single values in usher.yaml."""

_MOST_ROUNDS: Final = 8
"""A mistake may hide another one, so usher removes mistakes this many times."""


class Salvaged(Struct, frozen=True, kw_only=True):
    """A configuration without its mistakes."""

    config: models.Config
    entries: Mapping[str, Sequence[int]]
    """By the pointer of a list in the configuration: the indices that its entries have in the file."""

    def pointer_in_file(self, pointer: str) -> str:
        """The pointer of the same place in the file, where lists are longer."""
        found = here = paths.ROOT
        for key in paths.split(pointer):
            kept = self.entries.get(here)
            inside = kept is not None and key.isdecimal() and int(key) < len(kept)
            found = paths.join(found, kept[int(key)] if kept is not None and inside else key)
            here = paths.join(here, key)
        return found


def salvage_config(value: paths.Json) -> Salvaged | None:
    """The configuration in a document, without the entries and fields that are wrong; None if nothing is left."""
    entries: dict[str, list[int]] = {}
    for _ in range(_MOST_ROUNDS):
        try:
            config = models.Config.model_validate(value)
        except pydantic.ValidationError as error:
            wrong = [tuple(detail["loc"]) for detail in error.errors()]
            value = _value_without_mistakes(value, wrong, paths.ROOT, entries)
        else:
            return Salvaged(config=config, entries=entries)
    return None


def _value_without_mistakes(
    value: paths.Json, wrong: Sequence[tuple[int | str, ...]], pointer: str, entries: dict[str, list[int]]
) -> paths.Json:
    """The value without the entries of its outermost lists, and without the fields, that hold a mistake."""
    if isinstance(value, list):
        hurt = {location[0] for location in wrong if location}
        before = entries.get(pointer, list(range(len(value))))
        entries[pointer] = [original for index, original in enumerate(before) if index not in hurt]
        return [item for index, item in enumerate(value) if index not in hurt]
    if not isinstance(value, dict):
        return None
    return dict(_good_fields(value, wrong, pointer, entries))


def _good_fields(
    value: Mapping[str, paths.Json],
    wrong: Sequence[tuple[int | str, ...]],
    pointer: str,
    entries: dict[str, list[int]],
) -> Iterable[tuple[str, paths.Json]]:
    for name, child in value.items():
        below = [location[1:] for location in wrong if location and location[0] == name]
        if not below:
            yield name, child
        elif all(below) and isinstance(child, dict | list):
            yield name, _value_without_mistakes(child, below, paths.join(pointer, name), entries)


_SAME: Final[Mapping[str, Sequence[str]]] = {
    "accelerators": ("resources", "minAccelerators"),
    "apply": ("action",),
    "board": ("gpu",),
    "labels": ("nodeSelector",),
    "max": ("hard",),
    "mode": ("action",),
    "nodelabels": ("nodeSelector",),
    "outcome": ("action",),
    "queue": ("localQueue",),
    "roles": ("for",),
    "rules": ("classes",),
    "severity": ("action",),
    "until": ("expires",),
}
"""Keys that other tools, or other parts of usher, use for the same thing, in lower case."""


def suggestion_for_key(location: Sequence[int | str]) -> str:
    """A suggestion for an unknown key of a section; `location` is its place as in errors of pydantic.

    The suggestion is the nearest key, or a key of the same meaning; else all keys of the section.
    """
    section = _section(models.Config, location[:-1])
    if section is None:
        return ""
    known = [field.alias or name for name, field in section.model_fields.items()]
    key = str(location[-1])
    same = next((name for name in _SAME.get(key.casefold(), ()) if name in known), "")
    if same:
        return f"; did you mean {same}?"
    return selection.nearest_word(key, known) or f"; this section has {', '.join(sorted(known))}"


def suggestion_for_choice(given: object, known: str) -> str:
    """The suggestion for a wrong word; `known` lists the accepted words as `one, other or third`."""
    if not isinstance(given, str):
        return ""
    return selection.nearest_word(given, known.replace(" or ", ", ").split(", "))


def _section(section: type[BaseModel], location: Sequence[int | str]) -> type[BaseModel] | None:
    """The section at a place below another one; None where the place has no fixed keys."""
    found = dict(_sections_on_the_way(section, location))
    # The place of a list stands for its entries.
    return found.get(len(location)) or found.get(len(location) + 1)


def _sections_on_the_way(
    section: type[BaseModel] | None, location: Sequence[int | str]
) -> Iterable[tuple[int, type[BaseModel]]]:
    """The sections around a place, from the outermost one, each with the number of keys that lead to it."""
    depth = 0
    while section is not None:
        yield depth, section
        if depth >= len(location):
            return
        key = location[depth]
        field = next((each for name, each in section.model_fields.items() if key in (name, each.alias)), None)
        if field is None:
            return
        section = next(iter(_sections(field.annotation)), None)
        # An entry of a list or of a mapping by names is one step deeper.
        holds_many = any(get_origin(each) in (list, dict) for each in _parts_of_annotation(field.annotation))
        depth += 2 if holds_many else 1


def _sections(annotation: Any) -> Iterable[type[BaseModel]]:  # noqa: ANN401 - any annotation of a field
    for part in _parts_of_annotation(annotation):
        if isinstance(part, type) and issubclass(part, BaseModel):
            yield part


def _parts_of_annotation(annotation: Any) -> Iterable[Any]:  # noqa: ANN401 - any annotation of a field
    yield annotation
    if get_origin(annotation) in (list, dict, Annotated, Union, types.UnionType):
        for argument in get_args(annotation):
            yield from _parts_of_annotation(argument)


_LONGEST: Final = 64
"""The characters that a message shows of a value."""

_FORMS: Final = {
    "[smh]$": "a number with s, m or h, as in 90s or 5m",
    "^[-a-z0-9.*]+$": "lower-case letters, digits, hyphens and points, with * for any characters",
    "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$": "lower-case letters, digits, hyphens and points, as in the names of objects",
}
"""Words for the forms of values, by a part of the pattern."""

_TYPES: Final = {
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "dict_type": "a mapping of keys to values",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "list_type": "a list, as in [one, other]",
    "model_type": "a mapping of keys to values",
    "string_type": "a text; put a number, true or false in quotes",
}


def explain_error(detail: pydantic_core.ErrorDetails) -> str:
    """The mistake, with the wrong value, the accepted values, and the nearest known word."""
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown key{suggestion_for_key(detail['loc'])}"
    if kind == "missing":
        return "this key is required"
    if kind in _TYPES:
        return f"expected {_TYPES[kind]}, found {_shown_value(detail['input'])}"
    if kind in _SAYINGS:
        return _SAYINGS[kind](detail["input"], context)
    return detail["msg"].removeprefix("Value error, ")


def _word_error(given: object, context: Mapping[str, Any]) -> str:
    known = str(context.get("expected", "")).replace("'", "")
    return f"expected {known}, found {_shown_value(given)}{suggestion_for_choice(given, known)}"


def _form_error(given: object, context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    form = next((text for part, text in _FORMS.items() if part == pattern or pattern.endswith(part)), "")
    return f"expected {form or f'a text that matches {pattern}'}, found {_shown_value(given)}"


def _excess_error(_given: object, context: Mapping[str, Any]) -> str:
    return _too_many(context.get("actual_length"), context.get("max_length", MOST_ENTRIES))


def _too_many(found: int | None, most: int) -> str:
    return f"has {'too many' if found is None else found} entries, and usher reads at most {most}"


def _shortage_error(_given: object, context: Mapping[str, Any]) -> str:
    least = context.get("min_length", 1)
    return "must not be empty" if least == 1 else f"needs at least {least} entries"


def _shown_value(value: object) -> str:
    """A value of the file, bounded and escaped."""
    if isinstance(value, str):
        return f"{value[:_LONGEST]!a}"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)[:_LONGEST]
    if value is None:
        return "nothing"
    return "a list" if isinstance(value, list) else "a mapping"


_SAYINGS: Final[Mapping[str, Callable[[object, Mapping[str, Any]], str]]] = {
    "literal_error": _word_error,
    "string_pattern_mismatch": _form_error,
    "string_too_short": _shortage_error,
    "too_long": _excess_error,
    "too_short": _shortage_error,
}

Problem = tuple[str, str]
"""JSON Pointer into usher.yaml, and the problem there."""


def _nothing(_config: models.Config) -> Iterable[Problem]:
    return ()


def load(file: Path, *, check: Callable[[models.Config], Iterable[Problem]] = _nothing) -> models.Config:
    """The configuration in a file.

    Args:
        check: finds mistakes of meaning in the valid part of a file with other mistakes, so that one run names all of
            them. For a valid file the caller runs it.

    Raises:
        ConfigError: as `parse`; or the file cannot be read.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise errors.ConfigError(str(file), [(0, "", f"cannot be read: {error.strerror}")]) from None
    return parse(data, source=str(file), check=check)


def parse(data: bytes, *, source: str, check: Callable[[models.Config], Iterable[Problem]] = _nothing) -> models.Config:
    """The configuration in the content of a file; `check` as for `load`.

    Raises:
        ConfigError: the content is empty, too large, not YAML, names no version and kind, or does not match the schema;
            names every line and key.
    """
    if len(data) > MOST_BYTES:
        size = f"has {len(data)} bytes, and usher reads at most {MOST_BYTES}"
        raise errors.ConfigError(source, [(0, "", f"{size}; let patterns as team-* join entries")])
    try:
        documents = reader.parse(data, source=source)
    except errors.ManifestError as error:
        raise errors.ConfigError(source, [(error.line, "", error.reason)]) from None
    if not documents:
        raise errors.ConfigError(source, [(1, "", f"the file is empty; {_BEGINNING}")])
    if len(documents) > 1:
        raise errors.ConfigError(source, [(documents[1].line, "", "expected one document, found several")])
    config, found = _validated(documents[0].value, check)
    if config is not None:
        return config
    where = reader.Places(documents[0])
    problems = [
        (_line(where, pointer), paths.readable(pointer) if pointer else "", reason) for pointer, reason in found
    ]
    raise errors.ConfigError(source, sorted(problems, key=lambda problem: problem[0]))


def find_mistakes(
    value: paths.Json, *, check: Callable[[models.Config], Iterable[Problem]] = _nothing
) -> list[Problem]:
    """All mistakes in the value of usher.yaml, at their pointers; `check` also checks a valid value."""
    config, found = _validated(value, check)
    return found if config is None else list(check(config))


def _validated(
    value: paths.Json, check: Callable[[models.Config], Iterable[Problem]]
) -> tuple[models.Config | None, list[Problem]]:
    """The configuration; or None, and all mistakes."""
    # Before anything that takes longer for many entries.
    excess = list(_excess(value))
    if excess:
        return None, excess
    found = [*_missing_head(value), *_wrong_names(value)]
    try:
        config = models.Config.model_validate(value)
    except pydantic.ValidationError as error:
        return None, [*found, *_mistakes(value, error, check)]
    return (None, [*found, *check(config)]) if found else (config, [])


_BEGINNING: Final = f"begin it with apiVersion: {models.API_VERSION} and kind: Config"


def _missing_head(value: paths.Json) -> Iterable[Problem]:
    """Keys that say what the file is. Without them an empty file, or a wrong one, would be usher's defaults."""
    if isinstance(value, dict):
        for key in ("apiVersion", "kind"):
            if key not in value:
                yield paths.join(paths.ROOT, key), f"this key is required; {_BEGINNING}"


def _excess(value: paths.Json) -> Iterable[Problem]:
    """Lists and mappings with too many entries, or too many values in the whole file."""
    waiting, values = [(paths.ROOT, value)], 0
    while waiting:
        pointer, each = waiting.pop()
        if not isinstance(each, dict | list):
            values += 1
            continue
        if len(each) > MOST_ENTRIES:
            yield pointer, f"{_too_many(len(each), MOST_ENTRIES)}; let patterns as team-* join them"
            continue
        inner = each.items() if isinstance(each, dict) else enumerate(each)
        waiting += [(paths.join(pointer, key), child) for key, child in inner]
    if values > MOST_VALUES:
        yield (
            paths.ROOT,
            f"the file has {values} values, and usher reads at most {MOST_VALUES}; let patterns join entries",
        )


def _mistakes(
    value: paths.Json, error: pydantic.ValidationError, check: Callable[[models.Config], Iterable[Problem]]
) -> Iterable[Problem]:
    for detail in error.errors():
        yield paths.join(paths.ROOT, *detail["loc"]), explain_error(detail)
    yield from _contradictions(value, error)
    rest = salvage_config(value)
    if rest is not None:
        for pointer, reason in check(rest.config):
            yield rest.pointer_in_file(pointer), reason


def _contradictions(value: paths.Json, error: pydantic.ValidationError) -> Iterable[Problem]:
    """Contradictions between the fields of sections that also have a wrong field: pydantic does not look for these."""
    details = error.errors()
    wrong: dict[tuple[int | str, ...], set[str]] = {}
    sections: dict[tuple[int | str, ...], type[BaseModel]] = {}
    for detail in details:
        location = detail["loc"]
        for depth, section in _sections_on_the_way(models.Config, location):
            if depth < len(location):
                sections[location[:depth]] = section
                wrong.setdefault(location[:depth], set()).add(str(location[depth]))
    # A key that usher does not know may stand for any field that is absent.
    misspelt = {detail["loc"][:-1] for detail in details if detail["type"] == "extra_forbidden"}
    for location, section in sections.items():
        given = _value_at(value, location)
        if isinstance(given, dict):
            partial = _partial_section(section, given, wrong[location], misspelt=location in misspelt)
            for reason in _refusals(section, partial):
                yield paths.join(paths.ROOT, *location), reason


def _value_at(value: paths.Json, location: Iterable[int | str]) -> paths.Json:
    for key in location:
        if isinstance(value, dict):
            value = value.get(str(key))
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def _partial_section(
    section: type[BaseModel], given: Mapping[str, paths.Json], wrong: Collection[str], *, misspelt: bool
) -> BaseModel:
    """A section without its wrong fields: to read one of them raises AttributeError."""
    good: dict[str, Any] = {}
    unknown = []
    for name, field in section.model_fields.items():
        key = next((each for each in (field.alias, name) if each in given), None)
        if key is None:
            unknown += [name] if misspelt or field.is_required() else []
        elif key in wrong:
            unknown.append(name)
        else:
            annotation: Any = field.annotation
            good[name] = pydantic.TypeAdapter(annotation).validate_python(given[key])
    partial = section.model_construct({*good, *unknown}, **good)
    for name in unknown:
        partial.__dict__.pop(name, None)
    return partial


def _refusals(section: type[BaseModel], partial: BaseModel) -> Iterable[str]:
    """The reasons why the validators of a section refuse it, as far as they read only its good fields."""
    for name, validator in section.__pydantic_decorators__.model_validators.items():
        if validator.info.mode == "after":
            with contextlib.suppress(AttributeError):
                try:
                    getattr(partial, name)()
                except ValueError as refusal:
                    yield str(refusal)


def _wrong_names(value: paths.Json) -> Iterable[Problem]:
    """Names that entries share, and fabrics that do not exist, in the file as written: no other mistake hides them."""
    for key in ("pools", "quotas"):
        names = [(index, each.get("name")) for index, each in _entries(value, key)]
        twice = selection.repeated(name for _, name in names if isinstance(name, str))
        for index, name in names:
            if name in twice:
                yield f"/{key}/{index}/name", f"several {key} are named {name}; give each of them a name of its own"
    own = paths.mapping(paths.mapping(value).get("fabrics"))
    for name, fabric in own.items():
        if isinstance(fabric, dict):
            yield from _wrong_base(name, fabric)
    for index, pool in _entries(value, "pools"):
        fabric = pool.get("fabric")
        if isinstance(fabric, str) and fabric not in own and fabric not in fabrics.shipped_fabrics():
            known = sorted({*own, *fabrics.shipped_fabrics()})
            meant = selection.nearest_word(fabric, known) or f"; there are {', '.join(known)}"
            yield f"/pools/{index}/fabric", f"the fabric {fabric[:_LONGEST]} is neither shipped nor in fabrics{meant}"


def _entries(value: paths.Json, key: str) -> Iterable[tuple[int, Mapping[str, paths.Json]]]:
    for index, each in enumerate(paths.elements(paths.mapping(value).get(key))):
        if isinstance(each, dict):
            yield index, each


def _wrong_base(name: str, fabric: Mapping[str, paths.Json]) -> Iterable[Problem]:
    here, base = paths.join("/fabrics", name), fabric.get("base")
    if base is None and name in fabrics.shipped_fabrics():
        yield here, f"{name} is a shipped fabric; set base: {name} to add to it, or choose another name"
    elif isinstance(base, str) and base not in fabrics.shipped_fabrics():
        meant = (
            selection.nearest_word(base, fabrics.shipped_fabrics())
            or f"; these are {', '.join(fabrics.shipped_fabrics())}"
        )
        yield f"{here}/base", f"{base[:_LONGEST]} is not a shipped fabric{meant}"
    elif isinstance(base, str):
        for each in paths.mapping(fabric.get("env")):
            reason = fabrics.shipped_fabrics()[base].profile.refusal(each)
            if reason:
                yield paths.join(f"{here}/env", each), f"{each} cannot be set: {reason}"


def config_error(file: Path | None, problems: Sequence[tuple[str, str]]) -> errors.ConfigError:
    """The error for problems at pointers of a file that was loaded before; with lines, if possible."""
    return errors.ConfigError("usher.yaml" if file is None else str(file), locate_problems(file, problems))


def locate_problems(file: Path | None, problems: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """Line (0 where unknown), key and text of problems at pointers of a file that was loaded before."""
    data = b""
    if file is not None and problems:
        with contextlib.suppress(OSError):
            data = file.read_bytes()
    return locate_problems_in(data, problems)


def locate_problems_in(data: bytes, problems: Sequence[tuple[str, str]]) -> list[tuple[int, str, str]]:
    """Line, key and text of problems, like `locate_problems`, for the content of a file."""
    where = None
    if data and problems:
        with contextlib.suppress(errors.ManifestError):
            documents = reader.parse(data, source="usher.yaml")
            where = reader.Places(documents[0]) if documents else None
    return [
        (0 if where is None else _line(where, pointer), paths.readable(pointer), reason) for pointer, reason in problems
    ]


def _line(where: reader.Places, pointer: str) -> int:
    position = where.nearest(pointer)
    return position.key.line if position.key is not None else position.line
