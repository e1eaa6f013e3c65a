"""Which proxy a URL goes through."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from usher import errors
from usher.cluster import http_clients

URL = "https://prometheus.example.com/api"
PROXY = "http://proxy.example.com:3128"


def through(url: str, **environment: str) -> str:
    """The URL of the proxy; empty where there is none."""
    found = http_clients.proxy_of_environment(url, environment)
    return found.url if found else ""


def test_the_scheme_of_the_url_chooses_the_variable_and_lower_case_wins() -> None:
    assert through(URL, HTTPS_PROXY=PROXY) == PROXY
    assert through(URL, HTTP_PROXY=PROXY) == ""
    assert through("http://prometheus.example.com", HTTP_PROXY=PROXY) == PROXY
    assert through("http://prometheus.example.com", HTTPS_PROXY=PROXY) == ""
    assert through(URL, HTTPS_PROXY="http://upper:1", https_proxy="http://lower:1") == "http://lower:1"
    assert through(URL, ALL_PROXY="http://all:1") == "http://all:1"
    assert through(URL, all_proxy="http://all:1", HTTPS_PROXY=PROXY) == PROXY
    assert through(URL, HTTPS_PROXY="") == ""


@pytest.mark.parametrize(
    "url", ["http://localhost:9090", "http://127.0.0.1:9090", "http://127.9.9.9", "http://[::1]:1"]
)
def test_this_machine_is_never_asked_through_a_proxy(url: str) -> None:
    assert through(url, HTTP_PROXY=PROXY) == ""


@pytest.mark.parametrize(
    ("url", "excluded"),
    [
        (URL, "*"),
        (URL, "other.org,prometheus.example.com"),
        (URL, "other.org, Example.COM"),
        (URL, ".example.com"),
        (URL, "*.example.com"),
        (URL, "prometheus.example.com:443"),
        ("https://prometheus.example.com.:8443", "example.com:8443"),
        ("http://10.1.2.3:9090", "10.0.0.0/8"),
        ("http://10.1.2.3:9090", "10.1.2.3"),
        ("http://10.1.2.3:9090", "10.1.2.3:9090"),
        ("http://[fd00::7]:9090", "fd00::/8"),
        ("http://[fd00::7]:9090", "[fd00::7]:9090"),
        ("http://[fd00::7]:9090", "fd00:0::7"),
    ],
)
def test_a_host_that_no_proxy_names_is_asked_itself(url: str, excluded: str) -> None:
    assert through(url, HTTP_PROXY=PROXY, HTTPS_PROXY=PROXY, NO_PROXY=excluded) == ""
    assert through(url, HTTP_PROXY=PROXY, HTTPS_PROXY=PROXY, no_proxy=excluded) == ""


@pytest.mark.parametrize(
    ("url", "excluded"),
    [
        (URL, "example.org"),
        (URL, "ample.com"),
        (URL, "prometheus.example.com:9090"),
        (URL, "10.0.0.0/8,.,:443,//"),
        ("http://11.1.2.3", "10.0.0.0/8,0/0/0,fd00::/8,1.2.3"),
        ("http://[fd00::7]:9090", "fd00::8,7"),
    ],
)
def test_a_host_that_no_proxy_does_not_name_goes_through_the_proxy(url: str, excluded: str) -> None:
    assert through(url, HTTP_PROXY=PROXY, HTTPS_PROXY=PROXY, NO_PROXY=excluded) == PROXY


def test_credentials_become_a_header_and_are_never_shown() -> None:
    found = http_clients.proxy_of_environment(URL, {"HTTPS_PROXY": "me:p%40ss-word@proxy.example.com:3128/"})

    assert found is not None
    assert found.url == PROXY
    assert found.headers == {"Proxy-Authorization": "Basic bWU6cEBzcy13b3Jk"}
    assert "ss-word" not in repr(found)
    assert http_clients.read_proxy(PROXY, source="here").headers == {}


@pytest.mark.parametrize(
    "text",
    ["socks5://me:secret@proxy:1080", "http://", "http://me:secret@", "http://me:secret@[::1", "http://me:secret@p:0x1",
     "http://me:secret@p:99999", "http://me:secret@a b", "http://me:secret@p\x00q", "secret://"],
)  # fmt: skip
def test_another_url_is_refused_without_its_password(text: str) -> None:
    with pytest.raises(
        errors.InputError, match="HTTPS_PROXY: usher takes the URL of an HTTP proxy, like http"
    ) as found:
        through(URL, HTTPS_PROXY=text)
    assert "secret" not in str(found.value)


@given(st.text(max_size=40))
def test_any_text_is_a_proxy_without_credentials_or_refused(text: str) -> None:
    with contextlib.suppress(errors.InputError):
        found = http_clients.read_proxy(text, source="here")
        assert "@" not in found.url
        assert found.url.startswith(("http://", "https://"))
        assert found.url.isprintable()


@given(st.text(max_size=40))
def test_any_text_may_stand_in_no_proxy(text: str) -> None:
    assert through("https://10.1.2.3", HTTPS_PROXY=PROXY, NO_PROXY=text) in {"", PROXY}
