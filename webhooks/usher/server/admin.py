"""The admin port: probes and metrics for people, kubelets and Prometheus."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response

from usher.server.access import METRICS, READ_METRICS, Access
from usher.server.metrics import Metrics


def admin_app(
    metrics: Metrics,
    *,
    ready: Callable[[], Awaitable[str]],
    access: Access | None = None,
    portal: APIRouter | None = None,
) -> FastAPI:
    """The admin application with probes, which anybody may request, and metrics.

    Args:
        metrics: the metrics for `/metrics`.
        ready: the reason why the server may not get traffic yet; empty when it may.
        access: who may read the metrics; None for any client.
        portal: answers other questions; None without them.
    """
    interface = f"{portal.prefix}/openapi.json" if portal is not None else None
    app = FastAPI(title="gpu-usher", docs_url=None, redoc_url=None, openapi_url=interface)
    if portal is not None:
        app.include_router(portal)

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz")
    async def readyz() -> Response:
        missing = await ready()
        return Response(f"{missing or 'ok'}\n", status_code=503 if missing else 200, media_type="text/plain")

    @app.get(METRICS)
    async def show_metrics(request: Request) -> Response:
        if access is not None:
            status = await access.status(request.headers.get("authorization", ""), READ_METRICS)
            if status is not HTTPStatus.OK:
                return Response(f"{status.phrase}\n", status_code=status, media_type="text/plain")
        return Response(metrics.exposition(), media_type="text/plain; version=1.0.0; charset=utf-8")

    return app
