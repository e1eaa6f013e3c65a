"""The rounds of replicas that share a Secret: one write wins, bundles are restored, and the old leaf serves on."""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from cryptography import x509

from generated_examples import in_turn
from unit.server.certs.handshakes import client_context, listening, serial_seen
from unit.server.certs.small_api import CONFIGURATIONS, SECRET, Clock, SmallApi
from usher.errors import CertificateError
from usher.server.certs.managed import ManagedCertificate, Place, SecretName

PLACE = Place(
    secret=SecretName(namespace="gpu-usher", name="gpu-usher-certificates"),
    configurations="gpu-usher",
    names=["localhost", "gpu-usher.gpu-usher.svc"],
)


class Replica(ManagedCertificate):
    """One that writes down what it reports."""

    def __init__(self, api: SmallApi, clock: Clock) -> None:
        self.events: list[str] = []
        api.clock = api.clock or clock
        super().__init__(
            api, PLACE, clock=clock, timer=clock.seconds, report=lambda event, _reason: self.events.append(event)
        )

    def good(self) -> x509.Certificate:
        """The leaf after a round in which nothing failed."""
        assert self.check().problem is None
        assert self.leaf is not None
        return self.leaf


@pytest.fixture
def api() -> SmallApi:
    api = SmallApi()
    api.register()
    api.store(SECRET, {"metadata": {"name": "gpu-usher-certificates", "labels": {"team": "sre"}}, "type": "Opaque"})
    return api


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_the_first_round_fills_the_secret_and_every_bundle(api: SmallApi, clock: Clock) -> None:
    replica = Replica(api, clock)
    assert (replica.leaf, replica.authority, replica.settled) == (None, None, False)

    leaf = replica.good()

    assert sorted(api.objects[SECRET]["data"]) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
    assert api.objects[SECRET]["metadata"]["labels"] == {"team": "sre"}
    assert api.trusted() == [replica.authority]
    assert replica.settled
    written = list(api.writes)
    assert replica.good() == leaf
    assert api.writes == written, "a round without change writes nothing"


def test_a_server_without_registered_webhooks_serves_and_fills_them_when_they_come(clock: Clock) -> None:
    api = SmallApi()
    replica = Replica(api, clock)

    replica.good()
    assert replica.events == ["certificate_secret_missing", "certificate_authority_made", "certificate_made"]
    api.register()
    replica.good()
    assert api.trusted() == [replica.authority]


@pytest.mark.parametrize("run", in_turn(range(20), every=5))
def test_of_two_replicas_that_start_together_one_makes_the_ca(run: int, clock: Clock) -> None:
    api = SmallApi()
    api.register()
    if run % 2:
        api.store(SECRET, {"metadata": {"name": "gpu-usher-certificates"}})
    both = threading.Barrier(2, timeout=60)
    met: list[str] = []

    def meet(method: str, path: str) -> None:
        # Both have read the Secret without data before either writes it.
        if method == "PUT" and path == SECRET and len(met) < 2:
            met.append(method)
            both.wait()

    api.before = meet
    replicas = [Replica(api, clock), Replica(api, clock)]
    threads = [threading.Thread(target=replica.check) for replica in replicas]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    assert met == ["PUT", "PUT"]
    assert replicas[0].good() == replicas[1].good()
    assert api.trusted() == [replicas[0].authority] == [replicas[1].authority]
    assert api.writes.count(f"PUT {SECRET}") == 1
    assert sum(replica.events.count("certificate_authority_made") for replica in replicas) == 1
    written = list(api.writes)
    for _ in range(5):
        for replica in replicas:
            replica.good()
    assert api.writes == written


@pytest.mark.parametrize("bundle", [None, "", "bm90IGEgY2VydGlmaWNhdGU=", "%"])
def test_a_bundle_that_someone_blanks_or_replaces_is_restored(api: SmallApi, clock: Clock, bundle: str | None) -> None:
    replica = Replica(api, clock)
    replica.good()
    value = api.objects[CONFIGURATIONS[1]]
    value["webhooks"][1]["clientConfig"] = {} if bundle is None else {"caBundle": bundle}
    api.store(CONFIGURATIONS[1], value)

    replica.good()

    assert api.trusted() == [replica.authority]
    assert replica.events[-1] == "ca_bundle_restored"


def test_a_replica_that_read_an_older_secret_does_not_take_a_new_ca_out_of_a_bundle(
    api: SmallApi, clock: Clock
) -> None:
    slow, quick = Replica(api, clock), Replica(api, clock)
    slow.good()
    clock.forward(days=250)
    done: list[bool] = []

    def overtaken(method: str, _path: str) -> None:
        if method == "PATCH" and not done:
            done.append(True)
            quick.good()

    # The slow one has something to write: its bundle was blanked.
    value = api.objects[CONFIGURATIONS[0]]
    value["webhooks"][0]["clientConfig"] = {}
    api.store(CONFIGURATIONS[0], value)
    api.before = overtaken

    slow.good()

    assert done
    assert slow.authority == quick.authority
    assert api.trusted()[0] == quick.authority


