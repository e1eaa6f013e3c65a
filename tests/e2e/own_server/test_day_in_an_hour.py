"""A day of a cluster in an hour: tenants make and delete jobs while all happens that happens to a cluster in a day.

The jobs are stored and not run: the API server is alone, so that it may stop and start. Both webhooks fail closed.
"""

import contextlib
import http.client
import os
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest
import yaml

import builders
from e2e import accounts, api_server_alone, certificate_site, crds, quota_site
from e2e.api_server_alone import ApiServerAlone
from e2e.balancer import balancing
from e2e.certificate_site import NAME, SECRET, Site
from e2e.cluster import ApiError, Cluster, Object, wait_until
from e2e.processes import LOOPBACK
from e2e.test_certificates import of_authority, renew, serving, with_leaf
from e2e.test_quota_under_load import gpus_of
from e2e.test_replicas_replaced import Replicas
from integration import command
from integration.test_server_overload import resident
from server_process import ServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.process]

MINUTES: Final = float(os.environ.get("USHER_TEST_DAY_MINUTES", "60"))
TEAM: Final = "team"
HARD: Final = 60
CLIENTS: Final = 4
PAUSE: Final = 0.4
"""Seconds between two requests of a client."""
PATIENCE: Final = 120.0
"""Seconds for which a client tries again, as controllers and GitOps do without an end."""

CONFIG: Final = """\
apiVersion: gpu-usher.io/v1alpha1
kind: Config
facts:
  quotaReservation: 8s
"""

JOB: Final = "batch/v1"


@dataclass(kw_only=True)
class Day:
    """The workloads that tenants of a cluster ask for, and their ends."""

    cluster: Cluster
    tenant: Cluster
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    """Why clients tried again."""
    given_up: list[str] = field(default_factory=list)
    looks: int = 0
    most: int = 0
    """The most GPUs of all jobs, and the most that the account said, at any look."""
    unjudged: set[str] = field(default_factory=set)
    """Jobs that a rule refuses, or that lack what a mutation adds."""
    ended: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def goes_on(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._live, args=(number,)) for number in range(CLIENTS)]
        threads.append(threading.Thread(target=self._look_on))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()

    def _live(self, client: int) -> None:
        chance, own, number = random.Random(client), [""], 0
        while not self.ended.wait(PAUSE):
            number += 1
            name = f"job-{client}-{number}"
            match chance.randrange(10):
                case 0:
                    self._ask("bad", lambda name=name: self.tenant.create(bad(name)))  # type: ignore[misc]
                case 1 | 2 | 3 if len(own) > 1:
                    gone = own.pop(chance.randrange(1, len(own)))
                    self._ask("delete", lambda gone=gone: self._delete(gone))  # type: ignore[misc]
                case 4 if len(own) > 1:
                    change: Object = {"spec": {"parallelism": chance.randint(1, 4)}}
                    value = job(chance.choice(own[1:]), 1, 1)
                    self._ask("update", lambda value=value, change=change: self.tenant.merge(value, change))  # type: ignore[misc]
                case _:
                    value = job(name, chance.randint(1, 4), chance.randint(1, 4))
                    if self._ask("create", lambda value=value: self.tenant.create(value)):  # type: ignore[misc]
                        own.append(name)

    def _delete(self, name: str) -> None:
        with contextlib.suppress(ApiError):
            self.tenant.delete("Job", name, namespace=TEAM, api_version=JOB)
            return
        if self.tenant.exists("Job", name, namespace=TEAM, api_version=JOB):
            raise ApiError("it is still there", status=500, reason="StillThere")

    def _ask(self, what: str, call: Callable[[], object]) -> bool:
        """Whether the API server did it. Only an answer of a webhook, or of what the object is, ends the attempts."""
        until, said = time.monotonic() + PATIENCE, ""
        while time.monotonic() < until:
            try:
                call()
            except ApiError as error:
                if error.reason == "AlreadyExists":
                    break
                if 'gpu-usher.io" denied the request' in error.message:
                    self.outcomes[f"{what} denied"] += 1
                    return False
                said = error.message
            except (OSError, http.client.HTTPException) as error:
                said = repr(error)
            else:
                break
            self.outcomes[f"{what} tried again"] += 1
            self.reasons[re.sub(r"[0-9]+", "0", said)[:160]] += 1
            time.sleep(0.2)
        else:
            self.given_up.append(f"{what}: {said}")
            return False
        self.outcomes[f"{what} done"] += 1
        return True

    def there(self) -> list[Object]:
        listed = self.cluster.objects("Job", namespace=TEAM, api_version=JOB)
        return [{**each, "kind": "Job", "apiVersion": JOB} for each in listed]

    def held(self) -> int:
        return sum(map(gpus_of, self.there()))

    def _look_on(self) -> None:
        while not self.ended.wait(0.5):
            with contextlib.suppress(ApiError, OSError, http.client.HTTPException):
                jobs = self.there()
                self.most = max(self.most, sum(map(gpus_of, jobs)), quota_site.used(self.cluster, TEAM))
                self.unjudged |= {each["metadata"]["name"] for each in jobs if is_unjudged(each)}
                self.looks += 1


