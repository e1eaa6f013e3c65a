"""Values that a controller refuses or cannot use: by rows of known_keys.yaml, and beside other objects of the files."""

import csv
import difflib
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Final, NamedTuple, TypeVar

import orjson
from msgspec.structs import replace

from usher import errors, memo, model, paths, quantities
from usher.kinds.reading import definition_limits, inference_routes, known_keys, started_programs
from usher.kinds.reading.environment import misread, misread_variables
from usher.kinds.reading.value_forms import (
    ADDED,
    PodSpec,
    at,
    is_placeholder,
    pod_specs,
    texts_at,
    texts_with_paths,
    values_at,
)
from usher.kinds.reading.values import Absence, Objects, Reference

Found = Iterator[model.UnreadKey]


class _Wrong(NamedTuple):
    """A row of `values` in known_keys.yaml. Places are as in `at`; conditions are patterns of the texts at places."""

    kinds: Sequence[str]
    at: str
    text: str
    """A message with the {word} that is wrong, the first group of the pattern, and the known one that is {like} it."""
    remedy: str
    pattern: str = ".+"
    known: str = ""
    """Words that are right; others count if they are like one of them. Without any, each match is wrong."""
    most: float = math.inf
    """Numbers up to it are right."""
    counted: str = ""
    """A place in the part; numbers up to the number of its values are right."""
    below: str = ""
    """Places in the part; numbers up to the largest one there are right."""
    listed: str = ""
    """Places in the part; the words that are there are right."""
    twice: bool = False
    """Whether a word is wrong only where it stands a second time in the part."""
    only: Mapping[str, str] = {}
    unless: Mapping[str, str] = {}
    each: str = ""
    """The parts of the object that the row is about; places are in a part, or after `$.` in the whole object."""
    topic: str = "controller"
    same: str = ""
    """Places in the whole object that say the same; a match is wrong if one there says something else, the {other}."""
    sum: str = ""
    """Places in the part with amounts; a match is wrong if their sum in MiB is another one than that of `differs`."""
    differs: str = ""
    words: Sequence[str] = ()
    """The JSON of each object that meets the row has one of these words, in small letters (tools/compile_tables.py)."""
    also: Sequence[Sequence[str]] = ()
    """More groups of these words."""


_Row = TypeVar("_Row", _Wrong, "_Beside")


def _wrong_rows(kind: str) -> Sequence[_Wrong]:
    return _made_rows(_Wrong, "values", kind) if kind in _rows_by_kind("values") else ()


@cache
def _made_rows(row_type: type[_Row], part: str, kind: str) -> Sequence[_Row]:
    return [row_type(**row) for row in _rows_by_kind(part)[kind]]


@cache
def _rows_by_kind(part: str) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    found = defaultdict[str, list[Mapping[str, Any]]](list)
    for row in known_keys.rows(part):
        for kind in dict.fromkeys(row["kinds"]):
            found[kind].append(row)
    return dict(found)


_ALIKE: Final = 0.7


def meets(value: Any, conditions: Mapping[str, str]) -> bool:  # noqa: ANN401 - any JSON
    """Whether a text at each place matches the pattern of that place."""
    return _meets(value, tuple(conditions.items()), all)


def meets_any(value: Any, conditions: Mapping[str, str]) -> bool:  # noqa: ANN401 - any JSON
    return _meets(value, tuple(conditions.items()), any)


def wrong_values(value: paths.Object, key: tuple[str, str]) -> Iterator[model.UnreadKey]:
    """Values and keys that the controller of an object refuses or does not read, by the rows of known_keys.yaml."""
    yield from _wrong_values(value, " ".join(key))
    if key == ("", "ConfigMap"):
        yield from metrics_of_dcgm(value)
        for each in known_keys.configurations(value.get("data")):
            for found in _wrong_values(each.value, each.reader):
                text = f"{found.text} (configuration {each.key})"
                yield replace(found, path=paths.join("/data", each.key), text=text)
        for where, text in texts_with_paths(value, "data.*"):
            yield from _wrong_in_text(where, text)
        yield from _unknown_plugins(value)
        yield from _ignored_by_plugin(value)


