"""A server reports the facts of its cluster: while it waits for them, and in its metrics."""

from prometheus_client.parser import text_string_to_metric_families

from unit.cluster.scripted import ScriptedApi, listed, refused
from usher.cluster.watching import LiveFacts
from usher.kinds.registry import FACTS
from usher.server import live_cluster
from usher.server.metrics import Metrics

CLASSES = FACTS["scheduling.k8s.io", "PriorityClass"]
QUEUES = FACTS["scheduling.volcano.sh", "Queue"]


def exposed(facts: LiveFacts) -> dict[tuple[str, ...], float]:
    """Every series of facts: its name and the values of its labels."""
    metrics = Metrics(engine="test", revision="test")
    metrics.watch_facts(facts)
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.exposition().decode())
        for sample in family.samples
        if sample.name.startswith("usher_facts")
    }


def test_a_server_names_the_facts_that_it_waits_for() -> None:
    assert live_cluster.missing_kinds(None) == ""
    assert live_cluster.missing_kinds(LiveFacts(ScriptedApi([]), kinds=[CLASSES])) == (
        "waiting for facts: priorityclasses.scheduling.k8s.io"
    )
    many = live_cluster.missing_kinds(LiveFacts(ScriptedApi([]), kinds=FACTS.values()))
    assert many.endswith(f" and {len(FACTS) + 1 - 5} more")


def test_facts_that_have_come_are_waited_for_no_more() -> None:
    facts = LiveFacts(ScriptedApi([listed(), refused(403), *[refused(404)] * 2]), kinds=[CLASSES, QUEUES])
    classes, queues = facts._all()
    for reflector in (classes, queues, queues, queues):
        reflector.step()

    assert live_cluster.missing_kinds(facts) == ""
    assert facts.ready


def test_metrics_tell_how_things_stand_with_each_kind() -> None:
    clock = iter([100.0, 107.0, 107.0]).__next__
    value = {"metadata": {"name": "a"}, "value": 7}
    facts = LiveFacts(ScriptedApi([listed(value)]), kinds=[CLASSES, QUEUES], clock=clock)  # type: ignore[arg-type]  # plain JSON
    next(iter(facts._all())).step()

    series = exposed(facts)

    classes, queues = CLASSES.resource, QUEUES.resource
    assert series["usher_facts_age_seconds", classes] == 7
    assert series["usher_facts_objects", classes] == 1
    assert series["usher_facts_current", classes] == 0
    assert series["usher_facts_watch_restarts_total", classes, "expired"] == 0
    assert ("usher_facts_age_seconds", queues) not in series
    assert ("usher_facts_objects", queues) not in series
