"""An API server in memory, and replicas that watch it as slowly as a test wants."""

import asyncio
import contextlib
import copy
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

import builders
import engines
from reviews import body
from usher import errors, paths
from usher.authorities.authority import QuotaRefusal
from usher.authorities.gpu_quota.charge import ByClasses
from usher.authorities.gpu_quota.ledger import Full, Ledger
from usher.authorities.gpu_quota.live import observer as live_observer
from usher.authorities.gpu_quota.live.account_store import Account, StatusStore
from usher.authorities.gpu_quota.live.accounts import Accounts, UndeclaredAccounts, UnusedParts
from usher.authorities.gpu_quota.live.admission import Admission
from usher.authorities.gpu_quota.live.holdings import Holdings, ObjectCharges
from usher.authorities.gpu_quota.live.observer import HoldingsSink
from usher.authorities.gpu_quota.live.service import Reconciler
from usher.authorities.knowledge import Knowledge
from usher.cluster.api import JSON, Answer
from usher.cluster.facts.store import Store
from usher.config import models
from usher.kinds.registry import FACTS, WORKLOADS
from usher.policy.evaluator import Evaluator
from usher.review import webhooks
from usher.review.admission_review import Review, parse, request_of

Place = tuple[str, str, str, str]
"""Root of the API, plural, namespace, name."""

Event = tuple[str, paths.Object]

NAMESPACE = "gpu-usher"
"""The namespace of accounts."""

QUOTAS = "/apis/gpu-usher.io/v1alpha1/gpuquotas"


