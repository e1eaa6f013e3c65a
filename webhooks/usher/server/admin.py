"""The two applications: reviews for the API server, and the admin side for people, probes and Prometheus."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Response
from starlette.types import ASGIApp

from usher.authorities.gpu_quota.live.admission import Admission
from usher.server.metrics import Metrics
from usher.server.reloading import Current
from usher.server.reviews import Reviews


def webhook_app(
    current: Current, metrics: Metrics, *, stopping: Callable[[], bool], admission: Admission | None = None
) -> ASGIApp:
    """Answers reviews and nothing else: no documentation, no schema, no metrics on this port.

    Args:
        current: holds what decides.
        metrics: where answers are counted.
        stopping: whether this process will end, so that clients are to connect to another.
        admission: what charges quotas; None without a cluster.
    """
    app = FastAPI(title="gpu-usher", docs_url=None, redoc_url=None, openapi_url=None)
    # Not by `add_middleware`: a review has no use for the layers that FastAPI puts around all middleware.
    return Reviews(app, current=current, metrics=metrics, stopping=stopping, admission=admission)


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
