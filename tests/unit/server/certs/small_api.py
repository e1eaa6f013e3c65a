"""An API server in memory for self-managed certificates: objects with versions, and writes that compare."""

import base64
import copy
import email.utils
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509

from usher import paths
from usher.cluster.api import Answer

SECRET = "/api/v1/namespaces/gpu-usher/secrets/gpu-usher-certificates"
ROOT = "/apis/admissionregistration.k8s.io/v1"
CONFIGURATIONS = (
    f"{ROOT}/mutatingwebhookconfigurations/gpu-usher",
    f"{ROOT}/validatingwebhookconfigurations/gpu-usher",
)


class SmallApi:
    """Several servers may ask it at once; `before` is called with method and path ahead of each request."""

    name = "small"

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Any]] = {}
        self.before: Callable[[str, str], None] = lambda _method, _path: None
        self.refused: set[tuple[str, str]] = set()
        self.writes: list[str] = []
        self.clock: Callable[[], datetime] | None = None
        """The time of the server; without it answers have no Date."""
        self._lock = threading.Lock()
        self._version = 0

    def store(self, path: str, value: Mapping[str, Any]) -> None:
        self._version += 1
        stored = copy.deepcopy(dict(value))
        stored["metadata"] = {**stored.get("metadata", {}), "resourceVersion": str(self._version)}
        self.objects[path] = stored

    def register(self, *, webhooks: int = 2) -> None:
        """Both configurations without caBundle, as manifests/webhooks has them."""
        for path in CONFIGURATIONS:
            self.store(path, {"webhooks": [{"name": str(each), "clientConfig": {}} for each in range(webhooks)]})

    def bundles(self) -> list[bytes]:
        """The caBundle of each webhook."""
        return [
            base64.b64decode(webhook["clientConfig"].get("caBundle", ""))
            for path in CONFIGURATIONS
            for webhook in self.objects[path]["webhooks"]
        ]

    def trusted(self) -> list[x509.Certificate]:
        """The CAs of all bundles, which must be equal."""
        (bundle,) = set(self.bundles())
        return x509.load_pem_x509_certificates(bundle)

    def _answer(self, status: int, value: paths.Object) -> Answer:
        date = "" if self.clock is None else email.utils.format_datetime(self.clock(), usegmt=True)
        return Answer(status=status, value=value, date=date)

    def get(self, path: str, **_asked: object) -> Answer:
        self.before("GET", path)
        with self._lock:
            if ("GET", path) in self.refused:
                return self._answer(403, {"message": "forbidden"})
            if path not in self.objects:
                return self._answer(404, {"message": "not found"})
            return self._answer(200, copy.deepcopy(self.objects[path]))

    def put(self, path: str, value: paths.Object) -> Answer:
        def change(present: dict[str, Any] | None) -> Mapping[str, Any] | None:
            sent: Any = value
            same = present is not None and present["metadata"]["resourceVersion"] == sent["metadata"]["resourceVersion"]
            return sent if same else None

        return self._write("PUT", path, change, conflict=409)

    def apply(self, path: str, value: paths.Object) -> Answer:
        sent: Any = value
        return self._write("APPLY", path, lambda present: {**sent, **(present or {})}, conflict=409)

    def patch(self, path: str, operations: Sequence[paths.Object]) -> Answer:
        test, *added = operations

        def change(present: dict[str, Any] | None) -> Mapping[str, Any] | None:
            if present is None or present["metadata"]["resourceVersion"] != test["value"]:
                return None
            changed = copy.deepcopy(present)
            for operation in added:
                _, _, index, *rest = str(operation["path"]).split("/")
                assert rest == ["clientConfig", "caBundle"]
                changed["webhooks"][int(index)]["clientConfig"]["caBundle"] = operation["value"]
            return changed

        return self._write("PATCH", path, change, conflict=422)

    def _write(
        self,
        method: str,
        path: str,
        change: Callable[[dict[str, Any] | None], Mapping[str, Any] | None],
        *,
        conflict: int,
    ) -> Answer:
        self.before(method, path)
        with self._lock:
            if (method, path) in self.refused:
                return self._answer(403, {"message": "forbidden"})
            changed = change(self.objects.get(path))
            if changed is None:
                return self._answer(conflict, {"message": "changed meanwhile"})
            self.store(path, changed)
            self.writes.append(f"{method} {path}")
            return self._answer(200, copy.deepcopy(self.objects[path]))


class Clock:
    """A time that only the test moves, as a date and as seconds that grow."""

    def __init__(self, *, ahead: timedelta = timedelta()) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC) + ahead

    def __call__(self) -> datetime:
        return self.now

    def seconds(self) -> float:
        return self.now.timestamp()

    def forward(self, **duration: float) -> None:
        self.now += timedelta(**duration)
