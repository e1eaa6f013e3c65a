"""With failurePolicy Fail and no server, a cluster goes on: only objects that ask for accelerators wait for us."""

import contextlib
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import builders
from e2e.cluster import Cluster, KubectlError, Object, wait_until
from e2e.pods import GPU_NODES, running_pods
from e2e.registration import CONFIG, registered, serving
from integration import command

TENANT = ("--as=erin", "--as-group=tenants")
PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
BREAK_GLASS = PAGE.partition("\n## Break glass")[2].partition("\n## ")[0]
REFUSED = r"accelerators\.gpu-usher\.io"


@pytest.fixture(scope="module", autouse=True)
def tenant(cluster: Cluster) -> None:
    """Erin may do anything that RBAC can allow, so that only a webhook can refuse her requests."""
    cluster.kubectl("create", "clusterrolebinding", "erin", "--clusterrole=cluster-admin", "--user=erin")


@pytest.fixture(scope="class", params=["validate", "mutate"])
def away(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[None]:
    """The webhooks of a server that was killed; objects with accelerators need the answer of one of them."""
    with contextlib.ExitStack() as stack:
        with serving(tmp_path_factory.mktemp("away")) as server:
            stack.enter_context(registered(cluster, server, closed=[request.param]))
            server.running.process.send_signal(signal.SIGKILL)
            server.running.process.wait(timeout=60)
        yield


def create(cluster: Cluster, *manifests: Object, who: tuple[str, ...] = TENANT) -> str:
    return cluster.kubectl("create", "--filename=-", *who, stdin=yaml.safe_dump_all(manifests))


def gpu_pod(namespace: str, name: str = "trainer", *, finalizer: str = "") -> Object:
    pod: Object = builders.pod(
        builders.container(gpus=1), name=name, namespace=namespace, tolerations=[{"operator": "Exists"}]
    )
    if finalizer:
        pod["metadata"]["finalizers"] = [finalizer]
    return pod


def deployment(namespace: str, name: str, template: Object, *, replicas: int) -> Object:
    labelled = {**template, "metadata": {"labels": {"app": name}}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": labelled}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def taking(namespace: str) -> list[Object]:
    """Pods and other objects that take accelerators, each by another route."""
    gpu = builders.container(gpus=1)
    variable = builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"})
    return [
        gpu_pod(namespace),
        builders.pod(name="x", namespace=namespace, resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}]),
        builders.pod(variable, name="x", namespace=namespace),
        builders.pod(name="x", namespace=namespace, annotations={"gpu-fraction": "0.5"}),
        builders.pod(name="x", namespace=namespace, volumes=[{"name": "d", "hostPath": {"path": "/dev/nvidia0"}}]),
        builders.job(builders.template(gpu, restartPolicy="Never"), name="x", namespace=namespace),
        deployment(namespace, "x", builders.template(gpu), replicas=1),
    ]


@pytest.mark.usefixtures("away")
class TestWithoutAnAnswer:
    def test_everything_without_accelerators_goes_on(self, cluster: Cluster, namespace: str) -> None:
        create(
            cluster,
            builders.pod(name="web", namespace=namespace),
            deployment(namespace, "api", builders.template(), replicas=2),
        )

        assert len(running_pods(cluster, namespace, count=3)) == 3
        cluster.kubectl("scale", "deployment/api", "--replicas=1", f"--namespace={namespace}", *TENANT)
        assert len(running_pods(cluster, namespace, count=2)) == 2

    def test_what_asks_for_accelerators_is_refused_by_every_route(self, cluster: Cluster, namespace: str) -> None:
        for each in taking(namespace):
            with pytest.raises(KubectlError, match=REFUSED):
                create(cluster, each)

    def test_templates_that_make_no_pods_by_themselves_are_let_in(self, cluster: Cluster, namespace: str) -> None:
        template = builders.template(builders.container(gpus=1))
        metadata = {"name": "x", "namespace": namespace}

        create(cluster, {"apiVersion": "v1", "kind": "PodTemplate", "metadata": metadata, "template": template})

        assert cluster.exists("PodTemplate", "x", namespace=namespace)

    def test_administrators_and_namespaces_that_heal_a_cluster_need_no_answer(
        self, cluster: Cluster, namespace: str
    ) -> None:
        create(cluster, gpu_pod(namespace), who=())
        cluster.ensure_namespace("calico-system")
        try:
            create(cluster, gpu_pod("calico-system", "node-agent"))
            assert cluster.exists("Pod", "trainer", namespace=namespace)
            assert cluster.exists("Pod", "node-agent", namespace="calico-system")
        finally:
            cluster.delete_namespace("calico-system", wait=False)

        cluster.kubectl("label", "namespace", namespace, "gpu-usher.io/exempt=true")
        assert wait_until(lambda: is_let_in(cluster, namespace), description="the label has reached the API server")


