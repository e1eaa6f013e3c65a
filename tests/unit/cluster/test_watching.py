"""One kind is kept up to date, whatever the API server does."""

import json
from itertools import pairwise

import pytest

from unit.cluster.scripted import (
    ScriptedApi,
    ScriptedStream,
    bookmark,
    error_event,
    event,
    listed,
    refused,
    watched,
)
from usher import errors, paths
from usher.cluster import watching
from usher.cluster.api import Answer, Target
from usher.cluster.facts.store import Store
from usher.cluster.recording import StoreSink
from usher.cluster.watching import Reason, Reflector
from usher.kinds import registry

KEY = ("scheduling.k8s.io", "PriorityClass")
TARGET = Target(kind=registry.FACTS[KEY])
PATH = "/apis/scheduling.k8s.io/v1/priorityclasses"
LOST = errors.ClusterError("the connection is lost")


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Site:
    """A reflector before an API server with a script."""

    def __init__(self, *script: Answer | ScriptedStream | errors.ClusterError, target: Target = TARGET) -> None:
        self.api = ScriptedApi(list(script))
        self.clock = Clock()
        self.store = Store()
        sink = StoreSink(self.store, target.kind.key)
        self.reflector = Reflector(self.api, target, sink, clock=self.clock, chance=lambda: 1.0)

    def steps(self) -> list[float]:
        """All of the script, step by step; the seconds to wait after each."""
        waits = []
        while self.api.script:
            waits.append(self.reflector.step())
        return waits

    @property
    def names(self) -> set[str] | None:
        known = self.store.names(*KEY)
        return None if known is None else set(known)

    @property
    def restarts(self) -> dict[Reason, int]:
        return {reason: count for reason, count in self.reflector.restarts.items() if count}


def priority_class(name: str, *, value: int = 1000) -> paths.Object:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def test_the_store_holds_listed_objects_and_follows_watched_changes() -> None:
    site = Site(
        listed(priority_class("a"), priority_class("b")),
        watched(
            event("ADDED", priority_class("c"), version="11"),
            event("MODIFIED", priority_class("a", value=7), version="12"),
            event("DELETED", priority_class("b"), version="13"),
        ),
    )

    assert site.steps() == [0.0, 0.0]
    assert site.names == {"a", "c"}
    assert site.store.objects(*KEY)["a"]["value"] == 7  # type: ignore[index]  # the kind is known
    assert site.restarts == {Reason.ENDED: 1}
    assert site.reflector.settled
    assert site.reflector.watching
    assert not site.reflector.problem


def test_a_watch_begins_where_the_list_was_and_goes_on_where_the_last_one_ended() -> None:
    site = Site(
        listed(version="10"),
        watched(event("ADDED", priority_class("a"), version="11"), bookmark("25")),
        watched(),
    )
    site.steps()

    queries = [asked.query for asked in site.api.asked[1:]]
    assert [query["resourceVersion"] for query in queries] == ["10", "25"]
    assert {query["allowWatchBookmarks"] for query in queries} == {"true"}
    for asked in site.api.asked[1:]:
        assert asked.silence == int(asked.query["timeoutSeconds"]) + watching.SILENCE


def test_a_list_is_taken_page_by_page_as_of_one_moment() -> None:
    site = Site(listed(priority_class("a"), token="next"), listed(priority_class("b"), version="10"))

    assert site.steps() == [0.0]
    assert site.names == {"a", "b"}
    assert [asked.query for asked in site.api.asked] == [{"limit": "200"}, {"limit": "200", "continue": "next"}]


def test_a_continue_token_that_has_expired_begins_the_list_again() -> None:
    site = Site(
        listed(priority_class("old"), token="next"),
        refused(410),
        listed(priority_class("a")),
    )

    first, second = site.steps()

    assert first > 0
    assert second == 0.0
    assert site.names == {"a"}


def test_events_come_in_any_pieces() -> None:
    whole = event("ADDED", priority_class("a"), version="11") + event("ADDED", priority_class("b"), version="12")
    site = Site(listed(), watched(*(whole[index : index + 7] for index in range(0, len(whole), 7))))
    site.steps()

    assert site.names == {"a", "b"}


def test_the_store_keeps_only_the_fields_that_decisions_read() -> None:
    value = priority_class("a")
    annotations: paths.Object = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    value["metadata"] = {"name": "a", "annotations": annotations}
    site = Site(
        listed(value),
        watched(event("ADDED", {**value, "metadata": {"name": "b", "annotations": annotations}}, version="11")),
    )
    site.steps()

    assert "annotations" not in json.dumps(list(site.store.objects(*KEY).values()))  # type: ignore[union-attr]  # known