class MemoryApi:
    """Takes and gives whole objects, with resource versions, and refuses to overwrite what has changed since."""

    name = "the test cluster"

    def __init__(self) -> None:
        self.objects: dict[Place, paths.Object] = {}
        self.events: defaultdict[tuple[str, str], list[Event]] = defaultdict(list)
        """Events for watches, by group and kind."""
        self.unserved: set[str] = set()
        """Plurals of kinds that are not installed or not known yet."""
        self.trouble: Callable[[str, str], Answer | None] = lambda _method, _path: None
        """Looks at method and path of a request and may answer in the server's place."""
        self.requests: list[tuple[str, str]] = []
        self.sent: paths.Object = {}
        """The object of the last PUT or POST."""
        self.lists: Counter[str] = Counter()
        """How often a whole kind was listed."""
        self._version = 0
        self._lock = threading.RLock()
        self._told = threading.Condition(self._lock)
        self._calls = 0
        """How often all streams were ended."""

    def apply(self, value: paths.Object) -> paths.Object:
        """Creates an object, or replaces the one of its name, without admission."""
        with self._lock:
            value = copy.deepcopy(value)
            before = self.objects.get(_place(value))
            self._version += 1
            metadata: Any = value.setdefault("metadata", {})
            kept: Any = before["metadata"] if before is not None else {}
            metadata["uid"] = metadata.get("uid") or kept.get("uid") or f"uid-{self._version}"
            metadata["resourceVersion"] = str(self._version)
            self.objects[_place(value)] = value
            self._tell("PUT", value)
            return value

    def remove(self, value: paths.Object) -> None:
        with self._lock:
            gone = self.objects.pop(_place(value), None)
            if gone is not None:
                self._version += 1
                metadata: Any = gone["metadata"]
                self._tell("DELETED", {**gone, "metadata": {**metadata, "resourceVersion": str(self._version)}})

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON) -> Answer:  # noqa: ARG002 - the protocol's
        with self._lock:
            self.requests.append(("GET", path))
            troubled = self.trouble("GET", path)
            if troubled is not None:
                return troubled
            self.lists[path] += not (query or {}).get("fieldSelector")
            if query and "limit" in query:
                return self._listed(path, query)
            found = self.objects.get(_parsed(path))
            return _not_found() if found is None else Answer(status=200, value=copy.deepcopy(found))

    def put(self, path: str, value: paths.Object) -> Answer:
        """A PUT of an object, or of a status: then nothing else of the object changes."""
        with self._lock:
            self.requests.append(("PUT", path))
            self.sent = value
            troubled = self.trouble("PUT", path)
            if troubled is not None:
                return troubled
            found = self.objects.get(_parsed(path.removesuffix("/status")))
            if found is None:
                return _not_found()
            sent, stored = value["metadata"], found["metadata"]
            assert isinstance(sent, dict)
            assert isinstance(stored, dict)
            if any(sent.get(key) != stored.get(key) for key in ("resourceVersion", "uid")):
                return refusal(409, "the object has been modified")
            new = {**found, "status": value["status"]} if path.endswith("/status") else value
            return Answer(status=200, value=copy.deepcopy(self.apply(new)))

    def post(self, path: str, value: paths.Object) -> Answer:
        """A POST of an object, which must not be there."""
        with self._lock:
            self.requests.append(("POST", path))
            self.sent = value
            troubled = self.trouble("POST", path)
            if troubled is not None:
                return troubled
            if _place(value) in self.objects:
                return refusal(409, "there already")
            return Answer(status=201, value=copy.deepcopy(self.apply(value)))

    def delete(self, path: str, value: paths.Object) -> Answer:
        """A DELETE with DeleteOptions, whose preconditions must hold."""
        with self._lock:
            self.requests.append(("DELETE", path))
            troubled = self.trouble("DELETE", path)
            if troubled is not None:
                return troubled
            found = self.objects.get(_parsed(path))
            if found is None:
                return _not_found()
            metadata, wanted = found["metadata"], value.get("preconditions", {})
            assert isinstance(metadata, dict)
            assert isinstance(wanted, dict)
            if any(metadata.get(key) != each for key, each in wanted.items()):
                return refusal(409, "the object has been modified")
            self.remove(found)
            return Answer(status=200, value={"kind": "Status"})

    def _listed(self, path: str, query: Mapping[str, str]) -> Answer:
        root, plural, namespace, _ = _parsed(f"{path}/-")
        if plural in self.unserved:
            return _not_found()
        name = query.get("fieldSelector", "").removeprefix("metadata.name=")
        items: list[paths.Json] = [
            copy.deepcopy(value)
            for place, value in self.objects.items()
            if place[:2] == (root, plural) and namespace in ("", place[2]) and name in ("", place[3])
        ]
        items = [each for each in items if _is_selected(each, query.get("labelSelector", ""))]
        return Answer(status=200, value={"metadata": {"resourceVersion": str(self._version)}, "items": items})

    def _tell(self, kind: str, value: paths.Object) -> None:
        self.events[_key(value)].append((kind, copy.deepcopy(value)))
        self._told.notify_all()

    @contextlib.contextmanager
    def stream(
        self,
        path: str,
        *,
        query: Mapping[str, str],
        silence: float,  # noqa: ARG002 - the protocol's
        accept: str = JSON,  # noqa: ARG002 - the protocol's
    ) -> Iterator["_Watch"]:
        yield _Watch(lambda: self._watched(path, int(query["resourceVersion"])))

    def hang_up(self) -> None:
        """Ends all watches."""
        with self._lock:
            self._calls += 1
            self._told.notify_all()

    def _watched(self, path: str, version: int) -> Iterator[bytes]:
        root, plural, *_ = _parsed(f"{path}/-")
        with self._lock:
            calls = self._calls
        while True:
            with self._lock:
                new = self._since(root, plural, version)
                while not new and calls == self._calls:
                    self._told.wait(10)
                    new = self._since(root, plural, version)
                if calls != self._calls:
                    raise errors.ClusterError("hung up")
            for kind, value in new:
                version = _version(value)
                yield orjson.dumps({"type": "DELETED" if kind == "DELETED" else "MODIFIED", "object": value}) + b"\n"

    def _since(self, root: str, plural: str, version: int) -> list[Event]:
        return [
            event
            for events in self.events.values()
            for event in events
            if _place(event[1])[:2] == (root, plural) and _version(event[1]) > version
        ]


