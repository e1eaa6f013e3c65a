"""Decisions around the servers: when they are ready, and how their addresses are written."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from usher.errors import ClusterError
from usher.server import ports, serve
from usher.server.certs.serving import CertificateSource

EXPIRES = datetime(2026, 11, 21, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("started", "stopping", "left", "missing"),
    [
        (True, False, timedelta(seconds=1), ""),
        (False, False, timedelta(seconds=1), "the webhook port is not open"),
        (True, True, timedelta(seconds=1), "the server is stopping"),
        (True, False, timedelta(0), "the certificate expired on 2026-11-21 08:30 UTC"),
    ],
)
def test_a_server_is_ready_while_it_can_answer(*, started: bool, stopping: bool, left: timedelta, missing: str) -> None:
    leaf = SimpleNamespace(not_valid_after_utc=EXPIRES)
    source = cast(CertificateSource, SimpleNamespace(leaf=leaf, problem=None))

    assert serve._missing(started=started, stopping=stopping, source=source, now=EXPIRES - left) == missing


@pytest.mark.parametrize(
    ("problem", "missing"),
    [
        (None, "there is no certificate yet: usher is making it"),
        (ClusterError("no answer"), "there is no certificate yet: no answer"),
    ],
)
def test_a_server_without_its_first_certificate_is_not_ready(problem: ClusterError | None, missing: str) -> None:
    source = cast(CertificateSource, SimpleNamespace(leaf=None, problem=problem))

    assert serve._missing(started=True, stopping=False, source=source, now=EXPIRES) == missing


@pytest.mark.parametrize(
    ("host", "written"),
    [("127.0.0.1", "127.0.0.1:8443"), ("localhost", "localhost:8443"), ("::1", "[::1]:8443")],
)
def test_an_address_is_written_as_in_a_url(host: str, written: str) -> None:
    assert str(ports.Address(host=host, port=8443)) == written