def job(name: str, pods: int, gpus: int, **env: str) -> Object:
    template = builders.template(builders.container(gpus=gpus, env=env or None), restartPolicy="Never")
    return builders.job(template, parallelism=pods, completions=4, name=name, namespace=TEAM)


def bad(name: str) -> Object:
    return job(f"bad-{name}", 1, 1, NVIDIA_VISIBLE_DEVICES="all")


def is_unjudged(value: Object) -> bool:
    metadata = value["metadata"]
    return metadata["name"].startswith("bad-") or "gpu-usher.io/mutations" not in metadata.get("annotations", {})


class Certified(Replicas):
    """Servers that keep their certificate, watch the cluster and charge its quotas."""

    def __init__(self, directory: Path, stack: contextlib.ExitStack, site: Site) -> None:
        super().__init__(directory, stack)
        self._site = site
        self._config = directory / "usher.yaml"
        self._config.write_text(CONFIG)

    @contextlib.contextmanager
    def started(self, own: Path) -> Iterator[ServerProcess]:
        with certificate_site.replica(self._site, own, more=("--live", f"--config={self._config}")) as server:
            yield server


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[ApiServerAlone]:
    """A cluster without controllers, with the server's account, its roles, and a namespace of tenants."""
    directory = tmp_path / "cluster"
    directory.mkdir()
    with api_server_alone.prepared(directory) as alone:
        alone.start()
        for name in (*accounts.NAMESPACES, TEAM):
            alone.cluster.create(builders.custom("v1", "Namespace", {}, name=name, namespace=None))
        certificate_site.granted(alone.cluster)
        accounts.granted(alone.cluster, "base/facts-role.yaml", "base/quota-role.yaml", "crds/gpu-quota-crd.yaml")
        crds.wait_until_served(alone.cluster, "gpu-usher.io/gpuquotas")
        yield alone


@contextlib.contextmanager
def registered(site: Site, replicas: Replicas, directory: Path) -> Iterator[None]:
    """While the context lasts, the API server asks the replicas about every workload and needs their answer."""
    authority = directory / "authority.pem"
    authority.write_bytes(site.kept().data()["ca.crt"])
    with balancing(replicas.endpoints) as port:
        printed = command.usher(
            *("manifests", "webhooks", "--url", f"https://{LOOPBACK}:{port}", "--ca-bundle", authority),
            *("--validate-failure-policy=Fail", "--mutate-failure-policy=Fail"),
            # How long a busy machine takes is not what is tested.
            *("--validate-timeout=10", "--mutate-timeout=10"),
        )
        assert printed.code == 0, printed.err
        for each in yaml.safe_load_all(printed.out):
            each["metadata"]["name"] = NAME
            site.cluster.apply(each)
        yield


