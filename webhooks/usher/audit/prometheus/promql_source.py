"""Series of a Prometheus: PromQL in parts that Prometheus answers, requests within limits of time and size."""

import base64
import math
import time
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urlencode

import orjson
import urllib3
from msgspec import Struct, field

from usher import __version__, errors
from usher.audit.prometheus.endpoint import Address
from usher.audit.usage.series import Answer, Grid, Question, Series
from usher.cluster import http_clients

_CLIENT_CERTIFICATE: Final = "give a client certificate that the server accepts, with --prometheus-cert FILE"

REMEDIES: Final = (
    ("certificate has expired", "renew the certificate of the server"),
    ("certificate is not yet valid", "compare the clocks of both machines"),
    ("Hostname mismatch", "write a host name of the certificate into the URL"),
    ("IP address mismatch", "write a host name of the certificate into the URL"),
    ("CERTIFICATE_VERIFY_FAILED", "give its CA with --prometheus-ca FILE"),
    ("certificate required", _CLIENT_CERTIFICATE),
    # Servers built with older versions of Go also send this to clients without a certificate.
    ("alert bad certificate", _CLIENT_CERTIFICATE),
    ("alert unknown ca", _CLIENT_CERTIFICATE),
    ("alert certificate expired", "renew the certificate of --prometheus-cert"),
    ("WRONG_VERSION_NUMBER", "this port does not speak TLS: write http:// into the URL"),
    ("record layer failure", "this port does not speak TLS: write http:// into the URL"),
)
"""Remedies by parts of OpenSSL's and Python's messages. The first part that occurs in a message decides."""

LARGEST_ANSWER: Final = 64 * 2**20
"""Bytes of one answer, after decompression."""

_TIMEOUT: Final = urllib3.Timeout(connect=5, read=60)
_LONGEST_ANSWER: Final = 120.0
"""Seconds from the request to the end of its answer. Prometheus itself stops a query after two minutes."""

_LONGEST_IN_ALL: Final = 3600.0
"""Seconds for all requests of a client, including the waits between them."""

_CHUNK: Final = 256 * 2**10
_SHORTEST_SECRET: Final = 6
"""Length from which messages hide credentials. Shorter ones may be parts of other words."""
_BUSY: Final = frozenset({429, 502, 503, 504})
_TOO_MUCH: Final = frozenset({422, 503, 504})
"""Statuses with which Prometheus and gateways refuse a query that takes too many samples or too long. With Retry-After
they mean that the server is busy.
"""


class TooMuchError(errors.PrometheusError):
    """The answer is too large, or the query too expensive. A shorter range may work."""


class _Answer(Struct, frozen=True, kw_only=True):
    status: int
    retry_after: str | None
    body: bytes

    @property
    def asks_to_wait(self) -> bool:
        """Whether the server is busy, independent of the query."""
        return self.status == 429 or (self.status in _BUSY and self.retry_after is not None)