@pytest.mark.costly
def test_a_new_ca_is_in_all_bundles_a_day_before_any_replica_shows_a_leaf_of_it(api: SmallApi, clock: Clock) -> None:
    replicas = [Replica(api, clock), Replica(api, clock), Replica(api, clock)]
    for replica in replicas:
        replica.good()
    trusted_since: dict[x509.Certificate, float] = {}
    # The CA is new after some 240 days.
    for hours in [24] * 200 + [12] * 200:
        clock.forward(hours=hours)
        for replica in replicas:
            leaf = replica.good()
            bundle = api.trusted()
            for authority in bundle:
                trusted_since.setdefault(authority, clock.seconds())
            (issuer,) = [each for each in bundle if leaf.issuer == each.subject]
            if issuer != min(trusted_since, key=trusted_since.__getitem__):
                assert clock.seconds() - trusted_since[issuer] >= 86_400
    assert len(trusted_since) == 2
    assert len(api.trusted()) == 1


def test_a_bundle_that_cannot_be_written_is_a_problem_and_no_leaf_of_a_new_ca_is_shown(
    api: SmallApi, clock: Clock
) -> None:
    replica = Replica(api, clock)
    clock.forward(days=1)
    first = replica.good()
    api.refused = {("PATCH", CONFIGURATIONS[0])}
    api.objects[SECRET]["data"] = {}

    problem = replica.check().problem
    clock.forward(minutes=10)
    replica.check()

    assert "caBundle" in str(problem)
    assert "forbidden" in str(problem)
    assert replica.leaf == first
    api.refused = set()
    replica.check()
    clock.forward(seconds=6)
    assert replica.good() != first


def test_a_deleted_secret_is_made_again_and_leaves_of_the_old_ca_are_trusted_for_a_day(
    api: SmallApi, clock: Clock
) -> None:
    replica = Replica(api, clock)
    first, old = replica.good(), replica.authority
    clock.forward(days=3)
    del api.objects[SECRET]

    assert replica.good() == first, "the API servers may not have seen the new bundle yet"
    assert api.trusted() == [replica.authority, old]
    clock.forward(seconds=6)
    assert replica.good() != first
    clock.forward(days=1)
    replica.good()
    assert api.trusted() == [replica.authority]


@pytest.mark.parametrize("part", ["tls.crt", "tls.key", "ca.crt", "ca.key"])
def test_a_damaged_secret_is_replaced(api: SmallApi, clock: Clock, part: str) -> None:
    Replica(api, clock).good()
    api.objects[SECRET]["data"][part] = "Z2FyYmFnZQ=="
    replica = Replica(api, clock)

    replica.good()

    assert replica.events[0] == "certificate_unusable"
    assert api.trusted() == [replica.authority]


def forbidden(api: SmallApi) -> None:
    api.refused = {("GET", SECRET)}


def not_writable(api: SmallApi) -> None:
    api.refused = {("PUT", SECRET)}


def cannot_be_made(api: SmallApi) -> None:
    del api.objects[SECRET]
    api.refused = {("APPLY", SECRET)}


def configurations_unreadable(api: SmallApi) -> None:
    api.refused = {("GET", CONFIGURATIONS[0])}


def always_changed(api: SmallApi) -> None:
    api.before = lambda method, path: api.store(path, api.objects[path]) if method == "PUT" else None


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (forbidden, "cannot be read: forbidden"),
        (not_writable, "cannot be written: forbidden"),
        (cannot_be_made, "is missing and cannot be made: forbidden"),
        (configurations_unreadable, "its caBundle is not kept right: forbidden"),
        (always_changed, "something else writes them"),
    ],
)
def test_what_the_api_server_refuses_is_a_problem_with_its_reason(
    api: SmallApi, clock: Clock, trouble: Callable[[SmallApi], None], reason: str
) -> None:
    trouble(api)
    replica = Replica(api, clock)

    checked = replica.check()

    assert reason in str(checked.problem)
    assert not checked.reloaded
    assert replica.leaf is None


def test_a_name_that_no_certificate_can_carry_is_refused_at_the_start(api: SmallApi) -> None:
    with pytest.raises(CertificateError, match="neither an IP address nor a DNS name"):
        ManagedCertificate(api, Place(secret=PLACE.secret, configurations="x", names=["no name"]))


