"""Workloads for programs: one document of the shape in `usher.reports.workload_shapes`."""

from collections.abc import Iterable
from typing import Final, TextIO

import orjson

from usher import model, paths
from usher.accelerators.vocabulary import Vocabulary
from usher.reports import amounts, workload_shapes
from usher.reports.json import API_VERSION, MAX_INTEGER
from usher.scan.shown_workloads import Scaler, Shown

KIND: Final = "WorkloadList"


def write(shown: Iterable[Shown], stream: TextIO, /, *, vocabulary: Vocabulary) -> None:
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    stream.write(orjson.dumps(document(shown, vocabulary=vocabulary), option=options).decode())


def document(shown: Iterable[Shown], *, vocabulary: Vocabulary) -> workload_shapes.Document:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "workloads": [_workload(each, vocabulary) for each in shown],
    }


def _workload(shown: Shown, vocabulary: Vocabulary) -> workload_shapes.Workload:
    workload = shown.workload
    entry: workload_shapes.Workload = {
        "source": shown.source,
        "apiVersion": _api_version(workload.group, workload.version),
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "role": workload.role.value,
        "template": workload.is_template,
        "suspended": workload.suspended,
        "deleting": workload.deleting,
        "gang": _gang(workload.gang),
        "pods": _pods(workload.pods),
        "totals": [_total(total, vocabulary) for total in workload.totals],
        "scaledBy": [_scaler(scaler) for scaler in shown.scalers],
        "podSets": [_pod_set(pod_set, vocabulary) for pod_set in workload.pod_sets],
        "unknowns": [_unknown(unknown) for unknown in workload.unknowns],
        "input": orjson.loads(shown.input),
    }
    if shown.line:
        entry["line"] = shown.line
    if workload.owner is not None:
        owner = workload.owner
        entry["owner"] = {"group": owner.group, "kind": owner.kind, "name": owner.name}
    return entry


def _gang(gang: model.Gang) -> workload_shapes.Gang:
    entry: workload_shapes.Gang = {"wanted": gang.wanted}
    if gang.formed_by:
        entry["formedBy"] = gang.formed_by
    if gang.minimum is not None:
        entry["minimum"] = gang.minimum
    return entry


def _pods(count: model.Count) -> workload_shapes.Pods:
    entry: workload_shapes.Pods = {"minimum": min(count.minimum, MAX_INTEGER)}
    if count.maximum is not None:
        entry["maximum"] = min(count.maximum, MAX_INTEGER)
    if count.reason:
        entry["reason"] = count.reason
    return entry


def _total(total: model.Total, vocabulary: Vocabulary) -> workload_shapes.Total:
    entry: workload_shapes.Total = {
        "name": total.name,
        "route": total.route.value,
        "minimum": amounts.exact(total.minimum),
    }
    unit = amounts.unit(total.name, vocabulary)
    if unit:
        entry["unit"] = unit
    if total.maximum is not None:
        entry["maximum"] = amounts.exact(total.maximum)
    if total.reason:
        entry["reason"] = total.reason
    return entry


def _request(request: model.AcceleratorRequest, vocabulary: Vocabulary) -> workload_shapes.Request:
    entry: workload_shapes.Request = {
        "name": request.name,
        "route": request.route.value,
        "path": request.path,
        "minimum": amounts.exact(request.minimum),
    }
    unit = amounts.unit(request.name, vocabulary)
    if unit:
        entry["unit"] = unit
    if request.maximum is not None:
        entry["maximum"] = amounts.exact(request.maximum)
    if request.reason:
        entry["reason"] = request.reason
    if request.claim:
        entry["claim"] = request.claim
    return entry


def _pod_set(pod_set: model.PodSet, vocabulary: Vocabulary) -> workload_shapes.PodSet:
    return {
        "name": pod_set.name,
        "path": pod_set.path,
        "pods": _pods(pod_set.count),
        "requests": [_request(request, vocabulary) for request in pod_set.requests],
        "scheduler": _scheduler(pod_set.scheduler),
        "schedulingGates": list(pod_set.scheduling_gates),
        "containers": [_container(container) for container in pod_set.containers],
        "operatorEnvironment": sorted(pod_set.operator_environment),
        "changeable": pod_set.changeable,
    }


def _scheduler(scheduler: model.Scheduler) -> workload_shapes.Scheduler:
    entry: workload_shapes.Scheduler = {"name": scheduler.name}
    if scheduler.reason:
        entry["reason"] = scheduler.reason
    return entry


def _container(container: model.Container) -> workload_shapes.Container:
    entry: workload_shapes.Container = {
        "name": container.name,
        "type": container.type.value,
        "path": container.path,
        "requests": _resources(container.requests),
        "limits": _resources(container.limits),
        "asksAccelerators": container.asks_accelerators,
        "trains": container.trains,
    }
    if container.lookalikes:
        entry["lookalikes"] = list(container.lookalikes)
    return entry


def _resources(resources: model.Resources) -> dict[str, str]:
    return {name: amounts.exact(quantity) for name, quantity in resources.items()}


def _scaler(scaler: Scaler) -> workload_shapes.Scaler:
    growth = scaler.growth
    entry: workload_shapes.Scaler = {
        "apiVersion": _api_version(growth.source.group, growth.version),
        "kind": growth.source.kind,
        "namespace": growth.source.namespace,
        "name": growth.source.name,
        "effective": scaler.effective,
        "minimum": growth.minimum,
        "unknowns": [_unknown(unknown) for unknown in growth.unknowns],
    }
    if growth.maximum is not None:
        entry["maximum"] = growth.maximum
    if growth.reason:
        entry["reason"] = growth.reason
    return entry


def _unknown(unknown: model.Unknown) -> workload_shapes.Unknown:
    return {"path": unknown.path, "field": paths.readable(unknown.path), "reason": unknown.reason}


def _api_version(group: str, version: str) -> str:
    return f"{group}/{version}" if group else version
