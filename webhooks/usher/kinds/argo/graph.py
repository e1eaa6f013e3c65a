"""The templates that a workflow reaches from what it runs, through steps, tasks, hooks and references.

Sources: AR:workflow/templateresolution/context.go, AR:workflow/util/merge.go (JoinWorkflowSpec).
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from usher import paths
from usher.dataclass import dataclass
from usher.kinds.argo import calls as argo_calls
from usher.kinds.argo.calls import Call, is_parameter
from usher.kinds.argo.parameters import Parameters
from usher.reading import counts, layers
from usher.reading.counts import NEVER, Times, each, together, united
from usher.reading.lookup import Reference
from usher.reading.templates import Place
from usher.reading.values import MAX_PODS, Reading

Runs = Sequence[tuple[int, Times]]
"""The numbers of the templates that a template runs, each with how often it runs them."""

_RECURSION: Final = ("a template runs itself again, and nothing bounds how often",)


def of_graph(starts: Runs, runs: Sequence[Runs], skipped: Sequence[str]) -> list[Times]:
    """How often each template runs.

    Args:
        starts: the templates that the workflow itself runs.
        runs: the templates that each template runs, for one run of it.
        skipped: why a template may not run although it is called; empty for most.
    """
    asked: list[list[Times]] = [[] for _ in runs]
    for number, times in starts:
        asked[number].append(times)
    result = [NEVER] * len(runs)
    for group in reversed(list(_groups(runs))):
        members = set(group)
        recursive = len(group) > 1 or any(number in members for number, _ in runs[group[0]])
        reached = recursive and any(times.high != 0 for number in group for times in asked[number])
        for number in group:
            times = together(asked[number])
            if reached:
                times = Times(times.low, None, united(times.reasons, _RECURSION))
            if skipped[number]:
                times = times.perhaps(skipped[number])
            result[number] = times
            for other, inner in runs[number]:
                if other not in members:
                    asked[other].append(each(times, inner))
    return result


def _groups(runs: Sequence[Runs]) -> Iterator[list[int]]:
    """Groups of templates that run each other, after the groups that they run; most groups have one member.

    Tarjan's algorithm, without recursion: a chain of templates may be longer than Python's stack.
    """
    order: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_: list[int] = []
    is_open: set[int] = set()
    for root in range(len(runs)):
        if root in order:
            continue
        work = [(root, iter(runs[root]))]
        order[root] = lowest[root] = len(order)
        open_.append(root)
        is_open.add(root)
        while work:
            number, others = work[-1]
            for other, _ in others:
                if other not in order:
                    order[other] = lowest[other] = len(order)
                    open_.append(other)
                    is_open.add(other)
                    work.append((other, iter(runs[other])))
                    break
                if other in is_open:
                    lowest[number] = min(lowest[number], order[other])
            else:
                work.pop()
                if work:
                    caller = work[-1][0]
                    lowest[caller] = min(lowest[caller], lowest[number])
                if lowest[number] == order[number]:
                    group = [open_.pop()]
                    while group[-1] != number:
                        group.append(open_.pop())
                    is_open.difference_update(group)
                    yield group


GROUP: Final = "argoproj.io"

_MEMOIZE: Final = "`memoize` may take the result of an earlier run"
_PARALLELISM: Final = "no more at one time than the `parallelism` of the template that runs them"
_RUN_TIME: Final = "which template it is, is known only when the workflow runs: its pods are not judged"

NO_CALLER: Final = Place(None, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """An object with templates, which refer to each other by name."""

    templates: Mapping[str, Place]
    is_own: bool = True
    """Whether the object is the workflow itself."""
    pod_metadata: tuple[Place, ...] = ()


@dataclass(slots=True, kw_only=True)
class Node:
    """A template that the workflow reaches."""

    name: str
    template: Place
    holder: Holder
    runs: Runs = ()
    skipped: str = ""
    callers: dict[str, Place] = field(default_factory=dict)
    """The templates that run it, by their paths."""

    @property
    def value(self) -> Mapping[str, paths.Json]:
        return self.template.value if isinstance(self.template.value, dict) else {}


def named(lists: Iterable[Place], reading: Reading) -> dict[str, Place]:
    """Templates by name. Templates without a name, and all but the first of one name, are found by path."""
    found: dict[str, Place] = {}
    for place in lists:
        for path, template in reading.items(*place):
            name = reading.text(template.get("name"), path + "/name")
            found[path if not name or name in found else name] = Place(template, path)
    return found


def reference(place: Place, reading: Reading) -> Reference | None:
    """The object that a `workflowTemplateRef` or a `templateRef` names; None where the name is not known."""
    value, path = reading.mapping(*place), place.path
    name = reading.text(value.get("name"), path + "/name")
    cluster = reading.flag(value.get("clusterScope"), path + "/clusterScope")
    if is_parameter(name):
        reading.unknown(path + "/name", _RUN_TIME)
    if not name or is_parameter(name):
        return None
    kind, namespace = ("ClusterWorkflowTemplate", "") if cluster else ("WorkflowTemplate", reading.context.namespace)
    return Reference(group=GROUP, kind=kind, name=name, namespace=namespace)


def spec_of(wanted: Reference, path: str, reading: Reading) -> Place | None:
    """The spec of a referenced object, with paths below the path of the name that refers to it."""
    found = reading.look_up(wanted, path, consequence="the pods of its templates are not judged")
    if found is None:
        return None
    reading.record_reference(path, wanted)
    return Place(found.get("spec"), path + "/spec")


class Graph:
    """Finds templates, each of them once, however many steps run it."""

    def __init__(self, own: Holder, defaults: tuple[Place, ...], parameters: Parameters, reading: Reading) -> None:
        """Finds the templates of one workflow.

        Args:
            own: the templates of the workflow itself.
            defaults: the `templateDefaults` of the workflow.
            parameters: the known parameters of the workflow.
            reading: looks up the referenced objects.
        """
        self.nodes: list[Node] = []
        self.own = own
        self._defaults = defaults
        self._parameters = parameters
        self._reading = reading
        self._numbers: dict[str, int] = {}
        self._holders: dict[Reference, Holder | None] = {}
        self._unread: deque[int] = deque()

    def start(self, calls: Iterable[Call]) -> Runs:
        """The runs that the workflow itself starts; every call is followed to its end."""
        runs = self._runs(calls, self.own, NO_CALLER)
        self._follow()
        return runs

    def include(self, template: Place, name: str) -> None:
        """Follows a template of the workflow itself, even if the workflow never runs it."""
        self._node(template, name, self.own)
        self._follow()

    def _follow(self) -> None:
        while self._unread:
            node = self.nodes[self._unread.popleft()]
            calls = argo_calls.of_template(node.value, node.template.path, self._reading, self._parameters)
            node.runs = self._capped(self._runs(calls, node.holder, node.template), node)

    def _runs(self, calls: Iterable[Call], holder: Holder, caller: Place) -> Runs:
        times: dict[int, list[Times]] = {}
        for call in calls:
            number = self._resolved(call, holder)
            if number is not None:
                self.nodes[number].callers[caller.path] = caller
                times.setdefault(number, []).append(call.times)
        return [(number, counts.together(found)) for number, found in times.items()]

    def _capped(self, runs: Runs, node: Node) -> Runs:
        """The runs as far as the template's own `parallelism` allows; runs that these runs start are not counted."""
        place = layers.nearest(layers.field((node.template, *self._defaults), "parallelism"))
        if place.value is None or not runs:
            return runs
        limit = self._reading.count(place.value, place.path, default=MAX_PODS)
        capped = counts.capped([times for _, times in runs], limit, _PARALLELISM)
        return [(number, times) for (number, _), times in zip(runs, capped, strict=True)]

    def _node(self, template: Place, name: str, holder: Holder) -> int:
        number = self._numbers.get(template.path)
        if number is None:
            number = self._numbers[template.path] = len(self.nodes)
            memoize = layers.nearest(layers.field((template, *self._defaults), "memoize"))
            skipped = _MEMOIZE if self._reading.mapping(*memoize) else ""
            self.nodes.append(Node(name=name, template=template, holder=holder, skipped=skipped))
            self._unread.append(number)
        return number

    def _resolved(self, call: Call, holder: Holder) -> int | None:
        """The number of the template that a call runs; None if it is unknown, or if Argo would refuse the call."""
        if call.inline.value is not None:
            template = self._reading.mapping(*call.inline)
            return self._node(Place(template, call.inline.path), call.name, holder) if template else None
        if call.reference.value is not None:
            return self._of_reference(call.reference)
        name = self._reading.text(*call.template)
        if is_parameter(name):
            self._reading.unknown(call.template.path, _RUN_TIME)
        found = holder.templates.get(name) if name else None
        return None if found is None else self._node(found, name, holder)

    def _of_reference(self, place: Place) -> int | None:
        wanted = reference(place, self._reading)
        name_path = place.path + "/template"
        name = self._reading.text(self._reading.mapping(*place).get("template"), name_path)
        if wanted is None or not name:
            return None
        if wanted not in self._holders:
            self._holders[wanted] = self._read(wanted, place.path + "/name")
        holder = self._holders[wanted]
        if holder is None:
            return None
        if name not in holder.templates:
            missing = f"{wanted} has no template with this name; usher does not judge its pods"
            self._reading.unknown(name_path, _RUN_TIME if is_parameter(name) else missing)
            return None
        return self._node(holder.templates[name], name, holder)

    def _read(self, wanted: Reference, path: str) -> Holder | None:
        """An object with templates, whose paths lead below the first reference to the object."""
        spec = spec_of(wanted, path, self._reading)
        if spec is None:
            return None
        self._reading.mapping(*spec)
        templates = named(layers.field((spec,), "templates"), self._reading)
        return Holder(templates=templates, is_own=False, pod_metadata=layers.field((spec,), "podMetadata"))
