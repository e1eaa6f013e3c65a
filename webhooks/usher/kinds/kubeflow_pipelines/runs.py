"""How often one run of a pipeline executes each of its components (kubeflow/pipelines, pipeline_spec.proto).

Components stand beside each other and refer to each other by name, so a small document may describe very many
executions. usher looks at every component once, after all components that call it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

import orjson

from usher import model, paths
from usher.dataclass import dataclass
from usher.reading.embedded import times
from usher.reading.templates import NOWHERE, ONE, Template
from usher.reading.values import MAX_PODS, Reading

Object = Mapping[str, paths.Json]

ROOT: Final = ""
"""The name of the component that is the pipeline itself."""

_ALWAYS: Final = "ALL_UPSTREAM_TASKS_COMPLETED"
_CONDITION: Final = model.Count(minimum=0, maximum=1, reason="a condition decides when it runs")
_NOT_COUNTED: Final = "it runs for each of items that are not known before"
_TOO_MANY: Final = "more than any cluster holds"


class _Call(NamedTuple):
    component: str
    executions: model.Count
    path: str
    """Path of the field that names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    path: str
    executor: str
    """The label of its executor; empty if the component only calls others."""
    passed_on: frozenset[str]
    """Settings that its pod does not get, because it hands them to a workload that it makes."""
    calls: tuple[_Call, ...]


def components(spec: Object, path: str, reading: Reading) -> dict[str, Component]:
    """The components of a PipelineSpec by name, with the root. Components that are not objects have no calls."""
    root_path, path = path + "/root", path + "/components"
    given = reading.mapping(spec.get("components"), path)
    found = {
        name: Component(path=paths.join(path, name), executor="", passed_on=frozenset(), calls=()) for name in given
    }
    for component_path, name, component in reading.entries(given, path):
        found[name] = _component(component, component_path, reading)
    root = _component(reading.mapping(spec.get("root"), root_path), root_path, reading)
    if "components" in spec and not isinstance(spec["components"], dict):
        # Then the called components cannot be found. That is recorded once, here.
        if spec["components"] is None and root.calls:
            reading.unknown(path, "the components are missing: their pods are not counted")
        root = replace(root, calls=())
    return {**found, ROOT: root}


def nearest(holder: Object, path: str, *keys: str) -> str:
    """The path to report if all of these fields are missing: a field that is null, or else the holder."""
    return next((paths.join(path, key) for key in keys if key in holder), path)


def counts(found: Mapping[str, Component], reading: Reading) -> dict[str, model.Count]:
    """How often each component runs; components that never run are left out."""
    order, around = _order(found, reading)
    result = {ROOT: ONE}
    for name in order:
        for call in found[name].calls:
            if call.component in found and (name, call.component) not in around:
                result[call.component] = _sum(result.get(call.component), _product(result[name], call.executions))
    return result


def _order(found: Mapping[str, Component], reading: Reading) -> tuple[list[str], frozenset[tuple[str, str]]]:
    """Components, callers first; and the calls by which a component would call itself, which are recorded."""
    finished: list[str] = []
    calling = {ROOT}
    around = set()
    stack: list[tuple[str, Iterator[_Call]]] = [(ROOT, iter(found[ROOT].calls))]
    seen = {ROOT}
    while stack:
        name, calls = stack[-1]
        call = next(calls, None)
        if call is None:
            finished.append(name)
            calling.discard(name)
            stack.pop()
        elif call.component not in found:
            reading.unknown(call.path, "no component of this name is there: its pods are not counted")
        elif call.component in calling:
            around.add((name, call.component))
            reading.unknown(call.path, "the component calls itself: its pods are not counted")
        elif call.component not in seen:
            seen.add(call.component)
            calling.add(call.component)
            stack.append((call.component, iter(found[call.component].calls)))
    return finished[::-1], frozenset(around)


def _component(component: Object, path: str, reading: Reading) -> Component:
    passed_on = set()
    for each_path, each in reading.items(component.get("taskConfigPassthroughs"), path + "/taskConfigPassthroughs"):
        setting = reading.text(each.get("field"), each_path + "/field")
        if not reading.flag(each.get("applyToTask"), each_path + "/applyToTask"):
            passed_on.add(setting)
    dag = reading.mapping(component.get("dag"), path + "/dag")
    if component and component.get("dag") is None and component.get("executorLabel") is None:
        reading.unknown(nearest(component, path, "dag", "executorLabel"), "a component has a dag or an executorLabel")
    return Component(
        path=path,
        executor=reading.text(component.get("executorLabel"), path + "/executorLabel"),
        passed_on=frozenset(passed_on),
        calls=tuple(_calls(dag, path + "/dag", reading)),
    )