_OF_CONFIGURATIONS: Final = memo.pattern(r"(?m)^[\"']?apiVersion[\"']?:\s*[\"']?([a-z0-9.]+\.config\.[a-z0-9.]+)/")
"""The groups of configurations of programs, as of the kubelet, which are in texts as well as in files."""


def _wrong_in_text(where: str, text: str) -> Found:
    inner = known_keys.parsed(text) if _OF_CONFIGURATIONS.search(text) else None
    if inner:
        group, kind = paths.text(inner.get("apiVersion")).rpartition("/")[0], paths.text(inner.get("kind"))
        for found in _wrong_values(inner, f"{group} {kind}"):
            yield replace(found, path=where, text=f"{found.text} ({kind})")


_IGNORED: Final = (
    ("sharing.{timeSlicing,mps}.resources[].devices", "^all$", "so all GPUs of the node are shared"),
    ("sharing.{timeSlicing,mps}.resources[].rename", r"\.shared$", "so only renameByDefault changes the name"),
    ("resources.{gpus,mig}[].name", r"^nvidia\.com/(gpu|mig-.+)$", "so the GPUs keep their usual names"),
)
"""Fields of the device plugin that it does not read yet: their place, values that change nothing, and the effect."""


def _ignored_by_plugin(config_map: paths.Object) -> Found:
    """Fields of a configuration that NVIDIA's device plugin ignores (DisableResourceNamingInConfig)."""
    for each in known_keys.configurations(config_map.get("data")):
        for place, usual, effect in _IGNORED if each.reader == "the device plugin" else ():
            for where, given in at(each.value, place):
                texts = given if isinstance(given, list) else [given]
                if not all(re.search(usual, str(text)) for text in texts):
                    text = (
                        f"sets {paths.readable(where)} in the configuration {each.key}, which the device plugin ignores"
                    )
                    remedy = "remove it; DRA shares or names single GPUs"
                    yield misread(paths.join("/data", each.key), f"{text}, {effect}", remedy, "controller")
                    break


_OF_PICKERS: Final = "schedulingProfiles[].plugins[].pluginRef saturationDetector.pluginRef"
_ADDED: Final = "max-score-picker"
"""The plugin that it adds itself."""


def _unknown_plugins(value: paths.Object) -> Iterator[model.UnreadKey]:
    """Plugins that the configuration of an endpoint picker uses without defining them (validation.go of its loader)."""
    for where, text in texts_with_paths(value, "data.*"):
        given = known_keys.parsed(text) if "EndpointPickerConfig" in text else None
        defined = {name for each in values_at(given, "plugins[]") for name in texts_at(each, "name type")}
        for name in texts_at(given, _OF_PICKERS) if defined else ():
            if name not in defined and name != _ADDED:
                message = f"chooses endpoints by {name[:80]}, which its plugins do not define, so it does not start"
                yield misread(where, message, f"add a plugin with the name or the type {name[:80]}", "controller")


def wrong_pods(value: paths.Object, specs: Sequence[PodSpec]) -> Iterator[model.UnreadKey]:
    """As `wrong_values`, by the rows of the kind `pods`, which see a pod template of any kind as a Pod."""
    for pod, metadata, path in _as_pods(value, specs):
        for found in _wrong_values(pod, "pods"):
            yield replace(found, path=_place(found.path, metadata, path))


_COMPONENTS: Final = frozenset({"/spec/predictor", "/spec/transformer", "/spec/explainer"})
_OF_MODELS: Final = ("modelFormat", "storageUri", "storage", "protocolVersion")