class Client:
    """Sends questions to one Prometheus, which answers in plain JSON."""

    def __init__(
        self,
        address: Address,
        *,
        largest_answer: int = LARGEST_ANSWER,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = address.url
        self._largest = largest_answer
        self._clock = clock
        self._wait = wait
        self._headers = _headers(address)
        self._through = f" through the proxy {address.proxy.url}" if address.proxy else ""
        self._secrets = (
            *(address.token, address.password, address.proxy.password if address.proxy else ""),
            *(value for _, value in address.headers),
        )
        self._pool = _pool(address)
        self._ends: float | None = None

    def get(self, path: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        """The JSON object of an answer with `status` `success`.

        Raises:
            TooMuchError: the answer or the query exceeds a limit.
            PrometheusError: there is no usable answer.
        """
        answer = self._patiently(path, query)
        status, body = answer.status, answer.body
        if status in {301, 302, 303, 307, 308}:
            raise self._error(f"it redirects (HTTP {status}); give --prometheus the URL that answers itself")
        if status in {401, 403}:
            raise self._error(f"it does not accept the credentials (HTTP {status}); {_missing(body)}")
        if status == 407:
            raise self._error("the proxy asks for credentials (HTTP 407); write user:password@ into its URL")
        value = _json(body)
        if answer.asks_to_wait:
            raise self._error(f"it stays busy (HTTP {status}){_reason(value)}; try again when it has less to do")
        if status in {502, 503} and self._through and not isinstance(value, dict):
            raise self._error(f"it is not reached (HTTP {status}); name it in NO_PROXY if this proxy does not know it")
        if status in _TOO_MUCH:
            raise TooMuchError(self._text(f"the query takes too much (HTTP {status}){_reason(value)}"))
        if status == 502:
            raise self._error("a gateway before it does not reach it (HTTP 502)")
        if not isinstance(value, dict) or value.get("status") not in {"success", "error"}:
            raise self._error(_url_mistake(status, body))
        if status != 200 or value["status"] == "error":
            raise self._error(f"it refuses the query (HTTP {status}){_reason(value)}")
        return value

    def _patiently(self, path: str, query: Mapping[str, str]) -> _Answer:
        """The answer, after waiting while the server is busy. It repeats other failed requests once."""
        attempt = 1
        while True:
            answer = self._answer(path, query)
            attempts = http_clients.ATTEMPTS if answer.asks_to_wait else 2
            if answer.status not in _BUSY or attempt >= attempts:
                return answer
            self._wait(http_clients.wait_for_busy_server(answer.retry_after, attempt=attempt))
            attempt += 1

    def _answer(self, path: str, query: Mapping[str, str]) -> _Answer:
        now = self._clock()
        self._ends = now + _LONGEST_IN_ALL if self._ends is None else self._ends
        if now > self._ends:
            raise self._error("usher has asked it for an hour, and asks no more; choose a shorter --window")
        try:
            response = self._pool.request(
                "GET",
                f"{self.url}{path}?{urlencode(query)}",
                headers=self._headers,
                redirect=False,
                preload_content=False,
            )
            try:
                body = self._body(response, ends=now + _LONGEST_ANSWER)
                return _Answer(status=response.status, retry_after=response.headers.get("Retry-After"), body=body)
            finally:
                # The unread rest would come as the answer to the next request.
                response.close()
        except urllib3.exceptions.ReadTimeoutError:
            raise TooMuchError(self._text("it has sent nothing for a minute")) from None
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            reason = http_clients.describe_failure(error, REMEDIES)
            raise self._error(f"it cannot be reached: {reason}") from None

    def _body(self, response: urllib3.BaseHTTPResponse, *, ends: float) -> bytes:
        parts: list[bytes] = []
        size = 0
        # Reads the available bytes. Waiting for a whole chunk would mean waiting for a server that sends a byte a
        # minute.
        while part := response.read1(_CHUNK, decode_content=True):
            parts.append(part)
            size += len(part)
            if size > self._largest:
                raise TooMuchError(self._text(f"the answer has more than {self._largest // 2**20} MiB"))
            if self._clock() > ends:
                raise TooMuchError(self._text(f"the answer takes more than {_LONGEST_ANSWER:.0f} s"))
        return b"".join(parts)

    def _error(self, reason: str) -> errors.PrometheusError:
        return errors.PrometheusError(self._text(reason))

    def _text(self, reason: str) -> str:
        return f"Prometheus at {self.url}{self._through}: {self.safe_text(reason)}"

    def safe_text(self, text: str) -> str:
        """A text of the server as one short line, without credentials that it may repeat."""
        for secret in self._secrets:
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "***")
        return http_clients.plain_line(text)


def _pool(address: Address) -> urllib3.PoolManager:
    """Connections to a server. TLS goes through a tunnel, so a proxy sees neither queries nor credentials."""
    # We wait ourselves: urllib3 would obey any Retry-After, even a very long one.
    patience = urllib3.Retry(connect=1, read=0, redirect=0, status=0, other=0, respect_retry_after_header=False)
    if address.proxy is None:
        return urllib3.PoolManager(timeout=_TIMEOUT, retries=patience, ssl_context=address.context())
    return urllib3.ProxyManager(
        address.proxy.url,
        proxy_headers=address.proxy.headers,
        proxy_ssl_context=address.proxy.context(),
        timeout=_TIMEOUT,
        retries=patience,
        ssl_context=address.context(),
    )


def _headers(address: Address) -> dict[str, str]:
    headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"gpu-usher/{__version__}"}
    headers |= dict(address.headers)
    if address.token:
        headers["Authorization"] = f"Bearer {address.token}"
    elif address.user or address.password:
        pair = f"{address.user}:{address.password}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    return headers


def _missing(body: bytes) -> str:
    """The option that a refused request needs."""
    if b"no org id" in body:
        return "name the tenant with --prometheus-header X-Scope-OrgID=TENANT"
    return "see --prometheus-token-file and --prometheus-header, or write user:password@ into the URL"


