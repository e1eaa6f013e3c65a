"""The admin port: probes and metrics for people, kubelets and Prometheus."""

from collections.abc import Awaitable, Callable
from http import HTTPStatus

from fastapi import FastAPI, Request, Response

from usher.server import metrics_access
from usher.server.metrics import Metrics
from usher.server.metrics_access import MetricsAccess


def admin_app(metrics: Metrics, *, ready: Callable[[], Awaitable[str]], access: MetricsAccess | None = None) -> FastAPI:
    """Probes, which everybody may ask, and metrics.

    Args:
        metrics: what `/metrics` shows.
        ready: what is missing until the server may get traffic; empty when it may.
        access: who may read the metrics; None for everybody.
    """
    app = FastAPI(title="gpu-usher admin", docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz")
    async def readyz() -> Response:
        missing = await ready()
        return Response(f"{missing or 'ok'}\n", status_code=503 if missing else 200, media_type="text/plain")

    @app.get(metrics_access.PATH)
    async def show_metrics(request: Request) -> Response:
        if access is not None:
            status = await access.status(request.headers.get("authorization", ""))
            if status is not HTTPStatus.OK:
                return Response(f"{status.phrase}\n", status_code=status, media_type="text/plain")
        return Response(metrics.exposition(), media_type="text/plain; version=1.0.0; charset=utf-8")

    return app