def _as_pods(value: paths.Object, specs: Sequence[PodSpec]) -> Iterator[tuple[paths.Object, str, str]]:
    """Each pod spec as a Pod, with the paths of its metadata and of its spec.

    A spec that a controller completes is left out, as that of an InferenceService with a model.
    """
    for spec, path, _ in specs:
        above, _, field = path.rpartition("/")
        if field == "spec":
            yield paths.mapping(paths.resolve(value, above)), f"{above}/metadata", path
        elif field == "podSpec":  # of a clique of Grove, which has its labels beside the spec
            clique = above.removesuffix("/spec")
            found = paths.mapping(paths.resolve(value, clique))
            yield {"metadata": dict(found), "spec": dict(spec)}, clique, path
        elif path in _COMPONENTS and not any(
            name in paths.mapping(each) for each in spec.values() for name in _OF_MODELS
        ):
            own, whole = (
                {name: paths.mapping(each.get(name)) for name in ("labels", "annotations")}
                for each in (spec, paths.metadata(value))
            )
            yield {"metadata": {name: {**whole[name], **own[name]} for name in own}, "spec": dict(spec)}, path, path


def _place(path: str, metadata: str, spec: str) -> str:
    """The place in an object of a place in a pod spec that was read as a Pod."""
    _, first, *rest = path.split("/")
    if first == "spec":
        return "/".join([spec, *rest])
    return spec if metadata == spec else "/".join([metadata, *rest])


def wrong_in_container(whole: paths.Object, key: tuple[str, str], index: int, *, is_known: bool) -> Found:
    """Findings about program and variables of a container in a Pod; their paths are below the container.

    Args:
        key: group and kind of the object that has the program.
        is_known: whether the pod is known, so that it lacks what it does not say.
    """
    spec, beginning = known_keys.part_at(whole, "/spec"), f"/spec/containers/{index}"
    specs = [(spec, "/spec", ADDED)]
    found = [*started_programs.needs_of_programs(key, whole, specs)]
    found += misread_variables(spec["containers"][index], beginning, None)
    found += wrong_pods(whole, specs) if is_known else ()
    for each in found:
        if f"{each.path}/".startswith(f"{beginning}/"):
            yield replace(each, path=each.path.removeprefix(beginning))


def _wrong_values(value: paths.Object, kind: str) -> Iterator[model.UnreadKey]:
    rows = _wrong_rows(kind)
    for row in _possible_rows(rows, value) if rows else ():
        # Conditions about the whole object are asked once, so that the cost stays linear in the parts.
        only, unless = (tuple(conditions.items()) for conditions in (row.only, row.unless))
        if _meets(value, only, all, about_object=True) and not _meets(value, unless, any, about_object=True):
            wanted = [(row.at, row.pattern), *only]
            if not any(_meets(part, wanted, all) for part in values_at(value, row.each)):
                continue
            for path, part in at(value, row.each):
                if _meets(part, wanted, all) and not _meets(part, unless, any):
                    same = [str(each) for each in values_at(value, row.same)] if row.same else []
                    yield from _wrong_in(part, path, row, same)


def _possible_rows(rows: Sequence[_Row], value: paths.Object) -> Sequence[_Row]:
    """The rows that an object may meet by its words. Most objects meet no row, and cost only this."""
    try:
        text = orjson.dumps(value).lower().decode()
    except orjson.JSONEncodeError:  # Python's own parser accepts half surrogates and very large integers
        return rows
    has = text.__contains__
    possible = [row for row in rows if not row.words or any(map(has, row.words))]
    return [row for row in possible if all(any(map(has, each)) for each in row.also)]


_WHOLE: Final = "$."
_compiled: Final = lru_cache(maxsize=4096)(re.compile)
"""As `re.search` remembers patterns, at a fifth of its cost."""


def _meets(
    part: Any,  # noqa: ANN401 - any JSON
    conditions: Sequence[tuple[str, str]],
    how: Callable[[Iterator[bool]], bool],
    *,
    about_object: bool = False,
) -> bool:
    """Whether a part meets all or any of its conditions, or the whole object those that are about it."""
    return how(
        any(map(_compiled(pattern).search, map(str, values_at(part, place.removeprefix(_WHOLE)))))
        for place, pattern in conditions
        if place.startswith(_WHOLE) == about_object
    )