def _url_mistake(status: int, body: bytes) -> str:
    """The mistake in the URL, from an answer that Prometheus never gives."""
    if status >= 500:
        return f"it fails (HTTP {status}); look at its log, or at that of the gateway before it"
    remedy = (
        "this port speaks TLS: write https:// into the URL"
        if http_clients.NEEDS_TLS in body
        else "write the URL that comes before /api/v1; that of Mimir ends with /prometheus"
    )
    return f"the answer (HTTP {status}) is not that of Prometheus; {remedy}"


def _json(body: bytes) -> object:
    try:
        value: object = orjson.loads(body)
    except ValueError:
        return None
    return value


def _reason(value: object) -> str:
    """The message of Prometheus."""
    text = value.get("error") if isinstance(value, dict) else None
    if not isinstance(text, str) or not text:
        return ""
    return f": {text}"


MOST_POINTS: Final = 11_000
"""The most points of one series in one answer of Prometheus (prometheus/prometheus web/api/v1/api.go)."""

FEWEST_POINTS: Final = 24
"""usher does not split a range with fewer points."""

MOST_SAMPLES: Final = 40_000_000
"""The most samples of one query. They take 320 MB."""

_MOST_LABELS: Final = 256
_LONGEST_LABEL: Final = 2048
_MOST_WARNINGS: Final = 8

Labels = tuple[tuple[str, str], ...]


class Range(Struct, frozen=True, kw_only=True):
    """Points at `start + step`, `start + 2 * step` and so on, in seconds since 1970."""

    start: int
    step: int
    points: int


class Row(Struct, frozen=True, kw_only=True):
    """One series: the values from point `first` on; NaN where Prometheus has no value."""

    labels: Mapping[str, str]
    first: int
    values: "array[float]"


class Rows(Struct, frozen=True, kw_only=True):
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]


class _Gathered(Struct):
    first: int
    values: "array[float]" = field(default_factory=lambda: array("d"))


def read_range(client: Client, expression: str, asked: Range, *, most_samples: int = MOST_SAMPLES) -> Rows:
    """The series of a PromQL expression, in the order of their labels.

    It splits a part of the range in two if its answer is too large or takes too long.

    Raises:
        PrometheusError: there is no usable answer, or the series have more samples than fit.
    """
    gathered: dict[Labels, _Gathered] = {}
    warnings: dict[str, None] = {}
    samples = 0
    for offset, value in _parts(client, expression, asked, offset=0, points=asked.points):
        warnings |= dict.fromkeys(client.safe_text(text) for text in _warnings(value))
        for labels, first, values in _series(client, value, asked, offset=offset):
            samples += _append(gathered, labels, first, values)
            if samples > most_samples:
                raise errors.PrometheusError(
                    f"Prometheus at {client.url}: {expression} has more than {most_samples} samples; choose a shorter "
                    "--window or a longer --step"
                )
    rows = [Row(labels=dict(labels), first=each.first, values=each.values) for labels, each in sorted(gathered.items())]
    return Rows(rows=tuple(rows), warnings=tuple(warnings))


