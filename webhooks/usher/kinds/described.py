"""Kinds from descriptions: those of usher.yaml, and regular kinds that ship with usher in the same format.

`scripts/generate` checks descriptions/*.yaml and writes them as one file of JSON, because YAML takes long to read.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson
from msgspec.structs import replace
from pydantic.alias_generators import to_camel

from usher import errors, model, paths, quantities
from usher.config import described_kinds
from usher.kinds.kind import Key, Kind, Kueue, KueueUnit, Pods, Starts, facts_of, fields_of_pods, key_of
from usher.kinds.reading import expressions
from usher.kinds.reading.pod_templates import listed_containers, read_embedded, template_times
from usher.kinds.reading.templates import AS_CONFIGURED, LISTS, NOWHERE, ContainerPlace, Place, Template, Traits
from usher.kinds.reading.values import Reading

_FOLDER: Final = Path(__file__).parent / "descriptions"
COMPILED: Final = _FOLDER / "descriptions.json"
"""All shipped descriptions."""

_EXPRESSIONS: Final = (
    *("name", "pods", "when", "least", "most", "because", "groups", "together", "in_turns", "later"),
    *("serves_as", "inherits", "scheduler"),
)
"""The fields of a pod set with an expression each."""

UNBOUNDED: Final = "unbounded"
"""The name and the value of a number of pods without bound, for the most pods."""
_NAMES: Final = ("object", "item", "outer", "key", "index", UNBOUNDED)


def _expressions_of(pods: described_kinds.DescribedPods) -> Iterator[tuple[str, str]]:
    """The expressions of a pod set, beside those of `let`, each with its field."""
    for field in _EXPRESSIONS:
        if (text := getattr(pods, field)) is not None:
            yield field, text
    if pods.container is not None and pods.container.named is not None:
        yield "container", pods.container.named


_way = lru_cache(maxsize=1024)(expressions.Way)


def _pointer(path: str) -> str:
    return _way(path).pointer


class _Pods:
    """One pod set of a description, with its expressions compiled."""

    def __init__(
        self, described: described_kinds.DescribedPods, kind: described_kinds.DescribedKind, names: list[str]
    ) -> None:
        """Args:
        names: those that expressions may use; the ones of this pod set are added.
        """
        self._described = described
        self._let: list[tuple[str, expressions.Run]] = []
        self.beside: list[_Pods] = []
        """Further pod sets of each entry. They have the values of this one, and add their own."""
        for name, text in described.let.items():
            self._let.append((name, expressions.compiled(text, names)))
            names.append(name)
        self._runs = {field: expressions.compiled(text, names) for field, text in _expressions_of(described)}
        if kind.scheduler and described.scheduler is None:
            self._runs["scheduler"] = expressions.compiled(f"at(object, '{kind.scheduler}')", names)
        self._gang = kind.gang
        self._has_own_traits = kind.gang is None and not {"scheduler", "inherits"} & self._runs.keys()
        self._own = Traits(
            trains=kind.trains, operator_environment=frozenset(kind.environment), changeable=kind.changeable
        )

    def templates(self, root: expressions.Found, reading: Reading, steps: list[int]) -> Iterator[Template]:
        for index, (item, outer, key) in enumerate(self._items(root, self._described.each, (), "", reading)):
            scope = _scope(root, reading, steps, item=item, outer=outer, key=key, index=index)
            for pods in (self, *self.beside):
                try:
                    found = pods.template(item, scope)
                except expressions.UnusableError as error:
                    reading.unknown(item.path, f"its description cannot count its pods: {error}")
                    if steps[0] < 0:
                        return
                    continue
                if found is not None:
                    yield found

    def _items(
        self,
        item: expressions.Found,
        each: Sequence[str],
        outer: tuple[expressions.Found, ...],
        key: str,
        reading: Reading,
    ) -> Iterator[tuple[expressions.Found, tuple[expressions.Found, ...], str]]:
        if not each:
            yield item, outer[1:], key
            return
        way, *rest = each
        path = way.removesuffix(".*")
        holder = _below(item, path, reading)
        if path != way:
            entries = reading.entries(*holder)
        else:
            entries = ((entry_path, key, entry) for entry_path, entry in reading.items(*holder))
        for entry_path, name, entry in entries:
            found = expressions.Found(entry if isinstance(entry, dict) else dict(entry), entry_path)
            yield from self._items(found, rest, (*outer, item), name, reading)

    def template(self, item: expressions.Found, scope: expressions.Scope) -> Template | None:
        """The template of an entry; None for one without pods."""
        for name, run in self._let:
            scope.names[name] = run(scope)
        if not self._flag("when", scope, default=True):
            return None
        count = self._count(scope)
        found = self._placed(item, scope)
        groups = max(self._number("groups", scope, default=1), 1)
        return replace(
            found,
            name=self._text("name", scope),
            count=count,
            traits=self._traits(found, scope),
            requests=tuple(self._devices(item, scope.reading)) if self._described.devices else (),
            groups=groups,
            together=self._number("together", scope, default=0) if "together" in self._runs else None,
            in_turns=self._flag("in_turns", scope),
            later=self._flag("later", scope),
            serves_as=self._work(scope),
        )

    def _flag(self, field: str, scope: expressions.Scope, *, default: bool = False) -> bool:
        run = self._runs.get(field)
        return default if run is None else scope.truth(run(scope))

    def _number(self, field: str, scope: expressions.Scope, *, default: int) -> int:
        run = self._runs.get(field)
        return default if run is None else scope.number(run(scope))

    def _text(self, field: str, scope: expressions.Scope) -> str:
        run = self._runs.get(field)
        return "" if run is None else scope.text(run(scope))

    def _work(self, scope: expressions.Scope) -> str:
        """The work of the pods; no unusable text makes an object unknown, because nothing is judged by it."""
        run = self._runs.get("serves_as")
        found = "" if run is None else run(scope)
        return paths.text(found.value if isinstance(found, expressions.Found) else found)

    def _count(self, scope: expressions.Scope) -> model.Count:
        pods = self._number("pods", scope, default=1)
        least = min(self._number("least", scope, default=pods), pods)
        reason, highest = self._text("because", scope), self._runs.get("most")
        most = pods if highest is None else highest(scope)
        if most == UNBOUNDED:
            return model.Count(minimum=least, maximum=None, reason=reason or "its description names no bound")
        maximum = max(scope.number(most), pods)
        if maximum > pods and "because" not in self._runs:
            reason = f"it may grow to {maximum}"
        return model.Count(minimum=least, maximum=maximum, reason=reason)

    def _placed(self, item: expressions.Found, scope: expressions.Scope) -> Template:
        """The parts of the template at their places; the other fields follow."""
        described, reading = self._described, scope.reading
        if described.pod_template is not None:
            return self._of_template(item, described.pod_template, scope)
        spec = _below(item, described.pod_spec or "", reading)
        metadata = Place(None, "")
        if described.metadata is not None:
            metadata = _below(item, described.metadata, reading)
        fields = dict.fromkeys(described.without, NOWHERE)
        fields.update((name, _below(item, path, reading)) for name, path in described.fields.items())
        return Template(
            name="",
            path=spec.path if described.place is None else _below(item, described.place, reading).path,
            spec=spec if described.pod_spec else Place({}, spec.path),
            metadata=metadata,
            containers=self._containers(item, spec, fields, scope),
            fields=fields,
        )

    def _containers(
        self, item: expressions.Found, spec: Place, fields: Mapping[str, Place], scope: expressions.Scope
    ) -> tuple[ContainerPlace, ...] | None:
        beside, listed, reading = self._described.container, self._described.containers, scope.reading
        if beside is None and listed is None:
            return None
        held = reading.mapping(*spec)
        lists = {name: fields.get(name, Place(held.get(name), f"{spec.path}/{name}")) for name, _ in LISTS}
        if listed is not None:
            lists["containers"] = _below(item, listed.list, reading)
        found = list(listed_containers(lists, reading))
        if listed is not None and listed.keep:
            found = [
                each._replace(value={key: each.value[key] for key in listed.keep if key in each.value})
                for each in found
            ]
        if beside is not None:
            place = _below(item, beside.at, reading)
            name = beside.name or self._text("container", scope)
            if value := reading.mapping(*place):
                found.insert(0, ContainerPlace(value=value, path=place.path, name=name))
        return tuple(found)

    def _of_template(self, item: expressions.Found, path: str, scope: expressions.Scope) -> Template:
        described, reading = self._described, scope.reading
        place, patches = _below(item, path, reading), []
        source = described.template_from
        if source is not None and place.value is None:
            name = scope.text(scope.below(item, _way(source.name)))
            place = _named_template(scope, source, name) if name else place
            patches.append(source.patch)
        value, patched = reading.mapping(*place), False
        for patch in filter(None, (*patches, described.patch)):
            change = _below(item, patch, reading)
            if change.value is not None:
                value, patched = patch_of(value, reading.mapping(*change)), True
        return Template(
            name="",
            path=place.path,
            spec=Place(value.get("spec"), place.path + "/spec"),
            metadata=Place(value.get("metadata"), place.path + "/metadata"),
            fields=dict.fromkeys(described.without, NOWHERE),
            # A patch may replace what usher would write into the template, so it writes into the pods.
            traits=Traits(changeable=not patched),
        )

    def _traits(self, found: Template, scope: expressions.Scope) -> Traits:
        traits = self._own
        if self._has_own_traits and found.traits.changeable:
            return traits
        if not self._flag("inherits", scope, default=True):
            traits = traits._replace(ranks_inherit_environment=False)
        named = self._text("scheduler", scope)
        spec = found.spec.value if isinstance(found.spec.value, dict) else {}
        own = None if "schedulerName" in found.fields else spec.get("schedulerName")
        scheduler = own if isinstance(own, str) and own else named
        group = ""
        if self._gang is not None:
            group = scheduler if scheduler in self._gang.by else "" if self._gang.by else AS_CONFIGURED
        return traits._replace(
            scheduler=model.Scheduler(name=named, reason="the object names it for all its pods") if named else None,
            pod_group=group,
            changeable=traits.changeable and found.traits.changeable,
        )

    def _devices(self, item: expressions.Found, reading: Reading) -> Iterator[model.AcceleratorRequest]:
        for name, path in self._described.devices.items():
            place = _below(item, path, reading)
            if place.value is None:
                continue
            try:
                quantity = quantities.parse(place.value)
            except errors.QuantityError as error:
                reading.unknown(place.path, str(error))
                continue
            yield model.AcceleratorRequest(
                route=model.Route.RESOURCE, name=name, minimum=quantity, maximum=quantity, path=place.path
            )


def _scope(
    root: expressions.Found, reading: Reading, steps: list[int], **names: expressions.Value
) -> expressions.Scope:
    """The values of all names of an expression; those of an entry, if it is not about the whole object."""
    given: dict[str, expressions.Value] = {"object": root, "item": root, "outer": (), "key": "", "index": 0}
    given[UNBOUNDED] = UNBOUNDED
    given.update(names)
    return expressions.Scope(given, reading, steps)


def _below(item: expressions.Found, path: str, reading: Reading) -> Place:
    """The value at a path of fields from an entry on."""
    way = _way(path)
    return Place(way.value_in(item.value, item.path, reading), item.path + way.pointer)


def _named_template(scope: expressions.Scope, source: described_kinds.DescribedSource, name: str) -> Place:
    """The template of the entry with a name in another list of the object."""
    root = scope.names["object"]
    listed = scope.below(root, _way(source.list))
    for path, entry in scope.reading.items(listed.value, listed.path):
        if entry.get("name") == name:
            return _below(expressions.Found(dict(entry), path), source.pod_template, scope.reading)
    raise expressions.UnusableError(f"{source.list} has no entry {name}")


_MERGE_KEYS: Final[Mapping[str, str]] = {
    "containers": "name",
    "initContainers": "name",
    "env": "name",
    "volumes": "name",
    "imagePullSecrets": "name",
    "claims": "name",
    "resourceClaims": "name",
    "volumeMounts": "mountPath",
    "ports": "containerPort",
}
"""Lists that a strategic merge patch merges, by the key of their entries (patchMergeKey in API:core/v1/types.go)."""


def patch_of(value: Mapping[str, paths.Json], patch: Mapping[str, paths.Json]) -> paths.Object:
    """The value after a strategic merge patch."""
    found = dict(value)
    for key, change in patch.items():
        own = found.get(key)
        if change is None:
            found.pop(key, None)
        elif isinstance(change, dict):
            found[key] = patch_of(own if isinstance(own, dict) else {}, change)
        elif isinstance(change, list) and isinstance(own, list) and key in _MERGE_KEYS:
            found[key] = _merged(own, change, _MERGE_KEYS[key])
        else:
            found[key] = change
    return found


def _merged(own: list[paths.Json], changes: list[paths.Json], key: str) -> list[paths.Json]:
    found = list(own)
    for change in changes:
        wanted = paths.mapping(change).get(key)
        places = [index for index, each in enumerate(found) if paths.mapping(each).get(key) == wanted]
        if places and isinstance(change, dict):
            found[places[0]] = patch_of(paths.mapping(found[places[0]]), change)
        else:
            found.append(change)
    return found


class _Embedded:
    """A whole object of another kind that a description holds."""

    def __init__(self, described: described_kinds.DescribedObject) -> None:
        self._described = described
        self._times = expressions.compiled(described.times, _NAMES)
        self._most = expressions.compiled(described.most or described.times, _NAMES)

    def templates(self, root: expressions.Found, reading: Reading, steps: list[int]) -> Iterator[Template]:
        place = _below(root, self._described.object, reading)
        value = reading.mapping(*place)
        if not value:
            return
        if self._described.kind is not None:
            group, kind = key_of(self._described.kind)
            version = f"{group}/{self._described.version}" if group else self._described.version
            value = {**value, "apiVersion": version, "kind": kind}
        scope = _scope(root, reading, steps)
        try:
            times = scope.number(self._times(scope))
            most = max(scope.number(self._most(scope)), times)
        except expressions.UnusableError as error:
            reading.unknown(place.path, f"its description cannot count its pods: {error}")
            return
        inner = None if reading.context.is_too_deep else read_embedded(value, place.path, reading)
        if inner is None or inner.templates is None:
            named = paths.text(value.get("kind")) or "object without kind"
            reading.unknown(place.path, f"{named} is a kind or version unknown to usher: its pods are not judged")
            return
        key = paths.text(value.get("apiVersion")).rpartition("/")[0], paths.text(value.get("kind"))
        reason = f"{most} {key[1]}s during a rollout" if most > times else ""
        for template in inner.templates:
            found = template_times(template, model.Count(minimum=times, maximum=most, reason=reason))
            path = place.path + template.inner_path
            groups = max(template.groups * times, 1)
            yield replace(found, inner_kind=template.inner_kind or key, inner_path=path, groups=groups)


class _Templates:
    """Finds the templates of one kind; compiles its descriptions when the first object comes."""

    def __init__(self, described: Sequence[described_kinds.DescribedKind]) -> None:
        self._described = described
        self._by_version: dict[str, tuple[_Pods | _Embedded | _Elsewhere, ...]] = {}

    def __call__(self, value: Mapping[str, paths.Json], reading: Reading) -> Iterator[Template]:
        version = paths.text(value.get("apiVersion")).rpartition("/")[2]
        if version not in self._by_version:
            kind = next((each for each in self._described if version in each.versions), self._described[0])
            self._by_version[version] = _parts(kind)
        root, steps = (
            expressions.Found(value if isinstance(value, dict) else dict(value), paths.ROOT),
            [expressions.MOST_STEPS],
        )
        for part in self._by_version[version]:
            yield from part.templates(root, reading, steps)


class _Elsewhere(NamedTuple):
    """A field that names another object with pods."""

    path: str

    def templates(self, root: expressions.Found, reading: Reading, _steps: list[int]) -> Iterator[Template]:
        if (place := _below(root, self.path, reading)).value is not None:
            reading.unknown(place.path, "this field names another object with pods, and usher does not judge these")
        return iter(())


def _parts(kind: described_kinds.DescribedKind) -> tuple[_Pods | _Embedded | _Elsewhere, ...]:
    elsewhere = map(_Elsewhere, kind.elsewhere)
    if kind.embedded is not None:
        return (_Embedded(kind.embedded), *elsewhere)
    parts, names = list[_Pods](), list[str]()
    for described in kind.pod_sets:
        if not described.alternates:
            names = [*_NAMES]
        (parts[-1].beside if described.alternates else parts).append(_Pods(described, kind, names))
    return (*parts, *elsewhere)


def _template_paths(kind: described_kinds.DescribedKind) -> Iterator[str]:
    if kind.embedded is not None:
        yield f"those of the object at {kind.embedded.object}"
    ways = list[str]()
    for pods in kind.pod_sets:
        if not pods.alternates:
            ways = [f"{way.removesuffix('.*')}.<name>" if way.endswith(".*") else f"{way}[]" for way in pods.each]
        listed = "" if pods.containers is None else pods.containers.list
        yield ".".join(filter(None, [*ways, pods.pod_template or pods.pod_spec or listed]))


def _counted(kind: described_kinds.DescribedKind) -> str:
    counts = [each.pods for each in kind.pod_sets] or [kind.embedded.times if kind.embedded else ""]
    return kind.counted or "; ".join(f"`{each}`" for each in dict.fromkeys(counts))


_OF_KIND: Final = frozenset({"key", "shape", "owned_by", "facts"})
"""Fields of `record` that `kinds.kind.Pods` does not have."""


def _kind_of(described: Sequence[described_kinds.DescribedKind]) -> Kind:
    """The record of one kind, whose descriptions have different versions."""
    first = described[0]
    group, name = key_of(first.kind)
    record = first.record if isinstance(first, described_kinds.ShippedKind) else {}
    owners = tuple(key_of(each) for each in record.get("owned_by", ()))
    fields_of_pod_sets = fields_of_pods({field: value for field, value in record.items() if field not in _OF_KIND})
    return Kind(
        group=group,
        kind=name,
        versions=tuple(dict.fromkeys(version for each in described for version in each.versions)),
        plural=first.plural or f"{name.lower()}s",
        scale=_pointer(first.scale) if first.scale else "",
        owned_by=owners,
        key=record.get("key", ""),
        shape=record.get("shape", ""),
        facts=facts_of(record["facts"]) if "facts" in record else None,
        pods=Pods(**{**_pods_of(described), **fields_of_pod_sets}),
    )


def _pods_of(described: Sequence[described_kinds.DescribedKind]) -> dict[str, Any]:
    """The fields of `Pods` that follow from descriptions of one kind."""
    first = described[0]
    gang, queue = first.gang, first.queue
    kueue = None if queue is None else queue.kueue
    places = model.NO_GANG_PLACES
    if gang is not None:
        annotation = None if queue is None else queue.volcano_annotation
        places = model.GangPlaces(
            queue=None if annotation is None else paths.join("/metadata/annotations", annotation),
            own_minimum=_pointer(gang.minimum) if gang.minimum else None,
            priority_class=_pointer(first.priority) if first.priority else None,
            scheduler=_pointer(first.scheduler) if first.scheduler else None,
            on_templates=first.scheduler is None,
        )
    schedulers = ", ".join(gang.by) if gang is not None and gang.by else "the scheduler of its configuration"
    return {
        "templates": _Templates(described),
        "template_paths": tuple(dict.fromkeys(path for each in described for path in _template_paths(each))),
        "counted": _counted(first),
        "source": first.source or "workloads of usher.yaml",
        "kueue_unit": KueueUnit.POD if kueue is None else KueueUnit.WHOLE,
        "starts": Starts.TOGETHER,
        "shrinks": True,
        "minimum_from": "",
        "role": model.Role(first.role),
        "serves_in_parts": any(each.serves_as for kind in described for each in kind.pod_sets),
        "runs_any_program": True,
        "suspend_path": _pointer(first.suspend) if first.suspend else None,
        "kueue": Kueue.NEVER if kueue is None else Kueue.OPTION,
        "queue_label_path": None if kueue is None else _pointer(kueue),
        "volcano": "" if gang is None else f"its operator's PodGroup, for {schedulers}",
        "gang_places": places,
        "gang_minimum_path": _pointer(gang.minimum) if gang is not None and gang.minimum else None,
        "needs_gang": first.waits,
    }


def kinds_of(described: Iterable[described_kinds.DescribedKind]) -> tuple[Kind, ...]:
    """The records of the kinds that these descriptions describe."""
    by_name: dict[str, list[described_kinds.DescribedKind]] = {}
    for each in described:
        by_name.setdefault(each.kind, []).append(each)
    return tuple(_kind_of(each) for each in by_name.values())


def owned_by(described: Iterable[described_kinds.DescribedKind]) -> Mapping[Key, tuple[Key, ...]]:
    """The kinds that make objects of other kinds, by the other kind."""
    found: dict[Key, tuple[Key, ...]] = {}
    for each in described:
        for name in each.makes:
            found[key_of(name)] = (*found.get(key_of(name), ()), key_of(each.kind))
    return found


class Problem(NamedTuple):
    """A mistake in a description, with the JSON Pointer into the list of descriptions."""

    path: str
    reason: str


def problems(described: Sequence[described_kinds.DescribedKind], known: Collection[Key]) -> Iterator[Problem]:
    """Mistakes that the schema of descriptions cannot find.

    Args:
        known: the kinds that usher knows without these descriptions.
    """
    seen: set[tuple[str, str]] = set()
    new = {key_of(each.kind) for each in described}
    for index, each in enumerate(described):
        here = f"/{index}"
        if key_of(each.kind) in known:
            yield Problem(f"{here}/kind", f"usher knows {each.kind} itself; leave the entry out")
        elif "." not in each.kind and not isinstance(each, described_kinds.ShippedKind):
            yield Problem(f"{here}/kind", f"a kind of your own has a group; write it after the kind, {each.kind}.GROUP")
        for place, version in enumerate(each.versions):
            if (each.kind, version) in seen:
                yield Problem(f"{here}/versions/{place}", f"another entry describes {each.kind} in {version}")
            seen.add((each.kind, version))
        for place, name in enumerate(each.makes):
            if key_of(name) not in known and key_of(name) not in new:
                yield Problem(f"{here}/makes/{place}", f"{name} is unknown to usher; write Kind.group")
        inner = None if each.embedded is None else each.embedded.kind
        if inner is not None and key_of(inner) not in known:
            yield Problem(f"{here}/embedded/kind", f"{inner} is unknown to usher; write Kind.group")
        yield from _wrong_expressions(each, here)


def _wrong_expressions(kind: described_kinds.DescribedKind, here: str) -> Iterator[Problem]:
    if kind.embedded is not None:
        yield from _wrong(kind.embedded.times, _NAMES, f"{here}/embedded/times")
        if kind.embedded.most is not None:
            yield from _wrong(kind.embedded.most, _NAMES, f"{here}/embedded/most")
    for index, pods in enumerate(kind.pod_sets):
        place = f"{here}/podSets/{index}"
        if index == 0 or not pods.alternates:
            names = [*_NAMES]
        for name, text in pods.let.items():
            yield from _wrong(text, names, f"{place}/let/{name}")
            names.append(name)
        for field, text in _expressions_of(pods):
            yield from _wrong(text, names, f"{place}/{to_camel(field)}")


def _wrong(text: str, names: Collection[str], place: str) -> Iterator[Problem]:
    try:
        expressions.compiled(text, names)
    except expressions.ExpressionError as error:
        yield Problem(place, f"{error} (docs/kinds-of-your-own.md#expressions)")


_SECTIONS: Final[Mapping[str, Any]] = {
    "embedded": described_kinds.DescribedObject,
    "gang": described_kinds.DescribedGang,
    "queue": described_kinds.DescribedQueue,
    "container": described_kinds.DescribedContainer,
    "containers": described_kinds.DescribedContainers,
    "template_from": described_kinds.DescribedSource,
}


def _section(value: Any, made: Any) -> Any:  # noqa: ANN401 - any section
    """A section of a description that was checked when it was written, without another check."""
    fields = {
        key: [_section(each, described_kinds.DescribedPods) for each in field]
        if key == "pod_sets"
        else _section(field, _SECTIONS[key])
        if key in _SECTIONS and isinstance(field, dict)
        else field
        for key, field in value.items()
    }
    return made.model_construct(**fields)


def shipped() -> Sequence[described_kinds.ShippedKind]:
    """The descriptions that ship with usher."""
    return [_section(each, described_kinds.ShippedKind) for each in orjson.loads(COMPILED.read_bytes())]


SHIPPED: Final = shipped()