@pytest.mark.parametrize("gone", [watched(error_event(410)), ScriptedStream([], refusal=refused(410))])
def test_a_resource_version_that_has_expired_is_answered_by_a_new_list(gone: ScriptedStream) -> None:
    """Objects that went meanwhile are gone, and new ones exist."""
    site = Site(
        listed(priority_class("a"), priority_class("b")),
        gone,
        listed(priority_class("b"), priority_class("c"), version="90"),
        watched(bookmark("91")),
    )
    site.steps()

    assert site.names == {"b", "c"}
    assert site.restarts == {Reason.EXPIRED: 1, Reason.ENDED: 1}
    assert site.api.asked[-1].query["resourceVersion"] == "90"


def test_while_all_is_listed_again_what_was_known_stays_known() -> None:
    site = Site(listed(priority_class("a")), watched(error_event(410)), LOST, refused(500))
    site.steps()

    assert site.names == {"a"}
    assert site.reflector.settled
    assert not site.reflector.watching


def test_a_list_that_says_the_same_as_before_changes_nothing() -> None:
    site = Site(listed(priority_class("a")), watched(error_event(410)), listed(priority_class("a"), version="90"))
    site.reflector.step()
    before = site.store.revision
    site.steps()

    assert site.store.revision == before


def test_waits_grow_up_to_a_ceiling_and_start_again_after_a_success() -> None:
    site = Site(*[LOST] * 9, listed(), watched(bookmark("11")), LOST)

    *waits, list_again, watch_again, last = site.steps()

    assert all(later >= sooner for sooner, later in pairwise(waits))
    assert waits[0] == watching.FIRST_WAIT
    assert waits[-1] == watching.LONGEST_WAIT
    assert (list_again, watch_again) == (0.0, 0.0)
    assert last == watching.FIRST_WAIT
    assert site.restarts[Reason.LOST] == 10


def test_a_lost_connection_goes_on_from_where_it_was() -> None:
    site = Site(
        listed(version="10"),
        watched(event("ADDED", priority_class("a"), version="11"), end=LOST),
        watched(event("ADDED", priority_class("b"), version="12")),
    )
    site.steps()

    assert site.names == {"a", "b"}
    assert site.api.asked[-1].query["resourceVersion"] == "11"


def test_after_a_long_silence_all_is_listed_again() -> None:
    """The cluster may have been restored from a backup, whose resource versions are lower."""
    site = Site(listed(priority_class("a"), version="1000"), LOST, listed(priority_class("b"), version="90"))
    site.reflector.step()
    site.clock.now += watching.LOST_FOR_LONG + 1
    site.steps()

    assert site.names == {"b"}


def test_a_silent_connection_is_opened_again() -> None:
    site = Site(listed(), watched(bookmark("11"), end=errors.StalledError("silent")), watched(bookmark("12")))
    site.steps()

    assert site.restarts == {Reason.STALLED: 1, Reason.ENDED: 1}


def test_a_truncated_event_is_dropped_and_requested_again() -> None:
    whole = event("ADDED", priority_class("a"), version="11")
    site = Site(listed(version="10"), watched(whole[:30]), watched(whole))
    site.steps()

    assert site.names == {"a"}
    assert [asked.query["resourceVersion"] for asked in site.api.asked[1:]] == ["10", "10"]


@pytest.mark.parametrize(
    "line",
    [
        b"<html>\n",
        b"[]\n",
        b'{"type": "ADDED"}\n',
        b'{"type": "ADDED", "object": {"metadata": {"resourceVersion": "11"}}}\n',
        b'{"type": "ADDED", "object": {"metadata": {"name": "a"}}}\n',
        b'{"type": "ADDED", "object": {"metadata": 7}}\n',
        b'{"type": "SOMETHING", "object": {"metadata": {"name": "a", "resourceVersion": "11"}}}\n',
        b"[" * 100_000 + b"\n",
    ],
)
def test_a_malformed_event_leads_to_a_new_list(line: bytes) -> None:
    site = Site(listed(priority_class("a")), watched(line), listed(priority_class("b"), version="20"))

    assert site.steps()[1] > 0
    assert site.names == {"b"}
    assert site.restarts == {Reason.MALFORMED: 1}


def test_a_watch_that_ends_at_once_is_not_asked_for_in_a_loop() -> None:
    site = Site(listed(), watched(), watched(), watched())

    _, *waits = site.steps()

    assert waits == [0.5, 1.0, 2.0]


@pytest.mark.parametrize("status", [429, 500, 503, 504])
def test_a_server_that_is_ill_is_asked_again_from_the_same_place(status: int) -> None:
    site = Site(
        listed(version="10"), ScriptedStream([], refusal=refused(status)), watched(error_event(status)), watched()
    )
    site.steps()

    assert {asked.query["resourceVersion"] for asked in site.api.asked[1:]} == {"10"}


