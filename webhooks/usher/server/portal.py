"""The portal answers questions over HTTP for clients whose token and rights the API server checks.

A question about a namespace needs a special right there: to `create` `evaluations` or `outlooks` of gpu-usher.io, which
are not real resources. So a site decides who may ask, and a client learns nothing about other namespaces. Questions run
in one thread, one at a time, so that reviews hardly wait for them.

All functions are pure: they use the server's data and the body of one request.
"""

import asyncio
import io
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any, Final, TypeVar

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from usher import errors, paths
from usher.authorities.gpu_quota import definitions, entries
from usher.authorities.gpu_quota import status as gpu_quota_status
from usher.authorities.gpu_quota.definitions import GROUP
from usher.authorities.gpu_quota.definitions import Amounts as UnitAmounts
from usher.check import findings, judging, runner, sources
from usher.check.batches import Batch
from usher.check.formats import json_report, queue, rule_pages, wording
from usher.check.formats.queue import ShownOutlook
from usher.kinds.reading.values import Absence
from usher.policy.evaluator import Evaluator
from usher.server.serve import ANY_USER, Access, Right

MOST_BYTES: Final = 1 << 20
MOST_OBJECTS: Final = 50
"""The most objects of one question, and so also the most namespaces."""

SOURCE: Final = "<request>"
"""The place of objects in answers."""

Amounts = dict[str, int | str]
"""Amounts by unit: a whole number, or a fraction as Kubernetes writes it."""


class Limit(BaseModel):
    """One entry of the limits of a quota."""

    priority_classes: list[str] = Field(serialization_alias="priorityClasses")
    hard: Amounts
    used: Amounts


class Quota(BaseModel):
    """A GPUQuota with its used amounts."""

    name: str
    limits: list[Limit]
    problems: list[str]
    """Why the account cannot be read; empty if it can."""


def read_objects(body: bytes) -> Sequence[Batch]:
    """The objects of a body in YAML or JSON.

    Raises:
        InputError: it cannot be read, has too many objects, or has no object.
    """
    batches = list(sources.read(["-"], stdin=io.BytesIO(body)))
    problems = [problem for batch in batches for problem in batch.problems]
    if problems:
        raise errors.InputError("\n".join(wording.located(problem) for problem in problems))
    count = sum(len(batch.items) for batch in batches)
    if not count:
        raise errors.InputError("the body has no Kubernetes object; send manifests in YAML or JSON")
    if count > MOST_OBJECTS:
        raise errors.InputError(f"the body has {count} objects, and a question may have {MOST_OBJECTS}; send fewer")
    return batches


def namespaces(batches: Sequence[Batch], *, namespace: str) -> set[str]:
    """The namespaces of the objects; `namespace` for objects without one."""
    named = (paths.text(paths.metadata(item.value).get("namespace")) for batch in batches for item in batch.items)
    return {name or namespace for name in named}


def evaluation(batches: Sequence[Batch], evaluator: Evaluator, *, namespace: str) -> bytes:
    """The output of `usher check --format json` for these objects."""
    settings = judging.Settings(command=findings.Command.CHECK, namespace=namespace, mutated=True)
    found = runner.run(batches, evaluator=evaluator, settings=settings)
    return _render(lambda stream: json_report.write(found, stream))


def outlook(batches: Sequence[Batch], evaluator: Evaluator, *, namespace: str) -> bytes:
    """The output of `usher queue --format json` for these objects."""
    found = [ShownOutlook(place, each) for place, each in queue.outlooks_of(batches, evaluator, namespace=namespace)]
    return _render(lambda stream: queue.write_json(found, stream, as_written=False))


def explanation(code_or_name: str, evaluator: Evaluator) -> dict[str, object] | None:
    """The output of `usher explain CODE --format json`; None for an unknown code or name."""
    entry = evaluator.catalogue.find(code_or_name)
    return None if entry is None else rule_pages.described(entry, evaluator.config)


def quotas(evaluator: Evaluator, *, name: str = "") -> list[Quota] | None:
    """All GPUQuotas of the cluster, or the one with a name; None if the server does not know them."""
    found = evaluator.facts.objects(definitions.GROUP, definitions.KIND)
    if isinstance(found, Absence):
        return None
    return [_quota(each, value) for each, value in sorted(found.items()) if name in ("", each)]