@dataclass(kw_only=True)
class Events:
    """The events of the cluster."""

    alone: ApiServerAlone
    site: Site
    replicas: Replicas
    witness: ServerProcess
    """A replica that is there all day."""
    chance: random.Random

    def in_turn(self) -> Iterator[tuple[str, Callable[[], None]]]:
        yield "rolling restart", self.restart_one_by_one
        yield "API server away", self.flap
        yield "rotation", self.rotate
        yield "replica killed", self.lose_one
        yield "API server away", self.flap
        yield "clock stepped", self.step_clocks
        yield "quota came and went", self.change_quotas

    def servers(self) -> list[ServerProcess]:
        return [self.witness, *self.replicas.running]

    def restart_one_by_one(self) -> None:
        for _ in range(len(self.replicas.running)):
            self.replicas.add()
            self.replicas.end_in_order()

    def lose_one(self) -> None:
        self.replicas.kill()
        self.replicas.add()

    def flap(self) -> None:
        """The API server goes for some seconds, and comes back."""
        self.alone.stop()
        time.sleep(self.chance.uniform(0.5, 10))
        self.alone.start()

    def rotate(self) -> None:
        """A new CA, new leaves, and the end of the old CA, by time in the Secret."""
        renew(self.site, self.servers())

    def step_clocks(self) -> None:
        """A leaf as a server leaves it whose clock is ahead, and a server whose clock is wrong."""
        early = with_leaf(self.site.kept(), -timedelta(days=100))
        self.site.keep(early)
        wait_until(lambda: self.site.kept().leaf != early.leaf, description="the leaf is replaced", timeout=60)
        wait_until(lambda: serving(self.site, self.servers()), description="all serve the new leaf", timeout=60)
        before = self._secret_version()
        for ahead in (timedelta(days=100), timedelta(days=-100)):
            assert "the clock of this server is 100 days" in str(self.site.managed(ahead=ahead).check().problem)
        assert self._secret_version() == before

    def _secret_version(self) -> str:
        metadata = self.site.cluster.get("Secret", SECRET, namespace=accounts.NAMESPACE)["metadata"]
        return str(metadata["resourceVersion"])

    def change_quotas(self) -> None:
        """The team's quota shrinks below what it has and grows again, and a quota of others comes and goes."""
        cluster = self.site.cluster
        cluster.create(builders.gpu_quota("others", 8, namespaces=["others-*"]))
        for gpus in (HARD // 2, HARD):
            cluster.merge(builders.gpu_quota(TEAM), {"spec": {"limits": [{"hard": {"gpus": gpus}}]}})
            time.sleep(2)
        cluster.delete("GPUQuota", "others", api_version=quota_site.API_VERSION)


def test_a_day_leaves_nothing_unjudged_nothing_over_quota_and_memory_flat(
    alone: ApiServerAlone, tmp_path: Path
) -> None:
    cluster = alone.cluster
    site = Site(cluster=cluster, account=accounts.kubeconfig(cluster), namespace=TEAM)
    site.keep(of_authority(timedelta()))
    day = Day(cluster=cluster, tenant=accounts.tenant(cluster, TEAM))
    with contextlib.ExitStack() as stack:
        replicas = Certified(tmp_path, stack, site)
        for _ in range(3):
            replicas.add()
        witness = replicas.running.pop(0)
        stack.enter_context(registered(site, replicas, tmp_path))
        stack.enter_context(quota_site.quota(cluster, TEAM, {"hard": {"gpus": HARD}}))
        quota_site.wait_until_known([witness, *replicas.running])
        wait_until(lambda: quota_site.counted(cluster, TEAM), description="the quota is in force")
        wait_until(lambda: is_asked(day.tenant), description="the API server asks the webhooks")

        events = Events(alone=alone, site=site, replicas=replicas, witness=witness, chance=random.Random(1))
        happened: Counter[str] = Counter()
        memory = [resident(witness, "VmRSS:")]
        with day.goes_on():
            until = time.monotonic() + MINUTES * 60
            while time.monotonic() < until:
                for name, event in events.in_turn():
                    event()
                    happened[name] += 1
                    memory.append(resident(witness, "VmRSS:"))
                    time.sleep(2)
        wait_until(
            lambda: quota_site.settled(cluster, TEAM) and quota_site.used(cluster, TEAM) == day.held(),
            description="what is charged is what is there",
            timeout=120,
        )
        problems = Counter(line["event"] for line in witness.log() if line["level"] not in ("info", "debug"))

    half = len(memory) // 2
    show(f"{MINUTES:g} minutes: {dict(happened)}; {dict(day.outcomes)}; {day.looks} looks, most {day.most} of {HARD}")
    show("tried again because of: " + "; ".join(f"{number} x {said}" for said, number in day.reasons.most_common(12)))
    show(
        f"memory {memory[half // 2]} MB, then {memory[half]} and {memory[-1]}, at most {max(memory)}; {dict(problems)}"
    )
    assert day.unjudged == set()
    assert day.outcomes["bad done"] == 0
    assert day.outcomes["bad denied"] > 0
    assert day.most <= HARD
    assert day.outcomes["create denied"] > 0, "the quota was full now and then"
    assert day.given_up == []
    assert max(memory[half:]) <= 1.05 * max(memory[half // 2 : half])


def is_asked(tenant: Cluster) -> bool:
    try:
        tenant.create(bad("probe"), dry_run=True)
    except ApiError as error:
        return "gpu-usher.io" in error.message and "denied the request" in error.message
    return False


def show(text: str) -> None:
    """Prints a figure, for those who let pytest print (-s)."""
    print(f"\n{text}")  # noqa: T201 - printing is what it is for
