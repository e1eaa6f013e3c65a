"""The options of `usher audit --serve`."""

from datetime import timedelta

import click
import pytest
from click.testing import CliRunner

from usher.cli import audit, inputs


@inputs.command("audit", formats="")
def command(*, serving: audit.Serving | None, **_: object) -> None:
    click.echo("no server" if serving is None else f"{serving.place} {serving.every} {serving.remote}")


def run(*arguments: str) -> str:
    return CliRunner().invoke(command, arguments).output


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("8090", ("127.0.0.1", 8090)),
        (":8090", ("127.0.0.1", 8090)),
        ("localhost:1", ("localhost", 1)),
        ("[::1]:8090", ("::1", 8090)),
    ],
)
def test_an_address_is_of_this_machine_unless_it_names_another(address: str, place: tuple[str, int]) -> None:
    assert run("--serve", address) == f"{place} {timedelta(hours=1)} False\n"


@pytest.mark.parametrize("address", ["here", "127.0.0.1", "127.0.0.1:", ":99999", "127.0.0.1:x"])
def test_an_address_without_a_port_is_refused_with_an_example(address: str) -> None:
    assert "write for example 127.0.0.1:8090" in run("--serve", address)


def test_audits_are_made_as_often_as_the_user_says() -> None:
    assert run("--serve", "1", "--every", "30m", "--serve-remote") == "('127.0.0.1', 1) 0:30:00 True\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("often", "is not a number with s, m, h, d or w"), ("1s", "between 10s and 365d"), ("", "for example 7d")],
)
def test_a_duration_is_bounded(text: str, reason: str) -> None:
    assert reason in run("--serve", "1", "--every", text)


def test_without_serve_there_is_no_server_and_its_options_are_refused() -> None:
    assert run() == "no server\n"
    assert "belong to --serve" in run("--every", "1h")
    assert "belong to --serve" in run("--serve-remote")