@dataclass
class _Watch:
    told: Callable[[], Iterator[bytes]]
    refusal: Answer | None = None

    def chunks(self) -> Iterator[bytes]:
        return self.told()


def _is_selected(value: paths.Json, selector: str) -> bool:
    """Whether an object has a label, or with ! has it not."""
    assert isinstance(value, dict)
    metadata: Any = value["metadata"]
    return (selector.removeprefix("!") in metadata.get("labels", {})) != selector.startswith("!") or not selector


def _version(value: paths.Object) -> int:
    metadata: Any = value["metadata"]
    return int(metadata["resourceVersion"])


def refusal(code: int, message: str) -> Answer:
    """An answer with a Status."""
    return Answer(status=code, value={"kind": "Status", "message": message, "code": code})


def _not_found() -> Answer:
    return refusal(404, "not found")


def _key(value: paths.Object) -> tuple[str, str]:
    return str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])


def _place(value: paths.Object) -> Place:
    group, kind = _key(value)
    known = WORKLOADS.get((group, kind)) or FACTS[group, kind]
    metadata = value["metadata"]
    assert isinstance(metadata, dict)
    root = f"/apis/{value['apiVersion']}" if group else f"/api/{value['apiVersion']}"
    return root, known.plural, str(metadata.get("namespace") or ""), str(metadata["name"])


def _parsed(path: str) -> Place:
    parts = path.split("/")
    depth = 4 if parts[1] == "apis" else 3
    root, rest = "/".join(parts[:depth]), parts[depth:]
    if rest[0] == "namespaces" and len(rest) == 4:
        return root, rest[2], rest[1], rest[3]
    return root, rest[0], "", rest[1]


class Replica:
    """One process that charges: its facts, what it has seen of what exists, and how it decides."""

    def __init__(self, api: MemoryApi, *, clock: Callable[[], float] = time.time, **config: Any) -> None:
        self.api = api
        self.facts = Store()
        for kind in (
            ("", "ConfigMap"),
            ("", "Namespace"),
            ("gpu-usher.io", "GPUQuota"),
            ("scheduling.k8s.io", "PriorityClass"),
        ):
            self.facts.replace(kind, [])
        scripted = engines.evaluator(
            engines.ScriptedEngine(lambda _entrypoint: engines.result()), config=models.Config.model_validate(config)
        )
        self.evaluator = Evaluator(
            engine=scripted.engine, entries=scripted.catalogue, config=scripted.config, facts=self.facts
        )
        self.holdings = Holdings(clock=clock)
        self.accounts = accounts = Accounts(api, self.knowledge, namespace=NAMESPACE, clock=clock)
        self.admission = Admission(api, accounts, self.holdings, self.knowledge, clock=clock)
        self.reconciler = Reconciler(api, accounts, self.holdings, self.knowledge, clock=clock)
        self.undeclared = UndeclaredAccounts(api, self.knowledge, namespace=NAMESPACE, clock=clock)
        self.unused = UnusedParts(api, namespace=NAMESPACE)
        self.sinks: dict[tuple[str, str], HoldingsSink] = {}
        self.seen: defaultdict[tuple[str, str], int] = defaultdict(int)
        """How many events of a kind have come."""

    def knowledge(self) -> Knowledge:
        return self.evaluator.knowledge

    def charge_of(self, value: paths.Object) -> ByClasses:
        return ObjectCharges(known=self.knowledge()).of(value)

    def watch(self, *kinds: str) -> None:
        """Sees all events of these kinds; of all kinds, if the list is empty."""
        for key in list(self.api.events):
            if not kinds or key[1] in kinds:
                self._take(key)

    def _take(self, key: tuple[str, str]) -> None:
        events = self.api.events[key]
        for event, value in events[self.seen[key] :]:
            if key in FACTS:
                kept = FACTS[key].keep(value)
                (self.facts.remove if event == "DELETED" else self.facts.put)(kept)
            if key in WORKLOADS:
                sink = self.sinks.setdefault(key, HoldingsSink(self.holdings))
                held = live_observer.kept(value, self.charge_of)
                (sink.remove if event == "DELETED" else sink.put)(held)
        self.seen[key] = len(events)

    def restart(self) -> None:
        """Forgets all objects, and sees them again."""
        self.holdings.clear()
        self.sinks = {}
        for key in [key for key in self.api.events if key in WORKLOADS]:
            there = [value for value in self.api.objects.values() if _key(value) == key]
            self.sinks[key] = HoldingsSink(self.holdings)
            self.sinks[key].replace([live_observer.kept(value, self.charge_of) for value in there])
            self.seen[key] = len(self.api.events[key])

    def review(self, value: paths.Object, *, old: paths.Object | None = None, **request: Any) -> Review:
        operation = "CREATE" if old is None else "UPDATE"
        return parse(body(value, operation=operation, old_value=old, **request))

    def ask(
        self,
        value: paths.Object,
        *,
        old: paths.Object | None = None,
        force: bool = False,
        seconds: float = 30,
        killed: bool = False,
        **request: Any,
    ) -> QuotaRefusal | Full | None:
        """The result of a review that asks to create or to change an object; a killed replica takes back nothing."""
        review = self.review(value, old=old, **request)
        decision = self.evaluator.decide(request_of(review))
        charge = webhooks.charge_request(review, decision)
        if charge is None:
            return None
        with contextlib.nullcontext() if killed else self.admission.undoing(charge):
            return asyncio.run(self.admission.charge(charge, until=time.monotonic() + seconds, force=force))

    def close(self) -> None:
        # Tries in the background must end before the next test.
        self.api.trouble = lambda _method, _path: None
        self.admission.close()


