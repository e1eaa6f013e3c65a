"""Outlooks for programs: one document of the shape in `usher.reports.queue_shapes`."""

from collections.abc import Iterable
from typing import Final, TextIO

import orjson

from usher import model
from usher.authorities.outlook import Balance, Elsewhere, Holding, Rank, Section
from usher.reports import amounts, queue_shapes
from usher.reports.json import API_VERSION, MAX_INTEGER
from usher.reports.queue_text import Shown

KIND: Final = "QueueOutlook"


def write(shown: Iterable[Shown], stream: TextIO, /, *, as_written: bool) -> None:
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    stream.write(orjson.dumps(document(shown, as_written=as_written), option=options).decode())


def document(shown: Iterable[Shown], *, as_written: bool) -> queue_shapes.Document:
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "asWritten": as_written,
        "workloads": [_workload(each) for each in shown],
    }


def _workload(shown: Shown) -> queue_shapes.Workload:
    outlook, workload = shown.outlook, shown.outlook.workload
    return {
        "place": shown.place,
        "apiVersion": f"{workload.group}/{workload.version}" if workload.group else workload.version,
        "kind": workload.kind,
        "namespace": workload.namespace,
        "name": workload.name,
        "answer": outlook.answer.value,
        "podSets": [_pod_set(pod_set) for pod_set in workload.pod_sets],
        "totals": {total.name: _total(total) for total in workload.totals},
        "given": list(outlook.given),
        "priorities": [_rank(rank) for rank in outlook.ranks],
        "authorities": [_section(section) for section in outlook.sections],
        "remedies": list(outlook.remedies),
    }


def _pod_set(pod_set: model.PodSet) -> queue_shapes.PodSet:
    entry: queue_shapes.PodSet = {
        "name": pod_set.name,
        "minimum": min(pod_set.count.minimum, MAX_INTEGER),
        "requests": {request.name: amounts.exact(request.minimum) for request in pod_set.requests},
    }
    if pod_set.count.maximum is not None:
        entry["maximum"] = min(pod_set.count.maximum, MAX_INTEGER)
    return entry


def _total(total: model.Total) -> queue_shapes.Total:
    entry: queue_shapes.Total = {"minimum": amounts.exact(total.minimum)}
    if total.maximum is not None:
        entry["maximum"] = amounts.exact(total.maximum)
    return entry


def _rank(rank: Rank) -> queue_shapes.Rank:
    entry: queue_shapes.Rank = {
        "kind": rank.kind,
        "name": rank.name,
        "byDefault": rank.by_default,
        "missing": rank.missing,
        "given": rank.given,
    }
    if rank.value is not None:
        entry["value"] = max(min(rank.value, MAX_INTEGER), -MAX_INTEGER)
    if rank.of:
        entry["podSets"] = list(rank.of)
    return entry


def _section(section: Section) -> queue_shapes.Section:
    return {
        "authority": section.authority,
        "answer": section.answer.value,
        "way": list(section.way),
        "given": section.given,
        "reasons": list(section.reasons),
        "balances": [_balance(each) for each in section.balances],
        "flavors": [
            {"podSet": each.pod_set, "resources": list(each.resources), "flavor": each.flavor, "now": each.now}
            for each in section.taken
        ],
        "elsewhere": [_elsewhere(each) for each in section.elsewhere],
        "nodes": [_holding(each) for each in section.holding],
    }


def _balance(balance: Balance) -> queue_shapes.Balance:
    entry: queue_shapes.Balance = {
        "of": balance.of,
        "resource": balance.resource,
        "asks": amounts.exact(balance.asks),
    }
    if balance.most is not None:
        entry["most"] = amounts.exact(balance.most)
    if balance.own is not None:
        entry["own"] = amounts.exact(balance.own)
    if balance.used is not None:
        entry["reserved"] = amounts.exact(balance.used)
    if balance.free is not None:
        entry["free"] = amounts.exact(balance.free)
    return entry


def _elsewhere(other: Elsewhere) -> queue_shapes.Elsewhere:
    entry: queue_shapes.Elsewhere = {"queue": other.queue, "answer": other.answer.value}
    if other.behind:
        entry["clusterQueue"] = other.behind
    return entry


def _holding(holding: Holding) -> queue_shapes.Holding:
    entry: queue_shapes.Holding = {
        "podSet": holding.pod_set,
        "answer": holding.answer.value,
        "nodes": holding.nodes,
        "grows": list(holding.grows),
        "missing": list(holding.missing),
    }
    if holding.nearest:
        entry["nearest"] = holding.nearest
    return entry
