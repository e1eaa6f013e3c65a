"""The changes that a run suggests: mutations, and remedies that follow from the object alone, as small steps.

A remedy is safe if it leaves no choice: only one change is possible, or only one keeps what the pods get at run time.
`rounds` still judges the object with each remedy, and leaves out a remedy that keeps its finding or makes usher deny
something else.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum, StrEnum, auto
from typing import Final

import orjson
from msgspec import Struct
from msgspec.structs import replace

from usher import model, paths
from usher.accelerators import names as accelerators_names
from usher.accelerators.names import Unit
from usher.check import findings
from usher.policy.mutation import editing

_LONGEST: Final = 64


def names_of_devices() -> frozenset[str]:
    """The names of whole devices that usher knows. Names of shares and memory differ from these by too little."""
    return frozenset(
        known.name
        for vendor in accelerators_names.VENDORS.values()
        for known in vendor
        if known.name and known.unit is Unit.DEVICE
    )


def meant_name(name: str, names: Collection[str]) -> str:
    """The one known name that differs in case or in one letter; empty if there are several or no match."""
    if len(name) > _LONGEST:
        return ""
    given = name.casefold()
    same = [known for known in names if known.casefold() == given]
    close = same or [known for known in names if _is_close(given, known.casefold())]
    return close[0] if len(close) == 1 else ""


def _is_close(one: str, other: str) -> bool:
    """Whether one letter is wrong, missing, too many, or swapped with its neighbour."""
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    if len(longer) > len(shorter):
        return shorter in _without_one(longer)
    different = [index for index, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(different) == 2:
        first, second = different
        return second == first + 1 and one[first] == other[second] and one[second] == other[first]
    return len(different) == 1


def _without_one(text: str) -> Iterator[str]:
    return (text[:index] + text[index + 1 :] for index in range(len(text)))


class Action(Enum):
    SET = auto()
    """Sets a field, and makes missing mappings above it."""
    APPEND = auto()
    """Adds an item to a list, and makes a missing list and missing mappings above it."""
    REMOVE = auto()
    """Removes a field or an item."""
    PRUNE = auto()
    """Removes it, and also the mapping or list that held it if that becomes empty."""


_MAKING: Final = (Action.SET, Action.APPEND)


class Step(Struct, frozen=True, kw_only=True):
    action: Action
    pointer: str
    """The place; for an appended item, the place of its list."""
    value: paths.Json = None


def steps_of_operation(operation: editing.Operation) -> tuple[Step, ...]:
    """The steps of an RFC 6902 operation of a mutation.

    The first of several operations includes the missing mappings above its value. A step only has the value itself, so
    it works without the other operations.
    """
    pointer = operation["path"]
    if operation["op"] == "remove":
        return (Step(action=Action.REMOVE, pointer=pointer),)
    if pointer.endswith("/-"):
        return (Step(action=Action.APPEND, pointer=pointer.removesuffix("/-"), value=operation.get("value")),)
    return tuple(_setting(pointer, operation.get("value")))


def _setting(pointer: str, value: paths.Json) -> Iterator[Step]:
    if isinstance(value, dict) and value:
        for key, each in value.items():
            yield from _setting(paths.join(pointer, key), each)
    elif isinstance(value, list) and value:
        for each in value:
            yield Step(action=Action.APPEND, pointer=pointer, value=each)
    else:
        yield Step(action=Action.SET, pointer=pointer, value=value)


def apply_steps(value: paths.Object, steps: Iterable[Step]) -> tuple[paths.Object, tuple[str, ...]]:
    """A copy of the object after the steps, and the pointer that each one changed.

    Raises:
        LookupError: a step does not fit the object.
    """
    copy = editing.copied(value)
    return copy, tuple(_apply_step(copy, step) for step in steps)


def pointers_overlap(one: str, other: str) -> bool:
    """Whether one of two pointers leads to the other, or both to the same place."""
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")


def _apply_step(value: paths.Object, step: Step) -> str:
    parent = _parent(value, step)
    last = paths.split(step.pointer)[-1]
    if isinstance(parent, list):
        paths.resolve(parent, paths.join(paths.ROOT, last))
    if step.action is Action.APPEND:
        if isinstance(parent, dict) and parent.get(last) is None:
            parent[last] = []
        found = paths.resolve(parent, paths.join(paths.ROOT, last))
        if not isinstance(found, list):
            raise LookupError(step.pointer)
        found.append(editing.copied(step.value))
        return paths.join(step.pointer, len(found) - 1)
    if step.action is Action.SET:
        if isinstance(parent, dict):
            parent[last] = editing.copied(step.value)
        else:
            parent[int(last)] = editing.copied(step.value)
        return step.pointer
    if isinstance(parent, dict):
        del parent[last]
    else:
        del parent[int(last)]
    above = step.pointer.rpartition("/")[0]
    if step.action is Action.PRUNE and not parent and above:
        return _apply_step(value, Step(action=Action.REMOVE, pointer=above))
    return step.pointer


def _parent(value: paths.Object, step: Step) -> paths.Object | list[paths.Json]:
    found: paths.Json = value
    for key in paths.split(step.pointer)[:-1]:
        if isinstance(found, dict) and step.action in _MAKING and found.get(key) is None:
            found[key] = {}
        found = paths.resolve(found, paths.join(paths.ROOT, key))
    if not isinstance(found, dict | list):
        raise LookupError(step.pointer)
    return found


def spelt_like_limits(step: Step, before: paths.Object) -> Step:
    """The step with the amount of a request spelt like its limit: 8 if the limit is 8, and not "8"."""
    keys = paths.split(step.pointer)
    if keys[-2:-1] != ["requests"] or step.action is not Action.SET:
        return step
    try:
        limit = paths.resolve(before, paths.join(paths.ROOT, *keys[:-2], "limits", keys[-1]))
    except LookupError:
        return step
    alike = isinstance(limit, int) and not isinstance(limit, bool) and str(limit) == step.value
    return replace(step, value=limit) if alike else step


_QUEUE: Final = "kueue.x-k8s.io/queue-name"
_GROUP: Final = "scheduling.k8s.io/group-name"
_RESOURCES: Final = ("limits", "requests")
_MAPS_OF_KEYS: Final = ("/labels", "/annotations", "/nodeSelector", "/matchLabels", "/nodeLabels", "/hard", "/capacity")
_WRITE_NAME: Final = re.compile(r"write (\S+)")
_WRITE_AMOUNT: Final = re.compile(r"write (\S+): \S+")
_REMOVE: Final = re.compile(r"remove (\w+)(?:;.*)?")
_RENAME: Final = re.compile(r"rename it to (\w+)")
_INSTEAD: Final = re.compile(r"write (\w+) instead")
_DID_YOU_MEAN: Final = re.compile(r"did you mean (\S+)\?")
_WRITE_VALUE: Final = re.compile(r"write (\S+)")
_RAY_LABEL: Final = re.compile(r"set the label (\S+) of the \w+")


class Case(Struct, frozen=True, kw_only=True):
    """A finding and the object as its author wrote it."""

    finding: model.Finding
    value: paths.Object
    names: Collection[str]
    """The resource names of accelerators that nodes may offer."""

    @property
    def path(self) -> str:
        return self.finding.path

    @property
    def parent(self) -> str:
        return self.path.rpartition("/")[0]

    @property
    def key(self) -> str:
        return paths.split(self.path)[-1]

    def get(self, pointer: str) -> paths.Json:
        try:
            return paths.resolve(self.value, pointer)
        except (LookupError, ValueError):
            return None


Remedy = Callable[[Case], tuple[Step, ...]]
"""The steps of the remedy; empty if the finding leaves a choice."""


def remedy_steps(case: Case) -> tuple[Step, ...]:
    """The steps that remove a finding; empty without a safe remedy."""
    remedy = REMEDIES.get(case.finding.check)
    if remedy is None:
        return ()
    return remedy(case)


def _equal_amounts(case: Case) -> tuple[Step, ...]:
    """The request set to the limit, because Kubernetes counts the limit of a device. It adds a missing limit."""
    resources, _, kind = case.parent.rpartition("/")
    if kind not in _RESOURCES:
        return ()
    limit, request = (case.get(paths.join(resources, each, case.key)) for each in _RESOURCES)
    if limit is not None:
        return (_set(paths.join(resources, "requests", case.key), limit),)
    return (_set(paths.join(resources, "limits", case.key), request),) if request is not None else ()


def _right_profile(case: Case) -> tuple[Step, ...]:
    written = _WRITE_NAME.fullmatch(case.finding.remedy)
    return _resource_renamed(case, written[1]) if written else ()


def _right_name(case: Case) -> tuple[Step, ...]:
    meant = meant_name(case.key, case.names)
    return _resource_renamed(case, meant) if meant else ()


def _resource_renamed(case: Case, name: str) -> tuple[Step, ...]:
    resources, _, kind = case.parent.rpartition("/")
    if kind not in _RESOURCES:
        return ()
    return tuple(step for each in _RESOURCES for step in _renamed(case, paths.join(resources, each, case.key), name))


def _variable_to_warn(case: Case) -> tuple[Step, ...]:
    variable = case.get(case.path)
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return ()
    return (_set(paths.join(case.path, "value"), "WARN"),)


def _variable_removed(case: Case) -> tuple[Step, ...]:
    """The removal of an entry that sets a value itself, if the operator or the device plugin sets the variable."""
    variable, written = case.get(case.path), _REMOVE.fullmatch(case.finding.remedy)
    if not isinstance(variable, dict) or not isinstance(variable.get("value"), str):
        return ()
    if written is None or variable.get("name") != written[1]:
        return ()
    return (_prune(case.path),)


def _same_variable_removed(case: Case) -> tuple[Step, ...]:
    """The removal of the earlier entry, if the last one is equal: the container gets the same as before."""
    variable, entries = case.get(case.path), case.get(case.parent)
    if not isinstance(variable, dict) or not isinstance(entries, list):
        return ()
    same = [each for each in entries if isinstance(each, dict) and each.get("name") == variable.get("name")]
    return (_remove(case.path),) if all(each == variable for each in same) else ()


def _label_from_annotation(case: Case) -> tuple[Step, ...]:
    if case.parent != "/metadata/annotations" or case.finding.remedy != "move it to metadata.labels":
        return ()
    return _moved(case, paths.join("/metadata/labels", _QUEUE))


def _label_from_template(case: Case) -> tuple[Step, ...]:
    """The label with the queue, if all templates name the same queue."""
    if case.finding.remedy != "move the label to metadata.labels" or len(set(_queues(case.value))) != 1:
        return ()
    return (_set(paths.join("/metadata/labels", _QUEUE), case.get(case.path)), _prune(case.path))


def _queues(value: paths.Json) -> Iterator[str]:
    if isinstance(value, dict):
        found = value.get(_QUEUE)
        if isinstance(found, str):
            yield found
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _queues(each)


def _cluster_shut_down(_case: Case) -> tuple[Step, ...]:
    return (_set("/spec/shutdownAfterJobFinishes", True),)


def _tolerating_all_values(case: Case) -> tuple[Step, ...]:
    return (_set(paths.join(case.path, "operator"), "Exists"),) if isinstance(case.get(case.path), dict) else ()


def _field_renamed(case: Case) -> tuple[Step, ...]:
    written = _RENAME.fullmatch(case.finding.remedy) or _INSTEAD.fullmatch(case.finding.remedy)
    return _renamed(case, case.path, written[1]) if written else ()


def _key_as_meant(case: Case) -> tuple[Step, ...]:
    """The key renamed, or the text written, if what was meant has its place beside it."""
    if (written := _WRITE_VALUE.fullmatch(case.finding.remedy)) and isinstance(case.get(case.path), str):
        return (_set(case.path, written[1]),)
    meant, value = _DID_YOU_MEAN.fullmatch(case.finding.remedy), case.get(case.path)
    if meant and isinstance(value, str) and f" {case.key}: {value}" in case.finding.message:
        return (_set(case.path, meant[1]),)
    is_key = meant is not None and (case.parent.endswith(_MAPS_OF_KEYS) or meant[1].isalnum())
    return _renamed(case, case.path, meant[1]) if meant and is_key else ()


def _value_as_meant(case: Case) -> tuple[Step, ...]:
    """The text that was meant, or the same value in the type of its field."""
    if meant := _DID_YOU_MEAN.fullmatch(case.finding.remedy):
        return (_set(case.path, meant[1]),)
    written = _WRITE_VALUE.fullmatch(case.finding.remedy)
    value = _as_written(written[1]) if written else ""
    return (_set(case.path, value),) if written and value != written[1] else ()


_SAID: Final = re.compile(r"(?:did you mean|write|ask(?: port)?|name the port) (\S+?)\??(?:, which .*)?")
_SET_FIELD: Final = re.compile(r"set ([\w.]+)(?: to |: )(\w+)(?:, the .*)?")
_REMOVE_SAID: Final = re.compile(r"remove (it|[\w-]+)(?:, (?!or\b|and what).*)?")
_RENAME_SAID: Final = re.compile(r"rename (\w+) to (\w+)")
_FLAG: Final = re.compile(r"--[\w-]+")


def _as_said(case: Case) -> tuple[Step, ...]:
    """The edit that a remedy says in one way: a word or a key written rightly, a field set, or an entry removed."""
    remedy, value = case.finding.remedy, case.get(case.path)
    if case.path == "/apiVersion":  # other fields of the object may belong to the old version
        return ()
    if (renamed := _RENAME_SAID.fullmatch(remedy)) and isinstance(value, dict):
        return _renamed(case, paths.join(case.path, renamed[1]), renamed[2])
    if match := _SAID.fullmatch(remedy):
        return _written_rightly(case, match[1], value)
    if (field := _SET_FIELD.fullmatch(remedy)) and " or " not in remedy:
        name, wanted = field[1].rpartition(".")[2], _as_written(field[2])
        place = case.path if case.key == name else paths.join(case.path, name) if isinstance(value, dict) else ""
        return (_set(place, wanted),) if place else ()
    removed = _REMOVE_SAID.fullmatch(remedy)
    if removed is None or removed[1] not in ("it", case.key) or case.path.startswith("/data/"):
        return ()
    entry = case.get(case.parent)
    if case.key == "name" and isinstance(entry, dict) and case.parent.split("/")[-2:-1] == ["env"]:
        return (_prune(case.parent),)
    if isinstance(entry, list):
        following = entry[int(case.key) + 1 : int(case.key) + 2]
        alone = isinstance(value, str) and _FLAG.fullmatch(value) and str(following or "['--").startswith("['--")
        return (_remove(case.path),) if alone else ()
    return (_prune(case.path),) if _says(case, case.key) and not isinstance(value, dict | list) else ()


def _written_rightly(case: Case, right: str, value: paths.Json) -> tuple[Step, ...]:
    if isinstance(value, int) and not isinstance(value, bool):
        return (_set(case.path, int(right)),) if right.isdecimal() else ()
    if not isinstance(value, str):
        return _renamed(case, case.path, right) if _says(case, case.key) else ()
    if right.startswith("$("):
        name = re.escape(right[2:-1])
        return (_set(case.path, re.sub(rf"\$\{{{name}\}}|\${name}\b", right, value)),)
    if _FLAG.fullmatch(right) and _FLAG.match(value) and " " not in value:
        return (_set(case.path, _FLAG.sub(right, value, count=1)),)
    if _says(case, value):
        return (_set(case.path, right),)
    if _says(case, case.key) and case.parent.endswith(_MAPS_OF_KEYS):
        return _renamed(case, case.path, right)
    words = [each for each in re.findall(r"[\w.:/-]{4,}", case.finding.message) if value.count(each) == 1]
    if like := difflib.get_close_matches(right, words, 1, 0.8):
        return (_set(case.path, value.replace(like[0], right)),)
    return _resource_renamed(case, right) if _says(case, case.key) else ()


def _says(case: Case, word: str) -> bool:
    """Whether the message of a finding has a word."""
    message = case.finding.message
    return len(word) > 1 and re.search(rf"(?<![\w./-]){re.escape(word)}(?![\w/-])", message) is not None


def _as_written(text: str) -> paths.Json:
    try:
        found: paths.Json = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return found


def _group_of_keda(_case: Case) -> tuple[Step, ...]:
    return (_set("/apiVersion", "keda.sh/v1alpha1"),)


def _value_at_the_top(case: Case) -> tuple[Step, ...]:
    return _moved(case, "/value") if case.get("/value") is None else ()


def _counted_amount(case: Case) -> tuple[Step, ...]:
    if case.finding.remedy.startswith("remove it; only "):
        return (_prune(case.path),)
    written = _WRITE_AMOUNT.fullmatch(case.finding.remedy)
    return _renamed(case, case.path, written[1]) if written else ()


def _unknown_field_removed(case: Case) -> tuple[Step, ...]:
    written = _REMOVE.fullmatch(case.finding.remedy)
    return (_prune(case.path),) if written and written[1] == case.key else ()


def _group_of_target(case: Case) -> tuple[Step, ...]:
    if case.finding.remedy != "set apiVersion of the target: apps/v1":
        return ()
    target = case.path if isinstance(case.get(case.path), dict) else case.parent
    return (_set(paths.join(target, "apiVersion"), "apps/v1"),)


def _queue_of_job(case: Case) -> tuple[Step, ...]:
    return _moved(case, "/spec/runPolicy/schedulingPolicy/queue")


def _label_of_ray(case: Case) -> tuple[Step, ...]:
    written = _RAY_LABEL.fullmatch(case.finding.remedy)
    return _moved(case, paths.join("/metadata/labels", written[1])) if written else ()


def _group_renamed(case: Case) -> tuple[Step, ...]:
    return _renamed(case, case.path, _GROUP)


REMEDIES: Final[Mapping[str, Remedy]] = {
    "cost/ray_job_keeps_its_gpus": _cluster_shut_down,
    "resources/gpu_requests_equal_limits": _equal_amounts,
    "resources/misspelt_accelerator_name": _right_name,
    "resources/unknown_accelerator_name": _right_name,
    "fabric/device_requests_equal_limits": _equal_amounts,
    "fabric/nccl_debug_left_on": _variable_to_warn,
    "fabric/variable_of_the_operator": _variable_removed,
    "fabric/variable_twice": _same_variable_removed,
    "isolation/visible_devices_set_by_hand": _variable_removed,
    "mig/profile_misspelt": _right_profile,
    "placement/tekton_resources_of_another_version": _field_renamed,
    "placement/toleration_without_operator": _tolerating_all_values,
    "queueing/queue_label_on_pod_template": _label_from_template,
    "queueing/queue_name_as_annotation": _label_from_annotation,
    "queueing/ray_job_keeps_its_cluster": _cluster_shut_down,
    "gang/group_name_that_nobody_reads": _group_renamed,
    "gang/kubeflow_queue_in_the_wrong_place": _queue_of_job,
    "gang/ray_keys_that_nobody_reads": _label_of_ray,
    "objects/cluster_queue_field_of_another_version": _field_renamed,
    "objects/controller_cannot_use": _as_said,
    "objects/deciding_key_unread": _key_as_meant,
    "objects/keda_group_misspelt": _group_of_keda,
    "objects/key_unread": _key_as_meant,
    "objects/metric_not_exported": _as_said,
    "objects/object_not_in_files": _as_said,
    "objects/probe_without_an_answer": _as_said,
    "objects/program_cannot_use": _as_said,
    "objects/quota_on_limits_of_accelerators": _counted_amount,
    "objects/quota_without_requests_prefix": _counted_amount,
    "objects/scale_target_without_group": _group_of_target,
    "objects/value_refused": _value_as_meant,
    "objects/variable_unread": _as_said,
    "objects/volcano_queue_unknown_fields": _unknown_field_removed,
    "objects/workload_priority_value_misplaced": _value_at_the_top,
}


def _set(pointer: str, value: paths.Json) -> Step:
    return Step(action=Action.SET, pointer=pointer, value=value)


def _remove(pointer: str) -> Step:
    return Step(action=Action.REMOVE, pointer=pointer)


def _prune(pointer: str) -> Step:
    return Step(action=Action.PRUNE, pointer=pointer)


def _renamed(case: Case, pointer: str, name: str) -> tuple[Step, ...]:
    value, target = case.get(pointer), paths.join(pointer.rpartition("/")[0], name)
    if value is None or case.get(target) is not None:
        return ()
    return (_remove(pointer), _set(target, value))


def _moved(case: Case, target: str) -> tuple[Step, ...]:
    value = case.get(case.path)
    if value is None or case.get(target) not in {None, ""}:
        return ()
    return (_prune(case.path), _set(target, value))


class WishSource(StrEnum):
    MUTATIONS = "mutations"
    REMEDIES = "remedies"


class Choice(Struct, frozen=True, kw_only=True):
    """The changes that the user wants."""

    sources: Collection[WishSource] = tuple(WishSource)
    keys: Collection[str] = ()
    """Keys of checks and mutations; empty for all."""
    names: Collection[str] = ()
    """The resource names of accelerators that nodes may offer."""

    def takes(self, source: WishSource, key: str) -> bool:
        return source in self.sources and (not self.keys or key in self.keys)


class Wish(Struct, frozen=True, kw_only=True):
    """A change of one object with its reason. usher writes it completely or not at all."""

    key: str
    """`category/name` of the mutation or check."""
    identity: tuple[str, ...]
    """Distinguishes it from the other wishes for the object, also in the next run."""
    steps: tuple[Step, ...]
    intent: model.Intent | None = None
    change: findings.Change | None = None
    """The change, with the names that messages give to the places of the intent."""
    judgement: model.Judgement | None = None

    @property
    def source(self) -> WishSource:
        return WishSource.MUTATIONS if self.intent is not None else WishSource.REMEDIES


def wishes_of_result(result: findings.Result, choice: Choice) -> Iterator[Wish]:
    """The wishes for one object: first the mutations in their order, then the remedies."""
    if result.change is None:
        return
    yield from _mutation_wishes(result.change, choice)
    suggested = [
        wish
        for each in result.findings
        if not each.added and (wish := _remedy_wish(each.judgement, result.change, choice)) is not None
    ]
    # Later list items go first, so that the places of the others stay right.
    yield from sorted(suggested, key=_from_the_end)


def _mutation_wishes(change: findings.Change, choice: Choice) -> Iterator[Wish]:
    merged = change.merged
    start = 0
    for intent, end in zip(merged.applied, merged.ends, strict=True):
        operations = merged.operations[start:end]
        start = end
        # The webhook does not mention silent mutations either: they change nearly every pod.
        wanted = intent.mutation not in change.silent or intent.mutation in choice.keys
        if wanted and choice.takes(WishSource.MUTATIONS, intent.mutation):
            yield Wish(
                key=intent.mutation,
                identity=(intent.mutation, intent.at, intent.field, orjson.dumps(intent.value).decode()),
                steps=tuple(
                    spelt_like_limits(step, change.before)
                    for operation in operations
                    for step in steps_of_operation(operation)
                ),
                intent=intent,
                change=change,
            )


def _remedy_wish(judgement: model.Judgement, change: findings.Change, choice: Choice) -> Wish | None:
    finding = judgement.finding
    if not choice.takes(WishSource.REMEDIES, finding.check):
        return None
    case = Case(finding=finding, value=change.before, names=choice.names)
    found = remedy_steps(case)
    if not found:
        return None
    return Wish(key=finding.check, identity=(finding.check, finding.path), steps=found, judgement=judgement)


def _from_the_end(wish: Wish) -> list[tuple[int, str]]:
    keys = paths.split(wish.identity[1])
    return [(-int(key), "") if key.isdecimal() and len(key) < 10 else (0, key) for key in keys]
