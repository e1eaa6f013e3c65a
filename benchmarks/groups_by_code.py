"""LeaderWorkerSets and DisaggregatedSets read by code, as usher read them before their descriptions: a yardstick."""

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from usher import model, paths
from usher.kinds.reading.counts import share_of_replicas
from usher.kinds.reading.pod_templates import pod_template, template_times
from usher.kinds.reading.templates import ONE, Place, Template, Traits
from usher.kinds.reading.values import Reading

Object = Mapping[str, paths.Json]
_TRAITS: Final = Traits(operator_environment=frozenset({"LWS_*", "TPU_*"}))


def _one_group(spec: Object, path: str, reading: Reading) -> Iterator[Template]:
    """The templates of one group of a LeaderWorkerSetSpec: a leader and `size` - 1 workers.

    If the leader has no template, the controller makes it from that of the workers: one template serves all
    (LW:pkg/controllers/leaderworkerset_controller.go, constructLeaderStatefulSetApplyConfiguration).
    """
    path += "/leaderWorkerTemplate"
    template = reading.mapping(spec.get("leaderWorkerTemplate"), path)
    workers = max(reading.count(template.get("size"), path + "/size", default=1), 1)
    if template.get("leaderTemplate") is not None:
        place = Place(template["leaderTemplate"], path + "/leaderTemplate")
        yield pod_template(place, reading, name="leader", count=ONE, traits=_TRAITS)
        workers -= 1
    count = model.Count(minimum=workers, maximum=workers)
    place = Place(template.get("workerTemplate"), path + "/workerTemplate")
    yield pod_template(place, reading, name="worker", count=count, traits=_TRAITS)


def _replicas(spec: Object, path: str, reading: Reading) -> int:
    return reading.count(spec.get("replicas"), path + "/replicas", default=1)


def _rolling(spec: Object, path: str, reading: Reading) -> tuple[Object | None, str]:
    """The settings of a rolling update, or None, and their path."""
    path += "/rolloutStrategy"
    strategy = reading.mapping(spec.get("rolloutStrategy"), path)
    path += "/rollingUpdateConfiguration"
    given = strategy.get("rollingUpdateConfiguration")
    rolling = reading.mapping(given, path)
    return (None if given is None else rolling), path


def _groups(replicas: int, surge: int) -> model.Count:
    noun = "group" if surge == 1 else "groups"
    reason = f"{surge} more {noun} during a rollout" if surge else ""
    return model.Count(minimum=replicas, maximum=replicas + surge, reason=reason)


def leader_worker_set(leader_worker_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a LeaderWorkerSet. A rollout makes up to `maxSurge` more groups, at most one for each group.

    LW:pkg/controllers/leaderworkerset_controller.go, rollingUpdateParameters.
    """
    spec = reading.mapping(leader_worker_set.get("spec"), "/spec")
    replicas = _replicas(spec, "/spec", reading)
    rolling, path = _rolling(spec, "/spec", reading)
    surge = share_of_replicas(replicas, (rolling or {}).get("maxSurge"), path + "/maxSurge", reading, default=0)
    groups = _groups(replicas, min(surge, replicas))
    for template in _one_group(spec, "/spec", reading):
        found = template_times(template, groups) if template.count.maximum else template
        yield replace(found, groups=replicas)


def disaggregated_set(disaggregated_set: Object, reading: Reading) -> Iterator[Template]:
    """The templates of a DisaggregatedSet: every slice has the groups of all roles.

    Sources: LW:pkg/controllers/disaggregatedset/executor.go and planner.go.
    """
    spec = reading.mapping(disaggregated_set.get("spec"), "/spec")
    slices = reading.count(spec.get("slices"), "/spec/slices", default=1)
    for path, role in reading.items(spec.get("roles"), "/spec/roles"):
        name = reading.text(role.get("name"), path + "/name")
        template = reading.mapping(role.get("spec"), path + "/spec")
        groups = _groups_of_role(role, template, path, reading)
        for each in _one_group(template, path + "/spec", reading):
            named = replace(each, name=f"{name}-{each.name}" if name else each.name)
            if named.count.maximum:
                named = template_times(template_times(named, groups), model.Count(minimum=slices, maximum=slices))
            yield named


def _groups_of_role(role: Object, spec: Object, path: str, reading: Reading) -> model.Count:
    """How many groups a role has; where an autoscaler sets the number, the role's own number does not count.

    Without any settings a rollout makes one more group. With settings the defaults of the CRD apply: the rollout may
    run one group less, and makes no extra group.
    """
    scaling = reading.mapping(role.get("scaling"), path + "/scaling")
    external = reading.text(scaling.get("mode"), path + "/scaling/mode") == "External"
    replicas = _replicas(spec, path + "/spec", reading)
    rolling, rolling_path = _rolling(spec, path + "/spec", reading)
    surge = 1
    if rolling is not None:
        surge = share_of_replicas(replicas, rolling.get("maxSurge"), rolling_path + "/maxSurge", reading, default=0)
        unavailable = rolling.get("maxUnavailable")
        path_of_unavailable = rolling_path + "/maxUnavailable"
        if not share_of_replicas(replicas, unavailable, path_of_unavailable, reading, default=1, rounded_up=False):
            surge = max(surge, 1)
    if external:
        return model.Count(minimum=0, maximum=None, reason="an autoscaler sets the replicas of the role")
    return _groups(replicas, surge if replicas else 0)