async def seen(replica: Replica) -> int:
    async with listening(replica.context) as port:
        assert replica.authority is not None
        return await serial_seen(port, client_context(replica.authority))


def test_the_leaf_of_the_secret_is_what_clients_see_and_no_file_holds_its_key(api: SmallApi, clock: Clock) -> None:
    clock.now = clock.now.now(clock.now.tzinfo)
    replica = Replica(api, clock)
    leaf = replica.good()

    assert asyncio.run(seen(replica)) == leaf.serial_number


WRONG_CLOCKS = [timedelta(days=100), timedelta(days=-100), timedelta(days=-400), timedelta(minutes=3)]


@pytest.mark.parametrize("ahead", WRONG_CLOCKS)
def test_a_replica_whose_clock_is_wrong_signs_nothing_and_is_neither_good_nor_ready(
    api: SmallApi, clock: Clock, ahead: timedelta
) -> None:
    """The leaf is due by the wrong clock, or by its names; either would give every replica a useless certificate."""
    right = Replica(api, clock)
    leaf = right.good()
    before = list(api.writes)
    wrong = Replica(api, Clock(ahead=ahead))

    checked = wrong.check()

    assert api.writes == before
    assert wrong.leaf == leaf, "the certificate itself is good, and served"
    assert "the API server's" in str(checked.problem)
    assert ("ahead of" if ahead > timedelta() else "behind") in wrong.unusable
    assert wrong.clock_ahead is not None
    assert abs(wrong.clock_ahead - ahead) <= timedelta(seconds=1)
    assert (right.good(), right.unusable) == (leaf, "")


def test_a_replica_whose_clock_is_wrong_makes_no_first_certificate(api: SmallApi, clock: Clock) -> None:
    api.clock = clock
    wrong = Replica(api, Clock(ahead=timedelta(days=100)))

    checked = wrong.check()

    assert "100 days ahead of the API server's" in str(checked.problem)
    assert (wrong.leaf, api.writes) == (None, [])


@pytest.mark.parametrize("ahead", [timedelta(minutes=2), timedelta(minutes=-2)])
def test_a_small_difference_of_clocks_changes_nothing(api: SmallApi, clock: Clock, ahead: timedelta) -> None:
    api.clock = clock

    replica = Replica(api, Clock(ahead=ahead))

    leaf = replica.good()
    assert replica.unusable == ""
    assert leaf.not_valid_before_utc < clock.now


def test_a_leaf_from_the_future_is_unusable_until_a_replica_with_the_right_clock_replaces_it(
    api: SmallApi, clock: Clock
) -> None:
    replicas = [Replica(api, clock), Replica(api, clock)]
    for replica in replicas:
        replica.good()
    clock.forward(days=65)
    early = replicas[0].good()
    assert replicas[1].good() == early
    authorities = api.trusted()

    clock.forward(days=-50)
    assert [replica.unusable for replica in replicas] == 2 * [
        "the certificate is not valid before 2026-03-06 23:55 UTC"
    ]
    healed = [replica.good() for replica in replicas]

    assert healed[0] == healed[1] != early
    assert healed[0].not_valid_before_utc < clock.now
    assert api.trusted() == authorities, "the CA was good"
    assert [replica.unusable for replica in replicas] == ["", ""]


def test_a_ca_from_the_future_is_replaced_while_the_leaf_of_the_ca_before_is_served(
    api: SmallApi, clock: Clock
) -> None:
    replica = Replica(api, clock)
    for _ in range(25):
        leaf = replica.good()
        clock.forward(days=10)
    old = replica.authority
    assert replica.good() == leaf
    early = replica.authority
    assert api.trusted() == [early, old]

    clock.forward(days=-5)
    assert replica.good() == leaf
    assert replica.authority not in (early, old)
    assert api.trusted() == [replica.authority, old], "no call fails"
    clock.forward(days=2)
    replica.good()
    clock.forward(seconds=6)
    assert replica.good() != leaf


def test_a_ca_and_a_leaf_from_the_future_are_both_made_again(api: SmallApi, clock: Clock) -> None:
    replica = Replica(api, clock)
    early = replica.good()

    clock.forward(days=-100)
    leaf = replica.good()

    assert leaf != early
    assert api.trusted() == [replica.authority]
    assert (replica.leaf, replica.unusable) == (leaf, "")


def test_without_the_time_of_the_api_server_nothing_is_signed(api: SmallApi, clock: Clock) -> None:
    replica = Replica(api, clock)
    leaf = replica.good()
    api.clock = None

    assert replica.check().problem is None
    clock.forward(days=70)
    assert "does not say its time" in str(replica.check().problem)
    assert (replica.leaf, replica.clock_ahead) == (leaf, None)
