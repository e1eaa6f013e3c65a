"""Facts kept up to date over real connections, by an API server on a bad day."""

import threading
from collections.abc import Iterator

import pytest

from e2e.cluster import wait_until
from integration import watch_server
from integration.watch_server import Connection, WatchServer, listed, refused
from unit.cluster.scripted import bookmark, event
from usher import errors, paths
from usher.cluster import watching
from usher.cluster.watching import LiveFacts
from usher.kinds import kind, registry
from usher.kinds.reading.values import Absence, Reference

KEY = ("scheduling.k8s.io", "PriorityClass")
PATH = "/apis/scheduling.k8s.io/v1/priorityclasses"
QUEUE = ("kueue.x-k8s.io", "LocalQueue")
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/localqueues"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONFIG_MAPS = "/api/v1/configmaps"
CONTENT = "/api/v1/namespaces/kueue-system/configmaps"


@pytest.fixture
def server() -> Iterator[WatchServer]:
    with watch_server.running() as running:
        yield running


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Waits that a test can wait for."""
    monkeypatch.setattr(watching, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(watching, "LONGEST_WAIT", 0.05)
    monkeypatch.setattr(watching, "FIRST_WAIT_FOR_RIGHTS", 0.01)


def facts_of(server: WatchServer, *keys: kind.Key) -> LiveFacts:
    return LiveFacts(server.api(), kinds=[registry.FACTS[key] for key in keys])


def priority_class(name: str) -> paths.Object:
    return {"kind": "PriorityClass", "metadata": {"name": name}, "value": 7}


def names(facts: LiveFacts, key: kind.Key = KEY) -> set[str]:
    return set(facts.store.names(*key) or ())


def awaited(facts: LiveFacts, *expected: str, key: kind.Key = KEY) -> None:
    wait_until(lambda: names(facts, key) == set(expected), description=f"{expected} are known")


def silent(server: WatchServer, *pieces: bytes) -> watch_server.Answering:
    """Sends some pieces, and then nothing."""

    def answering(connected: Connection) -> None:
        connected.begin()
        for piece in pieces:
            connected.send(piece)
        server.released.wait(30)

    return answering


def cut(*pieces: bytes) -> watch_server.Answering:
    """Sends some pieces and drops the connection."""

    def answering(connected: Connection) -> None:
        connected.begin()
        for piece in pieces:
            connected.send(piece)

    return answering


def ended(*pieces: bytes) -> watch_server.Answering:
    """Sends some pieces and ends properly."""

    def answering(connected: Connection) -> None:
        cut(*pieces)(connected)
        connected.end()

    return answering


def test_facts_arrive_and_follow(server: WatchServer) -> None:
    server.lists(PATH, listed(priority_class("a")))
    server.watches(PATH, silent(server, event("ADDED", priority_class("b"), version="11")))
    facts = facts_of(server, KEY)
    assert facts.awaited() == ["priorityclasses.scheduling.k8s.io"]

    facts.start()

    awaited(facts, "a", "b")
    assert facts.ready
    assert facts.problems == {}
    facts.stop()


def test_all_that_can_happen_to_a_watch_is_survived(server: WatchServer) -> None:
    """Half a line, a dropped connection, a storm of errors, an end in time, an expired version."""
    whole = event("ADDED", priority_class("b"), version="11")
    server.lists(PATH, listed(priority_class("a")), listed(priority_class("z"), version="90"))
    server.watches(
        PATH,
        cut(whole[:20]),
        ended(whole[:30]),
        ended(whole[:25], whole[25:], bookmark("12")),
        cut(event("ADDED", priority_class("c"), version="13")),
        *[refused(status) for status in (500, 503, 429, 504, 500)],
        cut(),
        ended(bookmark("20")),
        refused(410),
        silent(server, event("ADDED", priority_class("y"), version="91")),
    )
    facts = facts_of(server, KEY)

    facts.start()

    awaited(facts, "y", "z")
    asked = [query["resourceVersion"] for query in server.queries(PATH)]
    assert asked == ["10", "10", "10", "12", *["13"] * 7, "20", "90"]
    facts.stop()


def test_a_silent_connection_is_given_up(server: WatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHORTEST_WATCH", "LONGEST_WATCH", "SILENCE"):
        monkeypatch.setattr(watching, name, 0.0 if name != "SILENCE" else 0.2)
    server.lists(PATH, listed())
    server.watches(PATH, silent(server), silent(server, event("ADDED", priority_class("a"), version="11")))
    facts = facts_of(server, KEY)

    facts.start()

    awaited(facts, "a")
    (state,) = facts.states()
    assert state.restarts[watching.Reason.STALLED] >= 1
    facts.stop()


def test_an_api_server_that_comes_later_is_found(server: WatchServer) -> None:
    server.lists(PATH, *[refused(500)] * 4, listed(priority_class("a")))
    server.watches(PATH, silent(server))
    facts = facts_of(server, KEY)

    facts.start()

    awaited(facts, "a")
    assert [path for _, path, _ in server.requests].count(PATH) >= 5
    facts.stop()


def test_one_kind_that_cannot_be_listed_does_not_hold_up_the_rest(server: WatchServer) -> None:
    """A webhook that waits for usher may convert the versions of a kind; that kind stays unknown."""
    server.lists(PATH, listed(priority_class("a")))
    server.watches(PATH, silent(server))
    server.lists(QUEUES, refused(500))
    facts = facts_of(server, KEY, QUEUE)

    facts.start()

    wait_until(lambda: facts.ready, description="the facts are ready without the queues")
    assert facts.store.names(*QUEUE) is None
    assert "localqueues.kueue.x-k8s.io" in facts.problems
    facts.stop()


def test_a_server_that_lists_nothing_at_all_is_waited_for(server: WatchServer) -> None:
    server.lists(PATH, refused(500))
    facts = facts_of(server, KEY)

    facts.start()

    wait_until(lambda: len(server.requests) > watching.PATIENCE + 2, description="it was asked often")
    assert not facts.ready
    facts.stop()


def test_a_definition_that_appears_makes_its_kind_be_looked_for_at_once(server: WatchServer) -> None:
    defined = threading.Event()

    def defining(connected: Connection) -> None:
        connected.begin()
        defined.wait(60)
        server.lists(QUEUES, listed({"metadata": {"name": "research", "namespace": "ml"}}))
        server.watches(QUEUES, silent(server))
        name = "localqueues.kueue.x-k8s.io"
        definition: paths.Object = {"kind": "PartialObjectMetadata", "metadata": {"name": name}}
        connected.send(event("ADDED", definition, version="11"))
        server.released.wait(30)

    server.lists(DEFINITIONS, listed())
    server.watches(DEFINITIONS, defining)
    facts = facts_of(server, kind.DEFINITION, QUEUE)
    facts.start()
    wait_until(lambda: facts.ready, description="the kind is known to be missing")
    assert names(facts, QUEUE) == set()

    defined.set()

    awaited(facts, "research", key=QUEUE)
    facts.stop()


def test_of_config_maps_only_kueues_own_has_a_content(server: WatchServer) -> None:
    kueue = {"name": "kueue-manager-config", "namespace": "kueue-system"}
    data: paths.Object = {"controller_manager_config.yaml": "kind: Configuration"}
    server.lists(CONFIG_MAPS, listed({"metadata": kueue}, {"metadata": {"name": "other", "namespace": "ml"}}))
    server.watches(CONFIG_MAPS, silent(server))
    server.lists(CONTENT, listed({"metadata": kueue, "data": data}))
    server.watches(CONTENT, silent(server))
    facts = facts_of(server, kind.CONFIG_MAP)

    facts.start()

    def content() -> object:
        found = facts.store.objects("", "ConfigMap", "kueue-system")
        return isinstance(found, dict) and found.get("kueue-manager-config", {}).get("data")

    wait_until(lambda: content() == data, description="the configuration is known")
    assert names(facts, kind.CONFIG_MAP) == {"kueue-manager-config", "other"}
    wait_until(lambda: server.queries(CONTENT), description="the configuration is watched")
    (query,) = server.queries(CONTENT)
    assert query["fieldSelector"] == "metadata.name=kueue-manager-config"
    facts.stop()


def test_where_no_config_maps_may_be_listed_kueues_own_is_known_all_the_same(server: WatchServer) -> None:
    kueue = {"name": "kueue-manager-config", "namespace": "kueue-system"}
    server.lists(CONFIG_MAPS, refused(403))
    server.lists(CONTENT, listed({"metadata": kueue, "data": {}}))
    server.watches(CONTENT, silent(server))
    facts = facts_of(server, kind.CONFIG_MAP)
    facts.start()

    wait_until(lambda: facts.ready, description="nothing more is awaited")

    def found(name: str) -> object:
        return facts.store.find(Reference(group="", kind="ConfigMap", name=name, namespace="kueue-system"))

    assert not isinstance(found("kueue-manager-config"), Absence)
    assert found("other") is Absence.NOT_KNOWN
    facts.stop()


@pytest.mark.parametrize("queues", [0, 1])
def test_kueues_own_configuration_is_missed_only_where_there_are_queues(server: WatchServer, queues: int) -> None:
    key = ("kueue.x-k8s.io", "ClusterQueue")
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
    server.lists(CONFIG_MAPS, listed())
    server.watches(CONFIG_MAPS, silent(server))
    server.lists(CONTENT, *[refused(403)] * 5)
    server.lists(path, listed(*({"metadata": {"name": f"queue-{number}"}} for number in range(queues))))
    server.watches(path, silent(server))
    facts = facts_of(server, kind.CONFIG_MAP, key)
    facts.start()

    wait_until(lambda: facts.ready, description="nothing more is awaited")
    assert set(facts.problems) == ({"configmaps/kueue-manager-config"} if queues else set())
    facts.stop()


def test_stopping_ends_all_threads_though_they_wait_for_news(server: WatchServer) -> None:
    server.lists(PATH, listed())
    server.watches(PATH, silent(server))
    facts = facts_of(server, KEY)
    facts.start()
    wait_until(lambda: server.queries(PATH), description="it is watched")

    facts.stop(within=5)

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("facts ")]


def test_a_conflicting_write_is_refused_without_an_error(server: WatchServer) -> None:
    server.lists(f"{PATH}/a", refused(409), listed())
    api = server.api()

    assert api.put(f"{PATH}/a", priority_class("a")).status == 409
    assert api.put(f"{PATH}/a", priority_class("a")).status == 200


def test_without_an_api_server_there_is_no_answer() -> None:
    with watch_server.running() as gone:
        api = gone.api()

    with pytest.raises(errors.ClusterError, match="cannot be reached"):
        api.put(f"{PATH}/a", {})
    with pytest.raises(errors.ClusterError, match="cannot be reached"), api.stream(PATH, query={}, silence=1):
        pass
