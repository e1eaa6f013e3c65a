"""The page of the last audit: read-only, on this machine alone, and an old report stays while new audits fail."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from builders import audited_clusters as clusters
from clocks import Calendar
from unit.server import asgi
from usher import errors
from usher.audit.document import Audit
from usher.server import audit_page
from usher.server.audit_page import Refresher, Rendered
from usher.server.ports import Address

POLICY = "default-src 'none'; script-src 'sha256-x'"


NOW = datetime(2026, 11, 23, 6, 0, tzinfo=UTC)


def rendered(audit: Audit, notices: tuple[str, ...]) -> Rendered:
    text = " ".join(notices)
    return Rendered(html=f"<p>{audit.cluster.name}: {text}".encode(), json=audit.model_dump_json().encode())


def refresher(make: Callable[[], Audit], clock: Calendar | None = None) -> Refresher:
    return Refresher(make, rendered, every=timedelta(hours=1), now=clock or Calendar(NOW))


async def ask(
    found: Refresher, path: str, *, method: str = "GET", local: bool = True, host: str = "127.0.0.1:8090"
) -> asgi.Answer:
    app = audit_page.page_app(found, policy=POLICY, local=local)
    return await asgi.call(app, path, asgi.chunks(b""), method=method, headers=[(b"host", host.encode())])


def headers(answer: asgi.Answer) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in answer.headers}


async def test_the_page_and_the_document_are_those_of_the_last_audit() -> None:
    found = refresher(clusters.audit)
    found.refresh()

    page, document = await ask(found, "/"), await ask(found, "/audit.json")

    assert page.status == 200
    assert "prod-eu-1: The next audit begins at about 2026-11-23 07:00 UTC" in page.body.decode()
    assert Audit.model_validate_json(document.body) == clusters.audit()


async def test_before_the_first_report_the_page_says_that_it_is_being_made() -> None:
    answer = await ask(refresher(clusters.audit), "/")

    assert answer.status == 503
    assert "The first audit is running" in answer.body.decode()
    assert headers(answer)["retry-after"] == "5"


async def test_a_first_audit_that_fails_says_why() -> None:
    def fails() -> Audit:
        raise errors.ClusterError("the API server does not answer")

    found = refresher(fails)
    found.refresh()

    for path in ("/", "/audit.json"):
        answer = await ask(found, path)
        assert answer.status == 503
        assert answer.body.decode() == "The audit of 2026-11-23 06:00 UTC failed: the API server does not answer\n"


async def test_an_audit_that_fails_leaves_the_old_report_with_its_age_and_the_reason() -> None:
    clock = Calendar(NOW)
    made = [clusters.audit()]

    def once() -> Audit:
        if not made:
            raise errors.ClusterError("<b>no route</b>")
        return made.pop()

    found = refresher(once, clock)
    found.refresh()
    clock.now += timedelta(hours=1, minutes=5)
    found.refresh()

    text = (await ask(found, "/")).body.decode()
    assert "The audit of 2026-11-23 07:05 UTC failed: <b>no route</b>." in text
    assert "made 1 h 5 min before" in text
    assert (await ask(found, "/audit.json")).status == 200


async def test_a_later_success_takes_the_reason_away() -> None:
    answers: list[Audit | None] = [clusters.audit(), None, clusters.audit()]

    def by_turns() -> Audit:
        audit = answers.pop()
        if audit is None:
            raise errors.ClusterError("no route")
        return audit

    found = refresher(by_turns)
    for _ in range(3):
        found.refresh()

    assert found.state.problem == ""
    assert "failed" not in (await ask(found, "/")).body.decode()


def test_an_unexpected_error_shows_its_type_and_not_its_text() -> None:
    def fails() -> Audit:
        raise RuntimeError("password=hunter2")

    found = refresher(fails)
    found.refresh()

    assert "unexpected RuntimeError" in found.state.problem
    assert "hunter2" not in found.state.problem


@pytest.mark.parametrize("path", ["/", "/audit.json", "/healthz", "/other"])
async def test_every_answer_forbids_frames_sniffing_and_caches(path: str) -> None:
    found = refresher(clusters.audit)
    found.refresh()

    sent = headers(await ask(found, path))

    assert "frame-ancestors 'none'" in sent["content-security-policy"]
    assert sent["x-content-type-options"] == "nosniff"
    assert sent["cache-control"] == "no-store"
    assert sent["x-frame-options"] == "DENY"


async def test_the_page_has_its_own_policy_and_other_answers_allow_nothing() -> None:
    found = refresher(clusters.audit)
    found.refresh()

    assert headers(await ask(found, "/"))["content-security-policy"].startswith(POLICY)
    assert headers(await ask(found, "/audit.json"))["content-security-policy"].startswith("default-src 'none';")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_nothing_can_be_written(method: str) -> None:
    assert (await ask(refresher(clusters.audit), "/", method=method)).status == 405


@pytest.mark.parametrize("host", ["evil.example.com", "localhost.evil.example.com", "192.0.2.1", "127.0.0.1.nip.io"])
async def test_a_request_that_names_another_host_gets_no_report(host: str) -> None:
    found = refresher(clusters.audit)
    found.refresh()

    assert (await ask(found, "/audit.json", host=host)).status == 421
    assert (await ask(found, "/audit.json", host=host, local=False)).status == 200


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:1", "[::1]:1", "127.0.0.2:1"])
async def test_every_name_of_this_machine_is_answered(host: str) -> None:
    assert (await ask(refresher(clusters.audit), "/healthz", host=host)).body == b"ok\n"


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.com"])
def test_an_address_for_other_machines_needs_an_option(host: str) -> None:
    with pytest.raises(errors.InputError, match="add --serve-remote"):
        audit_page.serve(
            refresher(clusters.audit), Address(host=host, port=0), policy=POLICY, remote=False, started=print
        )