def _wrong_in(part: Any, path: str, row: _Wrong, same: Sequence[str]) -> Found:  # noqa: ANN401 - any JSON
    inside = "~" in row.each  # a text has no places inside
    most = len(values_at(part, row.counted)) if row.counted else row.most
    if row.below:
        numbers = [str(each) for each in values_at(part, row.below)]
        if not numbers or not all(re.fullmatch(r"\d{1,9}", each, re.ASCII) for each in numbers):
            return
        most = max(map(int, numbers))
    sums = [_mebibytes(part, places) for places in (row.sum, row.differs) if places]
    if row.sum and (None in sums or sums[0] == sums[1]):
        return
    written = (
        (path if inside else where, str(each))
        for where, each in at(part, row.at, "" if inside else path)
        if isinstance(each, str | int | float)
    )
    right = {str(each) for each in values_at(part, row.listed)} if row.listed else set[str]()
    for where, text in written:
        for found in re.finditer(row.pattern, text[:_LONGEST]):
            if is_placeholder(found[0] if _IN_LINE in row.at else text):
                continue
            word, known = found[found.lastindex or 0][:120], row.known.split()
            if row.twice and word not in right:
                right.add(word)
                continue
            if word in right and not row.twice:
                continue
            like = "" if word in known else next(iter(difflib.get_close_matches(word, known, 1, _ALIKE)), "")
            other = next((each for each in same if each != word and not is_placeholder(each)), "")[:120]
            if (like or not known) and (most == math.inf or float(word) > most) and (other or not row.same):
                given = {"word": word, "like": like, "most": most, "other": other}
                given |= {"sum": sums[0], "other": sums[1]} if row.sum else {}
                message, remedy = (each.format(**given) for each in (row.text, row.remedy))
                yield model.UnreadKey(path=where, text=message, remedy=remedy, important=False, topic=row.topic)


def _mebibytes(part: Any, places: str) -> int | None:  # noqa: ANN401 - any JSON
    """The sum of the amounts at places; None for a percentage and without an amount."""
    try:
        amounts = [quantities.parse(each).value for each in values_at(part, places)]
    except errors.QuantityError:
        return None
    return sum(amounts) // 2**20 if amounts else None


_LONGEST: Final = 4096
_IN_LINE: Final = "+"
"""In places of lines of commands; a part of one may be a placeholder."""


class _Beside(NamedTuple):
    """A row of `beside` in known_keys.yaml: what an object says, and what another one of the files has or lacks.

    The kind `pods` is each pod template of any kind, which its rows see as a Pod.
    """

    kinds: Sequence[str]
    at: str
    """The place of the name of the other object, or of an entry with a name; without one, any object of its kind."""
    others: Sequence[str]
    """Kinds of the other object."""
    text: str
    """A message with the {word} at the place, and the {other} object."""
    remedy: str
    by: str = ""
    """The place of the name of the other object, if it is not the one of the text."""
    pattern: str = ""
    """Finds names in the text: the first group; without one, the text is the name."""
    any: bool = False
    """Whether any object of these kinds counts, whatever the text at the place."""
    only: Mapping[str, str] = {}
    unless: Mapping[str, str] = {}
    entry: Mapping[str, str] = {}
    entry_lacks: Mapping[str, str] = {}
    """Conditions of the entry at the place; it does not meet any of these."""
    part: str = ""
    """The parts of the other object that its conditions are about; after `$.` they are about the whole object."""
    has: Mapping[str, str] = {}
    lacks: Mapping[str, str] = {}
    """Conditions of the other object, in which {word} is the text at the place and {namespace} that of the first
    object; it does not meet any of these.
    """
    without: str = ""
    """The kind of an object that has this name rightly; of any name, where any other object counts."""
    named: str = ""
    """The name of that object, if it is not the text at the place."""
    anywhere: bool = False
    """Whether the other object may be in another namespace."""
    topic: str = "controller"
    beside: str = ""
    """The kind of a third object that is there too."""
    beside_has: Mapping[str, str] = {}
    """Conditions of that object, in which {word} is the text at the place."""
    apart: bool = False
    """Whether only objects of two known namespaces count."""
    above: str = ""
    """Places of amounts in the other object; the word has to be an amount above all of them, or above `default`."""
    default: str = ""
    all: bool = False
    """Whether all known objects of the kind have to contradict, and not only one."""
    among: Mapping[str, str] = {}
    """Conditions of the objects that `all` is about."""
    words: Sequence[str] = ()
    also: Sequence[Sequence[str]] = ()
    """As of `_Wrong`."""


