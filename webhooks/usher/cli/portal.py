"""`kubectl usher`, which is `usher portal`: questions to a running server, with the rights of the person who asks."""

import base64
import contextlib
import http.client
import json
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import click
from msgspec import Struct

from usher import errors
from usher.cli import inputs, main
from usher.extensions import installed_programs

_SECONDS: Final = 30.0
_ADMIN_PORT: Final = 8080


class Asking(Struct, frozen=True, kw_only=True):
    """Where to ask, and as whom."""

    url: str
    ca_file: Path | None
    server_namespace: str
    kubeconfig: Path | None
    context_name: str | None
    format_name: str


class Connection(http.client.HTTPSConnection):
    """A connection to an address that is not the name in the certificate, because a tunnel leads to it."""

    def __init__(self, host: str, port: int, *, name: str, tls: ssl.SSLContext) -> None:
        super().__init__(host, port, timeout=_SECONDS, context=tls)
        self._name, self._tls = name, tls

    def connect(self) -> None:
        http.client.HTTPConnection.connect(self)
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


@contextlib.contextmanager
def portal_address(asking: Asking) -> Iterator[tuple[str, int, str, ssl.SSLContext]]:
    """Host, port, name in the certificate, and the CAs to trust, as long as the context lasts."""
    if asking.url:
        parts = urlsplit(asking.url)
        if parts.scheme != "https" or not parts.hostname:
            raise errors.InputError(f"--url {asking.url} is not an https URL; the token must not go over plain HTTP")
        yield parts.hostname, parts.port or 443, parts.hostname, ssl.create_default_context(cafile=asking.ca_file)
        return
    tls = ssl.create_default_context(cafile=asking.ca_file, cadata=None if asking.ca_file else _ca_bundle(asking))
    with _forwarded(asking) as port:
        yield "127.0.0.1", port, f"gpu-usher.{asking.server_namespace}.svc", tls


def _ca_bundle(asking: Asking) -> str:
    """The CA that the API server trusts. Raises ClusterError if usher may not read it."""
    from usher.cluster import connection

    api = connection.connect(kubeconfig=asking.kubeconfig, context=asking.context_name)
    answer = api.get("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gpu-usher")
    webhooks: Any = answer.value.get("webhooks") if answer.status == http.client.OK else None
    bundle = webhooks[0].get("clientConfig", {}).get("caBundle") if webhooks else ""
    if not bundle:
        raise errors.ClusterError(
            "the CA of the portal is not known: you may not read the webhook configuration gpu-usher; get the CA from "
            "an administrator and name it with --ca-file"
        )
    return base64.b64decode(bundle).decode()