def test_a_kind_that_is_not_installed_is_looked_for_again_and_found_later() -> None:
    site = Site(*[refused(404)] * 12, listed(priority_class("a")))

    waits = site.steps()

    assert waits[:3] == [watching.FIRST_WAIT, watching.FIRST_WAIT, 2 * watching.FIRST_WAIT]
    assert waits[-2] == watching.LONGEST_WAIT_FOR_KIND
    assert site.names == {"a"}


def test_a_kind_that_is_not_installed_has_no_objects() -> None:
    site = Site(refused(404), refused(404))
    known = []
    while site.api.script:
        site.reflector.step()
        known.append(site.names)

    assert known == [None, set()]
    assert site.reflector.settled
    assert site.reflector.age == 0.0


def test_a_kind_that_was_there_is_not_given_up_at_the_first_doubt() -> None:
    """An API server that has just started may not have read all definitions."""
    site = Site(listed(priority_class("a")), watched(error_event(410)), refused(404), refused(404))
    for _ in range(3):
        site.reflector.step()
    assert site.names == {"a"}

    site.reflector.step()
    assert site.names == set()


def test_another_version_is_taken_where_the_best_is_not_served() -> None:
    queue: paths.Object = {"metadata": {"name": "research", "namespace": "ml"}, "spec": {"clusterQueue": "gpus"}}
    target = Target(kind=registry.FACTS["kueue.x-k8s.io", "LocalQueue"])
    site = Site(refused(404), listed(queue), watched(bookmark("11")), target=target)
    site.steps()

    assert [asked.path.split("/")[3] for asked in site.api.asked] == ["v1beta2", "v1beta1", "v1beta1"]
    known = site.store.objects("kueue.x-k8s.io", "LocalQueue", "ml")
    assert known["research"]["apiVersion"] == "kueue.x-k8s.io/v1beta1"  # type: ignore[index]  # the kind is known


def test_what_may_not_be_listed_stays_not_known_and_is_asked_for_slowly() -> None:
    site = Site(*[refused(403, "priorityclasses is forbidden")] * 12)

    waits = site.steps()

    assert site.names is None
    assert site.reflector.settled
    assert site.reflector.problem == "may not be listed: priorityclasses is forbidden"
    assert waits[:2] == [watching.FIRST_WAIT_FOR_RIGHTS, 2 * watching.FIRST_WAIT_FOR_RIGHTS]
    assert waits[-1] == watching.LONGEST_WAIT_FOR_RIGHTS


def test_an_api_server_that_has_not_read_its_roles_yet_is_given_some_time() -> None:
    """Until then it forbids everything; a server that was ready then would know nothing."""
    site = Site(*[refused(403)] * (watching.PATIENCE - 1), listed(priority_class("a")))
    for _ in range(watching.PATIENCE - 1):
        site.reflector.step()
    assert not site.reflector.settled

    site.steps()
    assert site.names == {"a"}


def test_what_may_be_listed_and_not_watched_is_listed_slowly() -> None:
    forbidden = ScriptedStream([], refusal=refused(403))
    site = Site(listed(priority_class("a")), forbidden, listed(priority_class("b")), forbidden)

    assert site.steps()[1::2] == [watching.FIRST_WAIT_FOR_RIGHTS, 2 * watching.FIRST_WAIT_FOR_RIGHTS]
    assert site.names == {"b"}


def test_the_age_is_that_of_the_last_word_of_the_server() -> None:
    site = Site(listed(), watched(bookmark("11"), end=LOST), LOST)
    ages = [site.reflector.age]
    for seconds in (40, 12, 7):
        site.reflector.step()
        site.clock.pass_by(seconds)
        ages.append(site.reflector.age)

    assert ages == [None, 40, 12, 19]


def test_an_end_in_time_proves_that_nothing_was_missed() -> None:
    """Also of a kind for which the server sends neither events nor bookmarks."""
    site = Site(listed())
    quiet = watched()
    quiet.meanwhile = lambda: site.clock.pass_by(200)
    site.api.script.append(quiet)

    assert site.steps() == [0.0, 0.0]
    assert site.reflector.age == 0


def test_a_fault_of_our_own_does_not_end_the_thread() -> None:
    site = Site(listed(priority_class("a")))
    calls: list[float] = []

    def faulty(_: object) -> None:
        raise RuntimeError("a fault")

    site.reflector._sink.replace = faulty  # type: ignore[method-assign, assignment]  # a sink that is broken

    def stopped() -> bool:
        calls.append(0)
        return len(calls) > 1

    site.reflector.wake()
    site.reflector.run(stopped)

    assert site.restarts == {Reason.FAULT: 1}
    assert site.reflector.problem == "internal error: RuntimeError: a fault"