COUNTED: Mapping[str, Any] = {"version": 1, "used": [], "charges": []}
"""The status of a quota that found nothing to charge."""


def gpu_quota(
    name: str = "research",
    *,
    hard: Mapping[str, int] | None = None,
    status: Mapping[str, Any] | None = COUNTED,
    **spec: Any,
) -> paths.Object:
    """A GPUQuota of 16 GPUs for all namespaces; without a status, usher has not counted yet what exists."""
    return builders.gpu_quota(name, limits=[{"hard": hard or {"gpus": 16}}], status=status, **spec)


def job(gpus: int, *, pods: int = 1, name: str | None = "train", namespace: str = "ml") -> paths.Object:
    """A Job that runs all its pods at once, each with so many GPUs."""
    return builders.gpu_job(gpus, pods=pods, name=name, namespace=namespace)


def account(api: MemoryApi, quota: str = "research") -> Ledger:
    """The charges of a GPUQuota, with those of its parts."""
    return read_account(api, quota).ledger


def read_account(api: MemoryApi, quota: str = "research") -> Account:
    """The account of a GPUQuota, read by requests that are neither counted nor troubled."""
    reader = copy.copy(api)
    reader.requests, reader.lists, reader.trouble = [], Counter(), lambda _method, _path: None
    return StatusStore(reader, quota, namespace=NAMESPACE).read().state


def charges(api: MemoryApi, quota: str = "research") -> dict[str, int]:
    """GPUs by the object that is charged for them."""
    return {
        key: sum(units.get("gpus", 0) for units in entry.amounts.values()) // 10**9
        for key, entry in account(api, quota).entries.items()
    }


def reserved(api: MemoryApi, quota: str = "research") -> set[str]:
    """The objects for which something is reserved."""
    return {key for key, entry in account(api, quota).entries.items() if entry.reserved_until is not None}


def owned(value: paths.Object, owner: paths.Object) -> paths.Object:
    """An object with a controller."""
    metadata, above = value["metadata"], owner["metadata"]
    assert isinstance(metadata, dict)
    assert isinstance(above, dict)
    reference: paths.Object = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": above["name"],
        "uid": above["uid"],
        "controller": True,
    }
    made: paths.Object = {**metadata, "ownerReferences": [reference]}
    return {**value, "metadata": made}


def unreachable(_method: str, _path: str) -> Answer | None:
    """Trouble: no server answers."""
    raise errors.ClusterError("the test cluster cannot be reached")
