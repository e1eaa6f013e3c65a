"""Further headers of requests to Prometheus, and the labels that choose its series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors
from usher.audit.prometheus import endpoint

SECRET = "hush-4711"


def test_headers_come_from_options_and_from_the_variable_and_the_option_wins() -> None:
    environment = {endpoint.HEADERS_VARIABLE: "\nX-Api-Key = a=b c \n x-scope-orgid=other\n"}

    found = endpoint.read_headers(["X-Scope-OrgID=team-a|team-b"], environment)

    assert found == (("X-Api-Key", "a=b c"), ("X-Scope-OrgID", "team-a|team-b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SECRET, "header 1 is not NAME=VALUE"),
        (f"Bad Name={SECRET}", "header 1 is not NAME=VALUE"),
        (f"X\r\nY={SECRET}", "header 1 is not NAME=VALUE"),
        (f"X-Key={SECRET}\r\nHost: elsewhere", "the value of X-Key has to be 1 to 8192 printable ASCII characters"),
        (f"X-Key={SECRET}\u00e9", "the value of X-Key has to be"),
        ("X-Key=", "the value of X-Key has to be"),
        ("X-Key=" + SECRET * 1000, "the value of X-Key has to be"),
        (f"Host={SECRET}", "usher sets Host itself"),
        (f"transfer-encoding={SECRET}", "usher sets transfer-encoding itself"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(text: str, message: str) -> None:
    with pytest.raises(errors.InputError, match=message) as found:
        endpoint.read_headers([text], {})

    assert str(found.value).startswith("--prometheus-header: ")
    assert SECRET not in str(found.value)


def test_a_header_that_is_given_twice_or_too_many_are_refused() -> None:
    with pytest.raises(errors.InputError, match=r"\$USHER_PROMETHEUS_HEADERS: x-a is given twice"):
        endpoint.read_headers([], {endpoint.HEADERS_VARIABLE: "X-A=1\nx-a=2"})
    with pytest.raises(errors.InputError, match="17 headers are given; usher sends at most 16"):
        endpoint.read_headers([f"X-{number}=1" for number in range(17)], {})


@given(st.text())
def test_a_header_that_is_accepted_is_one_line_of_ascii(text: str) -> None:
    try:
        found = endpoint.read_headers([text], {})
    except errors.InputError:
        return
    ((name, value),) = found
    assert (name + value).isascii()
    assert (name + value).isprintable()
    assert ":" not in name


def test_labels_choose_series_and_may_name_the_cluster() -> None:
    found = endpoint.read_labels(["cluster={cluster}", "region=eu"], cluster="prod-1")

    assert found == (("cluster", "prod-1"), ("region", "eu"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["cluster"], "'cluster' is not NAME=VALUE, for example cluster=prod-1"),
        (["a-b=c"], "is not NAME=VALUE"),
        (["a="], "is not NAME=VALUE"),
        (["a=b\n"], "is not NAME=VALUE"),
        (["a=" + "b" * 2000], "is not NAME=VALUE"),
        (["a=b", "a=c"], "a is given twice"),
        ([f"a{number}=b" for number in range(17)], "17 labels are given"),
        (["a={cluster}"], "needs the name of the cluster; give it with --cluster-name NAME"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(given: list[str], message: str) -> None:
    with pytest.raises(errors.InputError, match=message):
        endpoint.read_labels(given, cluster="")
