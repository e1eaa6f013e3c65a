"""The admin port: probes and metrics for people, kubelets and Prometheus."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Response

from usher.server.metrics import Metrics


def admin_app(metrics: Metrics, *, ready: Callable[[], Awaitable[str]]) -> FastAPI:
    """Probes and metrics.

    Args:
        metrics: what `/metrics` shows.
        ready: what is missing until the server may get traffic; empty when it may.
    """
    app = FastAPI(title="gpu-usher admin", docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/healthz")
    async def healthz() -> Response:
        return Response("ok\n", media_type="text/plain")

    @app.get("/readyz")
    async def readyz() -> Response:
        missing = await ready()
        return Response(f"{missing or 'ok'}\n", status_code=503 if missing else 200, media_type="text/plain")

    @app.get("/metrics")
    async def show_metrics() -> Response:
        return Response(metrics.exposition(), media_type="text/plain; version=1.0.0; charset=utf-8")

    return app
