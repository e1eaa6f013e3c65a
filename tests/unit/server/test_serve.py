"""Decisions around the servers: when they are ready, and how their addresses are written."""

from types import SimpleNamespace
from typing import cast

import pytest

from usher.errors import ClusterError
from usher.server import ports, serve
from usher.server.certs.serving import CertificateSource


@pytest.mark.parametrize(
    ("started", "stopping", "unusable", "missing"),
    [
        (True, False, "", ""),
        (False, False, "", "the webhook port is not open"),
        (True, True, "", "the server is stopping"),
        (True, False, "the certificate expired", "the certificate expired"),
    ],
)
def test_a_server_is_ready_while_it_can_answer(*, started: bool, stopping: bool, unusable: str, missing: str) -> None:
    source = cast(CertificateSource, SimpleNamespace(leaf=object(), problem=None, unusable=unusable))

    assert serve._missing(started=started, stopping=stopping, source=source) == missing


@pytest.mark.parametrize(
    ("problem", "missing"),
    [
        (None, "there is no certificate yet: usher is making it"),
        (ClusterError("no answer"), "there is no certificate yet: no answer"),
    ],
)
def test_a_server_without_its_first_certificate_is_not_ready(problem: ClusterError | None, missing: str) -> None:
    source = cast(CertificateSource, SimpleNamespace(leaf=None, problem=problem))

    assert serve._missing(started=True, stopping=False, source=source) == missing


@pytest.mark.parametrize(
    ("host", "written"),
    [("127.0.0.1", "127.0.0.1:8443"), ("localhost", "localhost:8443"), ("::1", "[::1]:8443")],
)
def test_an_address_is_written_as_in_a_url(host: str, written: str) -> None:
    assert str(ports.Address(host=host, port=8443)) == written