def _beside_rows(kind: str) -> Sequence[_Beside]:
    return _made_rows(_Beside, "beside", kind) if kind in _rows_by_kind("beside") else ()


def _fits(row: _Beside, other: paths.Object, word: str = "", namespace: str = "") -> bool:
    """Whether another object meets the conditions of a row; those about the first object only if its word is given."""
    has, lacks = (
        [
            (place, pattern.replace("{word}", re.escape(word)).replace("{namespace}", re.escape(namespace)))
            for place, pattern in conditions.items()
            if word or ("{word}" not in pattern and "{namespace}" not in pattern)
        ]
        for conditions in (row.has, row.lacks)
    )
    return (
        _meets(other, has, all, about_object=True)
        and not _meets(other, lacks, any, about_object=True)
        and any(_meets(each, has, all) and not _meets(each, lacks, any) for each in values_at(other, row.part))
    )


def _possible(row: _Beside, of_kind: Mapping[str, paths.Object]) -> Sequence[paths.Object]:
    """The objects of a kind that meet the conditions of a row about all names; few, so that each name looks at few."""
    return [each for each in of_kind.values() if _fits(row, each)]


def _named(objects: Objects, group: str, kind: str, name: str, namespace: str) -> paths.Object | None:
    """The object of a name: that of the namespace, or the only one."""
    found = objects.find(Reference(group=group, kind=kind, name=name, namespace=namespace))
    if not isinstance(found, Absence):
        return found
    return objects.known(group, kind).get(name) if len(objects.namespaces(group, kind, name)) <= 1 else None