@contextlib.contextmanager
def _forwarded(asking: Asking) -> Iterator[int]:
    """A local port that leads to the server, as long as the context lasts."""
    kubectl = installed_programs.find_program("kubectl")
    if kubectl is None:
        raise errors.InputError("kubectl is not installed; install it, or name the portal with --url")
    given = (("--kubeconfig", asking.kubeconfig), ("--context", asking.context_name))
    arguments = [f"{name}={value}" for name, value in given if value is not None]
    command = [
        *(kubectl, "port-forward", f"--namespace={asking.server_namespace}", *arguments),
        *("deployment/gpu-usher", f":{_ADMIN_PORT}"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - the user's own kubectl
        try:
            line = process.stdout.readline() if process.stdout is not None else ""
            port = line.partition("127.0.0.1:")[2].partition(" ")[0]
            if not port.isdecimal():
                message = process.stderr.read().strip() if process.stderr is not None else ""
                raise errors.ClusterError(
                    f"kubectl port-forward does not reach the server: {message or 'without a reason'}"
                )
            yield int(port)
        finally:
            process.terminate()


_API: Final = "/api/v1"
_STDIN: Final = "-"


@click.group()
def portal() -> None:
    """Ask a running server (`kubectl usher`): what it decides, when a job could start, what a quota has left.

    The server must run with --portal. By default the question goes through `kubectl port-forward`, with the token of
    your kubeconfig.
    """


@inputs.command("portal evaluate", group=portal)
@click.pass_context
def evaluate(context: click.Context, *, file: str, namespace: str, asking: Asking) -> None:
    found = _send_question(asking, "POST", f"/evaluate?namespace={quote(namespace)}", body=_content(file))
    _print_answer(asking, found, _decisions)
    if found["summary"]["findings"].get("deny"):
        context.exit(main.FINDINGS)


@inputs.command("portal queue", group=portal)
def queue(*, file: str, namespace: str, asking: Asking) -> None:
    _print_answer(
        asking, _send_question(asking, "POST", f"/queue?namespace={quote(namespace)}", body=_content(file)), _outlooks
    )


@inputs.command("portal explain", group=portal)
def explain(*, code_or_name: str, asking: Asking) -> None:
    _print_answer(asking, _send_question(asking, "GET", f"/explain/{quote(code_or_name, safe='')}"), _page)


@inputs.command("portal quota", group=portal)
def quota(*, name: str, asking: Asking) -> None:
    found = _send_question(asking, "GET", f"/quotas/{quote(name, safe='')}" if name else "/quotas")
    _print_answer(asking, [found] if name else found, _quotas)


def _content(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == _STDIN else Path(file).read_bytes()
    except OSError as error:
        raise errors.InputError(f"{file} cannot be read: {error.strerror}") from None


def _send_question(asking: Asking, method: str, path: str, *, body: bytes = b"") -> Any:  # noqa: ANN401 - JSON
    """The answer of the portal. Raises ClusterError if it refuses, or does not answer."""
    from usher.cluster import connection

    token = connection.token(kubeconfig=asking.kubeconfig, context=asking.context_name)
    with portal_address(asking) as (host, port, name, tls):
        tunnel = Connection(host, port, name=name, tls=tls)
        try:
            with contextlib.closing(tunnel):
                tunnel.request(method, f"{_API}{path}", body=body, headers={"Authorization": token})
                answer = tunnel.getresponse()
                text = answer.read()
        except ssl.SSLCertVerificationError as error:
            raise errors.ClusterError(
                f"the certificate of the portal cannot be trusted: {error.verify_message}; name its CA with --ca-file"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            raise errors.ClusterError(
                f"the portal does not answer: {error}; does the server run with --portal?"
            ) from None
    return _value(answer.status, text)


def _value(status: int, text: bytes) -> Any:  # noqa: ANN401 - JSON
    try:
        value = json.loads(text)
    except ValueError:
        value = {}
    if status == http.client.OK:
        return value
    detail = value.get("detail") if isinstance(value, Mapping) else None
    if status == http.client.NOT_FOUND and detail in (None, "Not Found"):
        detail = "there is no portal; does the server run with --portal?"
    raise errors.ClusterError(f"the portal answers {status}: {detail or 'without a reason'}")


def _print_answer(asking: Asking, found: Any, lines: Callable[[Any], Iterator[str]]) -> None:  # noqa: ANN401 - JSON
    if asking.format_name == "json":
        click.echo(json.dumps(found, indent=2, sort_keys=True))
    else:
        click.echo("\n".join(map(_printable, lines(found))))


def _printable(text: str) -> str:
    """The text without control characters: names come from the cluster and must not control a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _decisions(found: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    for each in found["workloads"]:
        yield f"{each['kind']} {each['namespace']}/{each['name']}: {each.get('outcome') or 'allow'}"
        for finding in each.get("findings", []):
            remedy = f". {finding['remedy']}" if finding.get("remedy") else ""
            yield f"  {finding['outcome']}  {finding['code']} {finding['name']}: {finding['message']}{remedy}"
    if not found["workloads"]:
        yield "no object makes pods"


def _outlooks(found: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    for each in found["workloads"]:
        yield f"{each['kind']} {each['namespace']}/{each['name']}: {each['answer']}"
        for section in each.get("sections", []):
            yield f"  {section['authority']}: {section['answer']}"
            yield from (f"    {reason}" for reason in section.get("reasons", []))
    if not found["workloads"]:
        yield "no object makes pods"


def _page(found: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    yield f"{found['code']} {found['name']}: {found['title']}"
    yield f"outcome: {found['outcome']}"
    yield from (text for text in (found["why"], found["description"], found["remediation"]) if text)


def _quotas(found: Any) -> Iterator[str]:  # noqa: ANN401 - JSON
    for each in found:
        for limit in each["limits"]:
            classes = f" ({', '.join(limit['priorityClasses'])})" if limit["priorityClasses"] else ""
            amounts = ", ".join(f"{limit['used'][unit]} of {hard} {unit}" for unit, hard in limit["hard"].items())
            yield f"{each['name']}{classes}: {amounts} used"
        yield from (f"{each['name']}: {problem}" for problem in each["problems"])
    if not found:
        yield "there are no GPUQuotas"
