"""The proxy of a request, chosen as in kubectl: by environment variables, or by a kubeconfig."""

import base64
import ipaddress
import os
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import urllib3

from usher import errors
from usher.dataclass import dataclass

_PORTS: Final = {"http": 80, "https": 443}

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """A proxy. `url` has no credentials, so that it may be shown."""

    url: str
    source: str
    """The variable or file that names it, for messages."""
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """Credentials for the proxy, which the server behind it never sees."""
        if not self.user and not self.password:
            return {}
        pair = f"{self.user}:{self.password}".encode()
        return {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode()}"}

    def context(self) -> ssl.SSLContext | None:
        """The TLS settings for the proxy itself: it trusts the CAs of the system, not those of the server behind it.

        It shows no client certificate: that is for the server.
        """
        return ssl.create_default_context() if self.url.startswith("https:") else None


def of_environment(url: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy for a URL by HTTPS_PROXY or HTTP_PROXY, else ALL_PROXY; None where NO_PROXY names its host.

    The same names in lower case win. Requests to this machine never use a proxy, so that ports of kubectl port-forward
    stay reachable.

    Raises:
        InputError: the variable holds no proxy that usher can use.
    """
    parts = urlsplit(url)
    name = next((name for name in _variables(parts.scheme) if environment.get(name)), "")
    excluded = environment.get("no_proxy") or environment.get("NO_PROXY", "")
    if not name or _is_local(parts) or _is_excluded(parts, excluded):
        return None
    return read(environment[name], source=name)


def read(text: str, *, source: str) -> Proxy:
    """The proxy of a URL, which may have `user:password@` and may lack http://.

    Raises:
        InputError: it is not the URL of an HTTP proxy. The message names the source, and not the URL with its password.
    """
    text = text.strip()
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        found = urllib3.util.parse_url(url)
        usable = parts.scheme in _PORTS and found.host and found.port != 0 and url.isprintable()
    except ValueError:
        usable = False
    if not usable:
        raise errors.InputError(
            f"{source}: usher takes the URL of an HTTP proxy, like http://user:password@proxy.example.com:3128; mend "
            "it, or name the server in NO_PROXY"
        )
    return Proxy(
        url=url,
        source=source,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )


def _variables(scheme: str) -> Iterator[str]:
    for name in (f"{scheme}_proxy", "all_proxy"):
        yield name
        yield name.upper()


def _is_local(parts: SplitResult) -> bool:
    address = _address(parts.hostname or "")
    return parts.hostname == "localhost" or (address is not None and address.is_loopback)


def _is_excluded(parts: SplitResult, excluded: str) -> bool:
    host = (parts.hostname or "").rstrip(".")
    port = str(parts.port or _PORTS.get(parts.scheme))
    return any(_matches(entry, host, port) for entry in excluded.lower().replace(",", " ").split())


def _matches(entry: str, host: str, port: str) -> bool:
    """Whether an entry of NO_PROXY is `*`, a network that has the host, its name, or a domain above it."""
    if entry == "*":
        return True
    address = _address(host)
    if address is not None and "/" in entry:
        try:
            return address in ipaddress.ip_network(entry, strict=False)
        except ValueError:
            return False
    name, colon, number = entry.rpartition(":")
    if colon and number.isdecimal() and _address(entry) is None:
        if number != port:
            return False
        entry = name
    named = _address(entry.strip("[]"))
    if address is not None or named is not None:
        return address == named
    domain = entry.removeprefix("*").strip(".")
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _address(text: str) -> _Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