def _quota(name: str, value: paths.Object) -> Quota:
    quota = definitions.of_object(value)
    if isinstance(quota, definitions.Malformed):
        return Quota(name=name, limits=[], problems=[f"{pointer}: {reason}" for pointer, reason in quota.problems])
    head: Any = value.get("status")
    decoded = gpu_quota_status.decode(head)
    used: Any = head.get("used") if isinstance(head, dict) else None
    # The API server validates the status by the definition. An account that was never charged has no sums.
    amounts: list[Amounts] = used if isinstance(used, list) else []
    limits = [
        Limit(
            priority_classes=sorted(limit.classes),
            hard=_amounts(limit.hard),
            used={unit: amounts[number].get(unit, 0) if number < len(amounts) else 0 for unit in sorted(limit.hard)},
        )
        for number, limit in enumerate(quota.limits)
    ]
    counting = [gpu_quota_status.COUNTING.message] if decoded.counting else []
    return Quota(name=name, limits=limits, problems=[*(reason for _, reason in decoded.problems), *counting])


def _amounts(of_units: UnitAmounts) -> Amounts:
    encoded = entries.encode_amounts(of_units)
    return {unit: amount for unit, amount in encoded.items() if isinstance(amount, int | str)}


def _render(write: Callable[[io.StringIO], None]) -> bytes:
    stream = io.StringIO()
    write(stream)
    return stream.getvalue().encode()


PREFIX: Final = "/api/v1"

_WAITING: Final = 8
"""The most questions that wait or run; others get 503."""
_SECONDS: Final = 10.0
"""Seconds after which a waiting question gets 503."""
_HEADERS: Final = {"cache-control": "no-store"}

_Result = TypeVar("_Result")