def _calls(dag: Object, path: str, reading: Reading) -> Iterator[_Call]:
    tasks = {name: (task_path, task) for task_path, name, task in reading.entries(dag.get("tasks"), path + "/tasks")}
    skipped = _skipped(tasks, reading)
    for name, (task_path, task) in tasks.items():
        executions = _iterations(task, task_path, reading)
        reference_path = nearest(task, task_path, "componentRef")
        reference = reading.mapping(task.get("componentRef"), reference_path)
        name_path = nearest(reference, reference_path, "name")
        component = reading.text(reference.get("name"), name_path)
        if component:
            executions = _product(executions, _CONDITION) if name in skipped else executions
            yield _Call(component=component, executions=executions, path=name_path)
        elif reference.get("name") in (None, "") and isinstance(task.get("componentRef"), dict | None):
            reading.unknown(name_path, "the task names no component: its pods are not counted")


def _skipped(tasks: Mapping[str, tuple[str, Object]], reading: Reading) -> frozenset[str]:
    """Tasks that a run may skip: tasks with a condition, and tasks that need their success."""
    waiting: dict[str, list[str]] = {}
    skipped = []
    for name, (path, task) in tasks.items():
        policy = reading.mapping(task.get("triggerPolicy"), path + "/triggerPolicy")
        if reading.text(policy.get("condition"), path + "/triggerPolicy/condition"):
            skipped.append(name)
        needed = reading.texts(task.get("dependentTasks"), path + "/dependentTasks")
        if reading.text(policy.get("strategy"), path + "/triggerPolicy/strategy") != _ALWAYS:
            for other in needed:
                waiting.setdefault(other, []).append(name)
    found = set(skipped)
    while skipped:
        for name in waiting.get(skipped.pop(), ()):
            if name not in found:
                found.add(name)
                skipped.append(name)
    return frozenset(found)


def _iterations(task: Object, path: str, reading: Reading) -> model.Count:
    """How many executions of a task run at one time: one, or as many as a loop has items and allows at once.

    usher counts a list in the document. The length of an input is known only when the pipeline runs.
    """
    policy = reading.mapping(task.get("iteratorPolicy"), path + "/iteratorPolicy")
    limit = reading.count(
        policy.get("parallelismLimit"), path + "/iteratorPolicy/parallelismLimit", default=0, of="iterations"
    )
    by_artifact = reading.mapping(task.get("artifactIterator"), path + "/artifactIterator")
    by_parameter = reading.mapping(task.get("parameterIterator"), path + "/parameterIterator")
    items_path = path + "/parameterIterator/items"
    items = reading.mapping(by_parameter.get("items"), items_path)
    raw = reading.text(items.get("raw"), items_path + "/raw")
    if not by_artifact and not by_parameter:
        return ONE
    number = _length(raw, items_path + "/raw", reading) if raw else None
    if number is None:
        return model.Count(minimum=0, maximum=limit or None, reason=_NOT_COUNTED)
    at_one_time = min(number, limit or number)
    return model.Count(minimum=at_one_time, maximum=at_one_time)


def _length(text: str, path: str, reading: Reading) -> int | None:
    try:
        items = orjson.loads(text)
    except orjson.JSONDecodeError:
        items = None
    if not isinstance(items, list):
        reading.unknown(path, "expected a list as JSON")
        return None
    return len(items)


_NO_TEMPLATE: Final = Template(name="", path="", spec=NOWHERE)


def _product(one: model.Count, other: model.Count) -> model.Count:
    return _bounded(times(replace(_NO_TEMPLATE, count=one), other).count)


def _sum(one: model.Count | None, other: model.Count) -> model.Count:
    if one is None:
        return other
    maximum = None if one.maximum is None or other.maximum is None else one.maximum + other.maximum
    return _bounded(model.Count(minimum=one.minimum + other.minimum, maximum=maximum, reason=_reasons(one, other)))


def _reasons(*counted: model.Count) -> str:
    return "; ".join(dict.fromkeys(reason for count in counted for reason in count.reason.split("; ") if reason))


def _bounded(count: model.Count) -> model.Count:
    """The count with an upper limit, because numbers may double with every component."""
    minimum = min(count.minimum, MAX_PODS)
    if count.maximum is not None and count.maximum > MAX_PODS:
        count = model.Count(minimum=minimum, maximum=None, reason=f"{count.reason}; {_TOO_MANY}")
    return model.Count(minimum=minimum, maximum=count.maximum, reason=_reasons(count))