def _words_at(row: _Beside, named: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """The names in a value at the place of a row."""
    has_name = isinstance(named, dict) and ("name" in named or not row.pattern)
    text = str(named.get("name", "")) if has_name else str(named)
    found = re.finditer(row.pattern, text[:_LONGEST]) if row.pattern else ()
    yield from dict.fromkeys(each[each.lastindex or 0] for each in found) if row.pattern else (text,)


def _of_row(row: _Beside, value: paths.Object, objects: Objects) -> Found:
    for where, named in at(value, row.at):
        for word in _words_at(row, named):
            if found := next(_of_word(row, value, named, word, objects), None):
                message, remedy = (text.format(word=word[:100], other=found) for text in (row.text, row.remedy))
                yield misread(where, message, remedy, row.topic)
                return


def _of_word(row: _Beside, value: paths.Object, named: Any, word: str, objects: Objects) -> Iterator[str]:  # noqa: ANN401 - any JSON
    """The kind and the name of the other objects that contradict a word."""
    namespace = paths.text(paths.metadata(value).get("namespace"))
    group, _, kind = row.without.partition(" ")
    third, _, of_kind = row.beside.partition(" ")
    wanted = [(place, pattern.replace("{word}", re.escape(word))) for place, pattern in row.beside_has.items()]
    is_alone = bool(row.beside) and not any(
        _meets(each, wanted, all) for each in objects.known(third, of_kind).values()
    )
    names = objects.known(group, kind)
    rightly = bool(names) if row.any and not row.named else (row.named.replace("{word}", word) or word) in names
    if rightly or is_alone or not meets(named, row.entry) or meets_any(named, row.entry_lacks):
        return
    by = next(iter(texts_at(value, row.by)), "") if row.by else word
    for group, _, kind in (each.partition(" ") for each in row.others):
        possible = partial(_possible, row, objects.known(group, kind))
        candidates = (
            objects.once(f"{kind} of row {id(row)}", possible)
            if row.any
            else filter(None, [_named(objects, group, kind, by, namespace)])
        )
        contradicting = [each for each in candidates if _contradicts(row, value, each, word, namespace)]
        known = objects.known(group, kind).values() if row.all and contradicting else ()
        for other in contradicting if len(contradicting) >= sum(meets(each, row.among) for each in known) else ():
            name = f"{kind} {paths.text(paths.metadata(other).get('name'))[:100]}".rstrip()
            yield f"the chart {kind}" if group == "chart" else name


def _contradicts(row: _Beside, value: paths.Object, other: paths.Object, word: str, namespace: str) -> bool:
    home = paths.text(paths.metadata(other).get("namespace"))
    elsewhere = bool(home and namespace) and home != namespace and not row.anywhere
    is_near = row.apart and (not home or home == (namespace or home))
    is_itself = all(other.get(each) == value.get(each) for each in ("kind", "metadata"))
    if elsewhere or is_near or is_itself or not _fits(row, other, word, namespace):
        return False
    return not row.above or _is_above(row, other, word)


def _is_above(row: _Beside, other: paths.Object, word: str) -> bool:
    try:
        most = max(quantities.parse(each) for each in values_at(other, row.above) or [row.default])
        return quantities.parse(word) > most
    except errors.QuantityError:
        return False


def beside_others(value: paths.Object, key: tuple[str, str], objects: Objects) -> Found:
    """Values that another object of the files contradicts, by the rows `beside` of known_keys.yaml."""
    kind = " ".join(key)
    rows = objects.once(f"rows beside {kind}", lambda: [*_rows_with_others(kind, objects)])
    yield from _of_rows(rows, value, objects)
    yield from _pods_beside_others(value, objects)
    yield from inference_routes.beside_others(value, key, objects)
    yield from definition_limits.beside_webhooks(value, key, objects)
    if key[0] == _CONSTRAINTS:
        yield from _constraint_without_template(key[1], objects)
    if key[0] == "rbac.authorization.k8s.io":
        yield from _accounts_of_another_namespace(value, objects)


def _accounts_of_another_namespace(value: paths.Object, objects: Objects) -> Found:
    """ServiceAccounts to which a binding gives a role in another namespace than the one where the files have them."""
    home = paths.text(paths.metadata(value).get("namespace"))
    for where, each in at(value, "subjects[]"):
        subject = paths.mapping(each)
        name, named = paths.text(subject.get("name")), paths.text(subject.get("namespace"))
        homes = objects.namespaces("", "ServiceAccount", name) if subject.get("kind") == "ServiceAccount" else ()
        is_own = home in homes if home else len(homes) == 1
        if named and is_own and not {named, ""}.intersection(homes) and not is_placeholder(named):
            text = f"gives its role to the ServiceAccount {name[:60]} of {named[:60]}, and these files have it in "
            text += f"{homes[0][:60]}, so the pods there may not do what the role says"
            yield misread(f"{where}/namespace", text, f"write namespace: {homes[0][:60]}", "controller")


def _rows_with_others(kind: str, objects: Objects) -> Iterator[_Beside]:
    """The rows of a kind whose other objects are among the objects, or among those behind them."""
    for row in _beside_rows(kind):
        behind: Objects | None = objects
        while behind is not None:
            if any(behind.known(group, other) for group, _, other in (each.partition(" ") for each in row.others)):
                yield row
                break
            behind = behind.others


def _of_rows(rows: Sequence[_Beside], value: paths.Object, objects: Objects) -> Found:
    for row in _possible_rows(rows, value) if rows else ():
        if meets(value, row.only) and not meets_any(value, row.unless):
            yield from _of_row(row, value, objects)


def _pods_beside_others(value: paths.Object, objects: Objects) -> Found:
    """The rows of the kind `pods`, which see a pod template of any kind as a Pod in the namespace of its object."""
    rows = objects.once("rows beside pods", lambda: [*_rows_with_others("pods", objects)])
    namespace = paths.metadata(value).get("namespace")
    for template, metadata, path in _as_pods(value, pod_specs(value)) if rows else ():
        pod = {**template, "metadata": {**paths.metadata(template), "namespace": namespace}}
        yield from (replace(found, path=_place(found.path, metadata, path)) for found in _of_rows(rows, pod, objects))


_CONSTRAINTS: Final = "constraints.gatekeeper.sh"


def _constraint_without_template(kind: str, objects: Objects) -> Found:
    """A constraint of Gatekeeper whose kind no template makes; the API server does not know it and refuses it."""
    templates = objects.known("templates.gatekeeper.sh", "ConstraintTemplate").values()
    made = [text for each in templates for text in texts_at(each, "spec.crd.spec.names.kind")]
    definitions = objects.known("apiextensions.k8s.io", "CustomResourceDefinition")
    defined = [each for each in definitions if _CONSTRAINTS in each]
    if kind in made or f"{kind.lower()}.{_CONSTRAINTS}" in defined:
        return
    like = difflib.get_close_matches(kind[:80].lower(), [each.lower() for each in made], n=1, cutoff=_ALIKE)
    if like or defined:
        remedy = next((f"did you mean {each}?" for each in made if each.lower() in like), "add its ConstraintTemplate")
        text = f"is a constraint of the kind {kind[:80]}, which no known ConstraintTemplate makes, so it has no effect"
        yield misread("/kind", text, remedy, "controller")


_MOST_OF_METRICS: Final = 64 * 1024
_TYPES_OF_METRICS: Final = frozenset({"gauge", "counter", "histogram", "summary", "label"})


def metrics_of_dcgm(config_map: paths.Object) -> Found:
    """Lines with which dcgm-exporter does not start (NVIDIA/dcgm-exporter, its reader of counters)."""
    for key, text in known_keys.part_at(config_map, "/data").items():
        if (
            not isinstance(text, str)
            or not key.endswith((".csv", "metrics"))
            or "DCGM_FI_" not in text[:_MOST_OF_METRICS]
        ):
            continue
        for line in text[:_MOST_OF_METRICS].splitlines():
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            parts = [part.strip() for part in next(csv.reader([line], skipinitialspace=True), [])]
            if len(parts) != 3 or parts[1] not in _TYPES_OF_METRICS:
                wrong = "three fields" if len(parts) != 3 else f"a type of Prometheus; {parts[1][:40]} is not one"
                message = f"has the line {line.strip()[:60]!r} at {key}, where dcgm-exporter needs {wrong}, so it ends"
                remedy = "write FIELD, TYPE, HELP, with the help in quotes where it has commas"
                yield misread(paths.join("/data", key), message, remedy, "controller")
                break


NETWORKS: Final = "k8s.v1.cni.cncf.io/networks"

_JSON: Final = {
    "NetworkAttachmentDefinition": "spec.config",
    **dict.fromkeys(
        ("SriovNetwork", "SriovIBNetwork", "HostDeviceNetwork", "MacvlanNetwork", "IPoIBNetwork"), "spec.ipam"
    ),
    **dict.fromkeys(("NicClusterPolicy", "NicNodePolicy"), "spec.{rdmaSharedDevicePlugin,sriovDevicePlugin}.config"),
}
"""Texts of networks that are read as JSON, with which every pod on the network fails otherwise."""


def damaged_json(value: paths.Object) -> Found:
    written = list(texts_with_paths(value, _JSON.get(str(value.get("kind")), "kind.none")))
    for _, path, _ in pod_specs(value):
        metadata = f"{path.removesuffix('/spec')}/metadata/annotations"
        for key in (NETWORKS, "networking.gke.io/interfaces"):
            text = paths.text(known_keys.part_at(value, metadata).get(key))
            written += [(paths.join(metadata, key), text)] if text.lstrip().startswith("[") else []
    for where, text in written:
        try:
            if text.strip() and not is_placeholder(text):
                orjson.loads(text)
        except orjson.JSONDecodeError as error:
            message = f"has no valid JSON at {paths.readable(where)} ({str(error)[:60]}), so it makes no network"
            yield misread(where, message, "mend the JSON: each brace, comma and quote", "controller")