class Portal:
    """Answers questions with the current evaluator."""

    def __init__(self, evaluator: Callable[[], Evaluator], access: Access, count: Callable[[str, int], None]) -> None:
        """Takes a function for the current evaluator, the access check, and a counter of answers by question and
        status.
        """
        self._evaluator, self._access, self._count = evaluator, access, count
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="portal")
        self._waiting = 0

    async def evaluate(self, request: Request, namespace: str = "default") -> Response:
        """The decisions of usher about the manifests of the body (YAML or JSON), and the changes that it would make."""
        return await self._about(request, namespace, resource="evaluations", answer=evaluation)

    async def queue(self, request: Request, namespace: str = "default") -> Response:
        """When the workloads of the body could start, and what limits them."""
        return await self._about(request, namespace, resource="outlooks", answer=outlook)

    async def explain(self, request: Request, code: str) -> Response:
        """The page of a check or mutation, by code or name."""
        await self._allowed(request, ANY_USER, question="explain")
        found = explanation(code, self._evaluator())
        if found is None:
            raise self._refusal("explain", HTTPStatus.NOT_FOUND, "there is no check or mutation with this code or name")
        return self._answered("explain", JSONResponse(found, headers=_HEADERS))

    async def interface(self, request: Request) -> Response:
        """The OpenAPI document of the portal."""
        await self._allowed(request, ANY_USER, question="openapi")
        return self._answered("openapi", JSONResponse(request.app.openapi(), headers=_HEADERS))

    async def quotas(self, request: Request) -> Response:
        """All GPUQuotas, with their limits and used amounts."""
        return await self._quotas(request, "")

    async def quota(self, request: Request, name: str) -> Response:
        """One GPUQuota."""
        return await self._quotas(request, name)

    async def _about(
        self,
        request: Request,
        namespace: str,
        *,
        resource: str,
        answer: Callable[..., bytes],
    ) -> Response:
        # An unknown client costs two small requests to the API server, and the portal does not read its body.
        await self._allowed(request, ANY_USER, question=resource)
        body = await self._body(request, resource)
        batches = await self._run(resource, partial(read_objects, body))
        for each in sorted(namespaces(batches, namespace=namespace)):
            await self._allowed(request, _access_right(resource, "create", namespace=each), question=resource)
        call = partial(_judged, answer, batches, self._evaluator, namespace)
        found = await self._run(resource, call)
        return self._answered(resource, Response(found, media_type="application/json", headers=_HEADERS))

    async def _quotas(self, request: Request, name: str) -> Response:
        verb = "get" if name else "list"
        await self._allowed(request, _access_right("gpuquotas", verb, name=name), question="quotas")
        found = quotas(self._evaluator(), name=name)
        if found is None:
            raise self._refusal("quotas", HTTPStatus.SERVICE_UNAVAILABLE, "the GPUQuotas are not known yet")
        if name and not found:
            raise self._refusal("quotas", HTTPStatus.NOT_FOUND, "there is no GPUQuota with this name")
        shown = [each.model_dump(by_alias=True) for each in found]
        return self._answered("quotas", JSONResponse(shown[0] if name else shown, headers=_HEADERS))

    async def _allowed(self, request: Request, right: Right, *, question: str) -> None:
        status = await self._access.status(request.headers.get("authorization", ""), right)
        if status is not HTTPStatus.OK:
            raise self._refusal(question, status, _REASONS[status])

    async def _body(self, request: Request, question: str) -> bytes:
        found = bytearray()
        async for chunk in request.stream():
            found += chunk
            if len(found) > MOST_BYTES:
                reason = f"the body has more than {MOST_BYTES} bytes; send fewer objects"
                raise self._refusal(question, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)
        return bytes(found)

    async def _run(self, question: str, call: Callable[[], _Result]) -> _Result:
        if self._waiting >= _WAITING:
            raise self._refusal(question, HTTPStatus.SERVICE_UNAVAILABLE, "too many questions; ask again in a second")
        self._waiting += 1
        try:
            async with asyncio.timeout(_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except errors.InputError as error:
            raise self._refusal(question, HTTPStatus.BAD_REQUEST, str(error)) from None
        except (errors.UsherError, TimeoutError):
            reason = "usher could not decide in time; ask again in a second"
            raise self._refusal(question, HTTPStatus.SERVICE_UNAVAILABLE, reason) from None
        finally:
            self._waiting -= 1

    def _answered(self, question: str, response: Response) -> Response:
        self._count(question, response.status_code)
        return response

    def _refusal(self, question: str, status: HTTPStatus, reason: str) -> HTTPException:
        self._count(question, status)
        headers = {**_HEADERS, "retry-after": "1"} if status is HTTPStatus.SERVICE_UNAVAILABLE else _HEADERS
        return HTTPException(status, detail=reason, headers={**headers})


def application(portal: Portal) -> FastAPI:
    """The routes, each with the shape of its answer."""
    made = FastAPI(title="gpu-usher", docs_url=None, redoc_url=None, openapi_url=None)
    made.add_api_route(
        f"{PREFIX}/evaluate",
        portal.evaluate,
        methods=["POST"],
        responses={200: {"model": json_report.Report}, **_PROBLEMS},
    )
    made.add_api_route(
        f"{PREFIX}/queue", portal.queue, methods=["POST"], responses={200: {"model": queue.QueueOutlook}, **_PROBLEMS}
    )
    made.add_api_route(f"{PREFIX}/openapi.json", portal.interface, include_in_schema=False)
    made.add_api_route(f"{PREFIX}/explain/{{code}}", portal.explain, responses=_PROBLEMS)
    made.add_api_route(f"{PREFIX}/quotas", portal.quotas, responses={200: {"model": list[Quota]}, **_PROBLEMS})
    made.add_api_route(f"{PREFIX}/quotas/{{name}}", portal.quota, responses={200: {"model": Quota}, **_PROBLEMS})
    return made


_REASONS: Final = {
    HTTPStatus.UNAUTHORIZED: "send the bearer token of an account of this cluster",
    HTTPStatus.FORBIDDEN: "the account may not ask this; bind the ClusterRole gpu-usher-portal-user in the namespace",
    HTTPStatus.SERVICE_UNAVAILABLE: "the API server does not say who you are; ask again in a second",
}
_PROBLEMS: Final[dict[int | str, dict[str, object]]] = {
    status.value: {"description": reason} for status, reason in _REASONS.items()
}


def _access_right(resource: str, verb: str, *, namespace: str = "", name: str = "") -> Right:
    named = {"namespace": namespace, "name": name}
    return {
        "resourceAttributes": {
            "group": GROUP,
            "resource": resource,
            "verb": verb,
            **{key: value for key, value in named.items() if value},
        }
    }


def _judged(
    answer: Callable[..., bytes], batches: Sequence[Batch], evaluator: Callable[[], Evaluator], namespace: str
) -> bytes:
    return answer(batches, evaluator(), namespace=namespace)