def test_pods_that_run_can_be_labelled_released_and_ended(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """Controllers write Pods all the time; a finalizer that nothing can remove would keep a Pod for good."""
    with contextlib.ExitStack() as stack:
        with serving(tmp_path) as server:
            stack.enter_context(registered(cluster, server, closed=["validate", "mutate"]))
            create(cluster, gpu_pod(namespace, finalizer="example.com/held"))
            running_pods(cluster, namespace, count=1)
        pod = ("pod", "trainer", f"--namespace={namespace}", *TENANT)

        cluster.kubectl("label", *pod, "team=nlp")
        cluster.kubectl("annotate", *pod, "example.com/seen=true")
        cluster.kubectl("delete", *pod, "--wait=false")
        cluster.kubectl("patch", *pod, "--type=json", '--patch=[{"op": "remove", "path": "/metadata/finalizers"}]')
        assert wait_until(lambda: not cluster.objects("Pod", namespace=namespace), description="the pod has ended")


def is_let_in(cluster: Cluster, namespace: str) -> bool:
    try:
        create(cluster, gpu_pod(namespace, "rescued"))
    except KubectlError:
        return False
    return True


@pytest.mark.usefixtures("away")
def test_break_glass_lets_everything_in_with_what_it_needs(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """As the page says: both kinds of configuration go, and `usher fix` writes what the webhook would have added."""
    file = tmp_path / "deployment.yaml"
    template = builders.template(builders.container(gpus=1))
    file.write_text(yaml.safe_dump(deployment(namespace, "urgent", template, replicas=1)))
    with pytest.raises(KubectlError, match=REFUSED):
        cluster.kubectl("create", f"--filename={file}", *TENANT)

    (delete,) = re.findall(r"`kubectl (delete \S*webhookconfiguration\S* gpu-usher)`", BREAK_GLASS)
    cluster.kubectl(*delete.split())
    (fix,) = re.findall(r"`usher (fix [^`]*) FILE`", BREAK_GLASS)
    done = command.usher(*fix.replace("usher.yaml", str(CONFIG)).split(), file)
    assert done.code == 0, done.err

    wait_until(lambda: is_created(cluster, file), description="the API server asks no webhook")
    (pod,) = running_pods(cluster, namespace, count=1).values()
    assert pod["spec"]["nodeName"] in GPU_NODES


def is_created(cluster: Cluster, file: Path) -> bool:
    try:
        cluster.kubectl("create", f"--filename={file}", *TENANT)
    except KubectlError:
        return False
    return True


def test_while_it_answers_all_of_these_are_judged(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    """Administrators too; a webhook that fails open asks about them."""
    pod = builders.pod(builders.container(env={"NVIDIA_VISIBLE_DEVICES": "all"}), name="x", namespace=namespace)
    with serving(tmp_path) as server, registered(cluster, server, closed=["validate", "mutate"]):
        for who, webhook in ((TENANT, "accelerators"), ((), "validate")):
            with pytest.raises(KubectlError, match=rf'"{webhook}\.gpu-usher\.io" denied the request') as refused:
                create(cluster, pod, who=who)
            assert "USH201" in refused.value.stderr
