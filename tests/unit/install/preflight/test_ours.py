"""A preflight judges our own webhooks, certificate and server."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives import serialization

from usher import __version__, paths
from usher.install import preflight
from usher.install.installed_objects import Webhook, read_webhooks
from usher.install.manifests import webhooks
from usher.install.manifests.webhooks import Client
from usher.install.preflight import Point, PointState
from usher.server.certs.certificates import new_authority

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DEPLOYMENT: paths.Object = {
    "spec": {"template": {"spec": {"containers": [{"name": "usher", "image": f"registry/gpu-usher:{__version__}"}]}}}
}


@pytest.fixture(scope="module")
def bundle() -> bytes:
    return new_authority(now=NOW).certificate.public_bytes(serialization.Encoding.PEM)


def registered(bundle: bytes) -> list[Webhook]:
    mutating, validating = webhooks.configurations(client=Client(ca_bundle=bundle))
    return [*read_webhooks([mutating], mutating=True), *read_webhooks([validating], mutating=False)]


def of_webhooks(installed: list[Webhook], *, now: datetime = NOW) -> list[Point]:
    return list(preflight.points_of_webhooks(installed, client=Client(), now=now))


def test_webhooks_as_this_version_prints_them_are_good(bundle: bytes) -> None:
    found = of_webhooks(registered(bundle))

    assert {each.state for each in found} == {PointState.GOOD}
    assert "these fail closed: exemptions.gpu-usher.io" in found[0].text


def test_without_webhooks_admission_judges_nothing() -> None:
    (found,) = of_webhooks([])

    assert (found.state, "admission judges nothing" in found.text) == (PointState.ATTENTION, True)


def test_webhooks_of_an_older_version_lack_kinds_and_webhooks(bundle: bytes) -> None:
    older = []
    for each in registered(bundle)[:-1]:
        rules = each.value["rules"]
        assert isinstance(rules, list)
        older.append(
            Webhook(configuration=each.configuration, mutating=each.mutating, value={**each.value, "rules": rules[:1]})
        )

    texts = [each.text for each in of_webhooks(older) if each.state is PointState.ATTENTION]
    assert any(text.startswith("not registered: ") for text in texts)
    assert any("usher is not asked about" in text for text in texts)


@pytest.mark.parametrize(
    ("later", "state", "says"),
    [
        (timedelta(days=1), PointState.GOOD, "valid until"),
        (timedelta(days=350), PointState.ATTENTION, "valid until"),
        (timedelta(days=400), PointState.ATTENTION, "ended on"),
    ],
)
def test_the_ca_certificates_are_held_against_the_date(
    bundle: bytes, later: timedelta, state: PointState, says: str
) -> None:
    found = of_webhooks(registered(bundle), now=NOW + later)[-1]

    assert (found.topic, found.state, says in found.text) == ("certificate", state, True)


@pytest.mark.parametrize("broken", [b"", b"not PEM"], ids=["empty", "not PEM"])
def test_a_webhook_that_trusts_nothing_fails_every_call(broken: bytes) -> None:
    found = of_webhooks(registered(broken))[-1]

    assert (found.state, "no readable caBundle" in found.text) == (PointState.ATTENTION, True)


def states(deployment: paths.Object | None, *, endpoints: int | None, refusal: str | None) -> list[PointState]:
    return [each.state for each in preflight.points_of_server(deployment, endpoints=endpoints, refusal=refusal)]


def test_a_server_with_two_endpoints_that_answers_is_good() -> None:
    assert states(DEPLOYMENT, endpoints=2, refusal="") == [PointState.GOOD, PointState.GOOD]


def test_one_endpoint_is_too_few_and_a_refusal_is_said() -> None:
    assert states(DEPLOYMENT, endpoints=1, refusal="no route to host") == [PointState.ATTENTION, PointState.ATTENTION]


def test_what_may_not_be_read_is_not_known() -> None:
    assert states(DEPLOYMENT, endpoints=None, refusal=None) == [PointState.NOT_KNOWN, PointState.NOT_KNOWN]


def test_another_version_and_a_missing_server_are_said() -> None:
    older: paths.Object = {"spec": {"template": {"spec": {"containers": [{"image": "gpu-usher:0.0.1"}]}}}}

    assert states(older, endpoints=2, refusal="")[0] is PointState.ATTENTION
    assert states(None, endpoints=0, refusal="") == [PointState.ATTENTION]


@pytest.mark.parametrize(
    ("version", "state"),
    [
        ({"major": "1", "minor": "33"}, PointState.GOOD),
        ({"major": "1", "minor": "30+"}, PointState.GOOD),
        ({"major": "1", "minor": "29"}, PointState.ATTENTION),
        ({"major": "1"}, PointState.NOT_KNOWN),
        ({"major": "x", "minor": "y"}, PointState.NOT_KNOWN),
    ],
    ids=str,
)
def test_the_version_of_kubernetes_is_old_enough_new_enough_or_not_known(
    version: paths.Object, state: PointState
) -> None:
    assert preflight.point_of_api_server(version).state is state


def test_namespaces_that_a_label_exempts_are_listed() -> None:
    namespaces = {"a": {"gpu-usher.io/exempt": "true"}, "b": {"gpu-usher.io/exempt": "false"}, "c": {}}

    (found,) = preflight.points_of_exemptions(namespaces, label="gpu-usher.io/exempt")
    assert found.text.endswith("exempts 1 namespaces: a")