def _parts(
    client: Client, expression: str, asked: Range, *, offset: int, points: int
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The answers to the parts of a range from point `offset` on, each with the offset where it begins."""
    if points > MOST_POINTS:
        half = -(-points // 2)
        yield from _parts(client, expression, asked, offset=offset, points=half)
        yield from _parts(client, expression, asked, offset=offset + half, points=points - half)
        return
    query = {
        "query": expression,
        "start": str(asked.start + (offset + 1) * asked.step),
        "end": str(asked.start + (offset + points) * asked.step),
        "step": str(asked.step),
    }
    try:
        answer = client.get("/api/v1/query_range", query)
    except TooMuchError:
        if points < 2 * FEWEST_POINTS:
            raise
    else:
        yield offset, answer
        return
    half = points // 2
    yield from _parts(client, expression, asked, offset=offset, points=half)
    yield from _parts(client, expression, asked, offset=offset + half, points=points - half)


def _warnings(value: Mapping[str, Any]) -> list[str]:
    found = value.get("warnings")
    texts = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
    if value.get("isPartial") is True:
        # An answer of a VictoriaMetrics cluster that misses one of its storage nodes.
        texts.append("the answer is partial, because a part of the storage did not answer")
    return texts[:_MOST_WARNINGS]


def _series(
    client: Client, value: Mapping[str, Any], asked: Range, *, offset: int
) -> "Iterator[tuple[Labels, int, array[float]]]":
    """The labels of each series, its first point, and its values from there on.

    Raises:
        PrometheusError: the answer is not a matrix of the range.
    """
    data = value.get("data")
    if not isinstance(data, dict) or data.get("resultType") != "matrix" or not isinstance(data.get("result"), list):
        raise _unusable(client, "it has no matrix")
    for each in data["result"]:
        if not isinstance(each, dict):
            raise _unusable(client, "a series is not an object")
        pairs = each.get("values", [])
        if not isinstance(pairs, list) or len(pairs) > MOST_POINTS:
            raise _unusable(client, "the values of a series are not a list of the range")
        labels = _labels(client, each.get("metric"))
        if pairs:
            yield labels, *_values(client, pairs, asked, offset=offset)


def _labels(client: Client, value: object) -> Labels:
    if not isinstance(value, dict) or len(value) > _MOST_LABELS:
        raise _unusable(client, "the labels of a series are not an object")
    for key, text in value.items():
        if not isinstance(text, str) or len(text) > _LONGEST_LABEL or len(key) > _LONGEST_LABEL:
            raise _unusable(client, "a label is not a text, or too long")
    return tuple(sorted(value.items()))


def _values(client: Client, pairs: list[Any], asked: Range, *, offset: int) -> "tuple[int, array[float]]":
    """The first point of a series, and its values from there on."""
    try:
        points = [round((at - asked.start) / asked.step) - 1 for at, _ in pairs]
        numbers = array("d", [float(text) for _, text in pairs])
    except (TypeError, ValueError, OverflowError):
        raise _unusable(client, "a sample is not a time and a number") from None
    first, last = min(points), max(points)
    if first < offset or last >= asked.points:
        raise _unusable(client, "a sample is outside of the range")
    values = array("d", [math.nan]) * (last - first + 1)
    for point, number in zip(points, numbers, strict=True):
        if math.isfinite(number):
            values[point - first] = number
    return first, values


def _append(gathered: dict[Labels, _Gathered], labels: Labels, first: int, values: "array[float]") -> int:
    """Adds values to a series, and returns how many values were added, including gaps. The first of two values for a
    point stays.
    """
    known = gathered.setdefault(labels, _Gathered(first=first))
    before = len(known.values)
    missing = first - known.first - before
    known.values.extend([math.nan] * missing)
    known.values.extend(values[max(-missing, 0) :])
    return len(known.values) - before


def _unusable(client: Client, reason: str) -> errors.PrometheusError:
    return errors.PrometheusError(f"Prometheus at {client.url}: the answer cannot be used: {reason}")


_POD_LABELS: Final = "namespace, pod, exported_namespace, exported_pod"
"""The labels by which series of one pod are joined. The exported ones exist if the scraper keeps its own labels."""


class PrometheusSource:
    """Reads series through the HTTP API of Prometheus."""

    name = "prometheus"

    def __init__(self, client: Client, *, only: Labels = ()) -> None:
        """`only` are the labels that all series must have, as names and values."""
        self._client = client
        self._only = only

    @property
    def url(self) -> str:
        return self._client.url

    @property
    def selection(self) -> str:
        return ", ".join(f"{label}={value}" for label, value in self._only)

    def read(self, question: Question, grid: Grid, /) -> Answer:
        """The series; raises PrometheusError if there is no usable answer."""
        found = read_range(
            self._client,
            self.expression(question, step=grid.step),
            Range(start=grid.start, step=grid.step, points=grid.points),
        )
        series = tuple(Series(labels=row.labels, first=row.first, values=row.values) for row in found.rows)
        return Answer(series=series, warnings=found.warnings)

    def expression(self, question: Question, *, step: int) -> str:
        """The PromQL of a question with steps of this many seconds."""
        text = self._of_metric(question.metric, question, step)
        if question.also:
            text = f"({text} or {self._of_metric(question.also, question, step)})"
        if question.only_positive:
            text = f"{text} > 0"
        if question.pods_of is None:
            return text
        return f"{text} and on ({_POD_LABELS}) {self.expression(question.pods_of, step=step)}"

    def _of_metric(self, name: str, question: Question, step: int) -> str:
        found = [f'{each.label}=~"{_escaped(each.pattern)}"' for each in question.matchers]
        found += [f'{label}="{_escaped(value)}"' for label, value in self._only]
        selector = f"{name}{{{', '.join(found)}}}" if found else name
        return f"{question.fold.value}({selector}[{step}s])"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
