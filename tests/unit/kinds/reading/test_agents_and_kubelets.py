"""Agents, networks, kubelets and claims of devices beside nodes and other objects of the same files."""

import pytest

from unit.kinds.reading.rows_written import findings, node_of, pod_of, written

_NETWORKS = "name: nic-cluster-policy"
_SELECTS = "nodeSelector: {%s}, "


def _policy(spec: str) -> str:
    return written("nvidia.com/v1", "ClusterPolicy", spec)


def _webhook(reference: str, namespace: str = "h") -> str:
    client = f"clientConfig: {{service: {{name: s, namespace: {namespace}}}}}"
    return (
        "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: w, "
        f"annotations: {{cert-manager.io/inject-ca-from: {reference}}}}}, webhooks: [{{name: w.a.b, {client}}}]}}"
    )


def _agent(image: str, spec: str = "") -> str:
    return written("apps/v1", "DaemonSet", f"template: {{spec: {{{spec}containers: [{{name: c, image: {image}}}]}}}}")


def _tainted(labels: str = "", offers: str = "nvidia.com/gpu: 8") -> str:
    return node_of(labels, offers).replace("status:", "spec: {taints: [{key: lab, effect: NoSchedule}]}, status:")


_EFA = "602401143452.dkr.ecr.us-west-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:v0.5.6"
_FSX = "public.ecr.aws/fsx-csi-driver/aws-fsx-csi-driver:v1.5.0"
_ALL = "tolerations: [{operator: Exists}], "
_NIC = "feature.node.kubernetes.io/pci-15b3.present: 'true'"


@pytest.mark.parametrize(
    ("value", "node", "effect"),
    [
        (_agent(_EFA), _tainted(), "offers no vpc.amazonaws.com/efa"),
        (_agent(_EFA, _ALL), _tainted(), ""),
        (_agent(_EFA), _tainted(offers="amd.com/gpu: 8"), ""),
        (_agent(_FSX), _tainted(offers="amd.com/gpu: 8"), "cannot mount its volumes"),
        (_agent(_FSX), _tainted(offers="cpu: 8"), ""),
        (_agent("ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3"), _tainted(_NIC), "no devices and interfaces"),
        (_agent("ghcr.io/mellanox/k8s-rdma-shared-dev-plugin:v1.5.3"), _tainted(), ""),
        (
            written("mellanox.com/v1alpha1", "NicClusterPolicy", "", _NETWORKS),
            _tainted(_NIC),
            "network",
        ),
        (written("mellanox.com/v1alpha1", "NicClusterPolicy", "", _NETWORKS), _tainted(), ""),
        (
            written(
                "mellanox.com/v1alpha1",
                "NicClusterPolicy",
                "tolerations: [{key: lab, operator: Exists}]",
                _NETWORKS,
            ),
            _tainted(_NIC),
            "",
        ),
    ],
)
def test_agents_beside_the_device_plugin_tolerate_taints(value: str, node: str, effect: str) -> None:
    found = findings(value, node)

    assert len(found) == bool(effect)
    assert all(effect in each for each in found)


def _claims(request: str, more: str = "") -> str:
    spec = f"spec: {{devices: {{requests: [{{name: r, exactly: {{{request}}}}}]{more}}}}}"
    return written("resource.k8s.io/v1", "ResourceClaimTemplate", spec, "name: t, namespace: a")


_COMPARES = ", constraints: [{requests: [r], matchAttribute: %s}]"
_SELECTOR = 'deviceClassName: c, selectors: [{cel: {expression: \'device.attributes["%s"].%s == "x"\'}}]'


@pytest.mark.parametrize(
    ("claim", "remedy"),
    [
        (_claims("deviceClassName: c", _COMPARES % "k8s.io/pcieRoot"), "write resource.kubernetes.io/pcieRoot"),
        (_claims("deviceClassName: c", _COMPARES % "gpu.nvidia.com/pcieRoot"), "write resource.kubernetes.io/pcieRoot"),
        (_claims("deviceClassName: c", _COMPARES % "resource.kubernetes.io/pcieRoot"), ""),
        (_claims("deviceClassName: c", _COMPARES % "gpu.lab.com/pcieRoot"), ""),
        (_claims("deviceClassName: c", _COMPARES % "pcieRoot"), "for the root of PCIe"),
        (_claims(_SELECTOR % ("gpu.amd.com", "product")), "did you mean productName?"),
        (_claims(_SELECTOR % ("gpu.amd.com", "productName")), ""),
        (_claims(_SELECTOR % ("dra.net", "interfaceName")), ""),
        (_claims(_SELECTOR % ("dra.net", "numanode")), "did you mean numaNode?"),
    ],
)
def test_claims_name_attributes_that_drivers_give(claim: str, remedy: str) -> None:
    found = findings(claim)

    assert len(found) == bool(remedy)
    assert all(each.endswith(remedy) for each in found)


_TAKES = "resourceClaims: [{name: n, resourceClaimTemplateName: t}], "


@pytest.mark.parametrize(
    ("network", "device_class", "count"),
    [("hostNetwork: true, ", "dranet", 1), ("", "dranet", 0), ("hostNetwork: true, ", "gpu.nvidia.com", 0)],
)
def test_dranet_moves_no_interface_into_the_network_of_a_node(network: str, device_class: str, count: int) -> None:
    found = findings(pod_of(spec=network + _TAKES), _claims(f"deviceClassName: {device_class}"))

    assert sum("DRANET refuses" in each for each in found) == count


def _kubelet(fields: str) -> str:
    return f"{{apiVersion: kubelet.config.k8s.io/v1beta1, kind: KubeletConfiguration, {fields}}}"


_RESERVED = (
    "memoryManagerPolicy: Static, kubeReserved: {memory: 4Gi}, systemReserved: {memory: 2Gi}, "
    "evictionHard: {memory.available: %s, nodefs.available: 10%%}, "
    "reservedMemory: [{numaNode: 0, limits: {memory: 3Gi}}, {numaNode: 1, limits: {memory: 4Gi}}]"
)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (_RESERVED % "1Gi", ""),
        (_RESERVED % "2Gi", "7168 MiB of memory in reservedMemory and 8192 MiB"),
        (_RESERVED % "5%", ""),
        ("evictionHard: {memory.available: 1Gi}", "leaves its defaults out"),
        ("evictionHard: {memory.available: 1Gi, nodefs.available: 10%}", ""),
        ("evictionHard: {memory.available: 1Gi}, mergeDefaultEvictionSettings: true", ""),
    ],
)
def test_a_kubelet_adds_up_what_it_reserves(fields: str, words: str) -> None:
    found = findings(_kubelet(fields))

    assert len(found) == bool(words)
    assert all(words in each for each in found)


_WHOLE_CORES = _kubelet('cpuManagerPolicy: static, cpuManagerPolicyOptions: {full-pcpus-only: "true"}')


@pytest.mark.parametrize(
    ("resources", "count"),
    [
        ("limits: {nvidia.com/gpu: 1, cpu: 7}", 1),
        ("limits: {nvidia.com/gpu: 1, cpu: 8}", 0),
        ("limits: {nvidia.com/gpu: 1, cpu: 7}, requests: {cpu: 7}", 1),
        ("limits: {nvidia.com/gpu: 1, cpu: 7}, requests: {cpu: 4}", 0),
    ],
)
def test_whole_cores_have_an_even_number_of_cpus(resources: str, count: int) -> None:
    pod = pod_of().replace("limits: {nvidia.com/gpu: 1}", resources)

    assert sum("whole cores" in each for each in findings(pod, _WHOLE_CORES)) == count


@pytest.mark.parametrize(("pods", "count"), [("1", 1), ("4", 1), ("29", 0)])
def test_a_node_has_room_for_more_than_its_daemons(pods: str, count: int) -> None:
    node_class = written("karpenter.k8s.aws/v1", "EC2NodeClass", f"kubelet: {{maxPods: {pods}}}")

    assert sum("daemons" in each for each in findings(node_class)) == count


@pytest.mark.parametrize(("seconds", "count"), [("'1209600'", 1), ("'604800'", 0)])
def test_gke_gives_queued_nodes_for_a_week(seconds: str, count: int) -> None:
    metadata = f"name: x, annotations: {{provreq.kueue.x-k8s.io/maxRunDurationSeconds: {seconds}}}"

    assert len(findings(written("batch/v1", "Job", "", metadata))) == count


def _node_class(spec: str, name: str = "c") -> str:
    return written("karpenter.k8s.aws/v1", "EC2NodeClass", spec, f"name: {name}")


_DISK = "blockDeviceMappings: [{deviceName: /dev/xvda, ebs: {volumeSize: %s}}]"
_ASKS = pod_of().replace("nvidia.com/gpu: 1}", "nvidia.com/gpu: 1}, requests: {ephemeral-storage: 150Gi}")
_GROWS = pod_of(spec="volumes: [{name: s, emptyDir: {sizeLimit: 150Gi}}], ")
_IN_MEMORY = pod_of(spec="volumes: [{name: s, emptyDir: {medium: Memory, sizeLimit: 150Gi}}], ")


@pytest.mark.parametrize(
    ("pod", "classes", "count"),
    [
        (_ASKS, (_node_class(""),), 1),
        (_ASKS, (_node_class(_DISK % "100Gi"),), 1),
        (_ASKS, (_node_class(_DISK % "200Gi"),), 0),
        (_ASKS, (_node_class(_DISK % "'${SIZE}'"),), 0),
        (_ASKS, (_node_class(""), _node_class(_DISK % "1Ti", "d")), 0),
        (_ASKS, (_node_class("instanceStorePolicy: RAID0"),), 0),
        (_ASKS, (), 0),
        (_GROWS, (_node_class(""),), 1),
        (_GROWS, (_node_class(_DISK % "200Gi"),), 0),
        (_IN_MEMORY, (_node_class(""),), 0),
    ],
)
def test_pods_fit_the_disks_of_node_classes(pod: str, classes: tuple[str, ...], count: int) -> None:
    assert sum("smaller disks" in each for each in findings(pod, *classes)) == count


def _workers(pci: str, kind: str = "ConfigMap") -> str:
    text = f"sources: {{pci: {{{pci}}}}}"
    if kind == "ConfigMap":
        return f"{{apiVersion: v1, kind: ConfigMap, metadata: {{name: x}}, data: {{nfd-worker.conf: '{text}'}}}}"
    return written("nfd.openshift.io/v1", kind, f"workerConfig: {{configData: '{text}'}}")


@pytest.mark.parametrize(
    ("workers", "remedy"),
    [
        (_workers('deviceClassWhitelist: ["02", "0200"]'), 'add "03"'),
        (_workers('deviceClassWhitelist: ["02", "0302"]'), ""),
        (_workers('deviceLabelFields: ["class", "vendor", "device"]', "NodeFeatureDiscovery"), "vendor alone"),
        (_workers('deviceLabelFields: ["vendor"]', "NodeFeatureDiscovery"), ""),
        (_workers('deviceLabelFields: ["class", "vendor"]'), ""),
    ],
)
def test_feature_discovery_labels_gpus_as_the_operator_looks_for_them(workers: str, remedy: str) -> None:
    found = findings(workers, _policy(""))

    assert len(found) == bool(remedy)
    assert all(remedy in each for each in found)
    assert findings(workers) == []


def _certificate(issuer: str) -> str:
    return written("cert-manager.io/v1", "Certificate", f"issuerRef: {{{issuer}}}", "name: c, namespace: h")


def _issuer(kind: str, more: str = "") -> str:
    return written("cert-manager.io/v1", kind, "selfSigned: {}", f"name: s{more}")


@pytest.mark.parametrize(
    ("issuer", "others", "words"),
    [
        ("name: s", (_issuer("Issuer", ", namespace: other"),), "serves its own namespace"),
        ("name: s", (_issuer("Issuer", ", namespace: h"),), ""),
        ("name: s", (_issuer("Issuer"),), ""),
        ("name: s", (_issuer("ClusterIssuer"),), "without its kind"),
        ("name: s, kind: ClusterIssuer", (_issuer("ClusterIssuer"),), ""),
        ("name: s, kind: ClusterIssuer", (_issuer("Issuer", ", namespace: other"),), ""),
        ("name: s", (_issuer("ClusterIssuer"), _issuer("Issuer", ", namespace: h")), ""),
    ],
)
def test_a_certificate_finds_its_issuer(issuer: str, others: tuple[str, ...], words: str) -> None:
    found = findings(_certificate(issuer), *others)

    assert len(found) == bool(words)
    assert all(words in each for each in found)


def test_gke_makes_no_class_of_a_runtime_for_gpus() -> None:
    on_gke = _SELECTS % "cloud.google.com/gke-accelerator: nvidia-l4"

    assert len(findings(pod_of(spec=f"{on_gke}runtimeClassName: nvidia, "))) == 1
    assert findings(pod_of(spec="runtimeClassName: nvidia, ")) == []
    assert findings(pod_of(spec=f"{on_gke}runtimeClassName: gvisor, ")) == []


_EXPIRES = "template: {spec: {expireAfter: %s, terminationGracePeriod: 30m}}"
_KEPT = "metadata: {annotations: {karpenter.sh/do-not-disrupt: 'true'}}, spec: {containers: []}"


@pytest.mark.parametrize(
    ("pool", "template", "count"),
    [
        (_EXPIRES % "24h", _KEPT, 1),
        (_EXPIRES % "19m", _KEPT, 1),
        (_EXPIRES % "720h", _KEPT, 0),
        (_EXPIRES % "Never", _KEPT, 0),
        (_EXPIRES % "24h", "spec: {containers: []}", 0),
        ("template: {spec: {expireAfter: 24h}}", _KEPT, 0),
    ],
)
def test_nodes_live_longer_than_their_work(pool: str, template: str, count: int) -> None:
    found = findings(
        written("karpenter.sh/v1", "NodePool", pool), written("batch/v1", "Job", f"template: {{{template}}}")
    )

    assert sum("nothing may disrupt" in each for each in found) == count


@pytest.mark.parametrize(("annotations", "count"), [("", 1), ("cert-manager.io/allow-direct-injection: 'true'", 0)])
def test_a_secret_lets_its_ca_be_injected(annotations: str, count: int) -> None:
    webhook = _webhook("h/c").replace("inject-ca-from:", "inject-ca-from-secret:")
    secret = f"{{apiVersion: v1, kind: Secret, metadata: {{name: c, namespace: h, annotations: {{{annotations}}}}}}}"

    assert len(findings(webhook, secret)) == count


@pytest.mark.parametrize(
    ("policy", "labels", "words"),
    [
        ("driver: {enabled: true, version: 580.95.05}", "nvidia.com/vgpu.present: 'true'", "guest driver"),
        (
            "driver: {enabled: true, version: 580.95.05, licensingConfig: {secretName: l}}",
            "nvidia.com/vgpu.present: 'true'",
            "",
        ),
        ("driver: {enabled: true, version: 580.95.05}", "nvidia.com/vgpu.present: 'false'", ""),
        ("ccManager: {enabled: false}", "nvidia.com/cc.mode: 'on'", "confidential"),
        ("ccManager: {enabled: true}", "nvidia.com/cc.mode: 'on'", ""),
    ],
)
def test_a_policy_runs_what_its_nodes_need(policy: str, labels: str, words: str) -> None:
    found = findings(_policy(policy), node_of(labels))

    assert len(found) == bool(words)
    assert all(words in each for each in found)


_INTERFACES = 'name: p, namespace: a, annotations: {networking.gke.io/interfaces: "%s"}'
_DAEMON = "us-docker.pkg.dev/gce-ai-infra/gpudirect-%s/tcpgpudmarxd-dev:v1.0.11"


@pytest.mark.parametrize(
    ("daemon", "networks", "gpus", "count"),
    [("tcpxo", 8, 8, 0), ("tcpxo", 2, 8, 1), ("tcpxo", 2, 4, 0), ("tcpx", 4, 8, 0), ("tcpx", 3, 8, 1)],
)
def test_all_networks_of_gpus_are_attached(daemon: str, networks: int, gpus: int, count: int) -> None:
    names = r"\n".join(f"eth{each}" for each in range(networks + 1))
    pod = pod_of(_DAEMON % daemon, gpus=gpus).replace("name: p, namespace: a", _INTERFACES % names)

    assert sum("with fewer networks" in each for each in findings(pod)) == count


def test_an_autoscaler_waits_for_the_driver_of_new_nodes() -> None:
    pod = pod_of("registry.k8s.io/autoscaling/cluster-autoscaler:v1.32.1", gpus=0)

    for time, count in {"2m": 1, "90s": 1, "15m": 0}.items():
        command = f"name: c, command: [./cluster-autoscaler, --max-node-provision-time={time}]"
        assert sum("gives up new nodes" in each for each in findings(pod.replace("name: c", command))) == count


def test_machines_with_efa_are_in_one_zone() -> None:
    cluster = "{apiVersion: eksctl.io/v1alpha5, kind: ClusterConfig, metadata: {name: c}, nodeGroups: [%s]}"

    assert len(findings(cluster % "{efaEnabled: true, availabilityZones: [a, b]}")) == 1
    assert findings(cluster % "{efaEnabled: true, availabilityZones: [a]}") == []
    assert findings(cluster % "{availabilityZones: [a, b]}") == []


_CERTIFICATE = written("cert-manager.io/v1", "Certificate", "dnsNames: [s.h.svc]", "name: c, namespace: h")


@pytest.mark.parametrize(
    ("webhook", "remedy"),
    [
        (_webhook("h/c"), ""),
        (_webhook("other/c"), "write h/c"),
        (_webhook("c"), "write h/c"),
        (_webhook("other/absent"), ""),
        (_webhook("h/c", "i"), "add s.i.svc to the dnsNames"),
    ],
)
def test_a_webhook_names_a_certificate_for_its_service(webhook: str, remedy: str) -> None:
    found = findings(webhook, _CERTIFICATE)

    assert len(found) == bool(remedy)
    assert all(each.endswith(remedy) for each in found)


_MONITORED = "dcgmExporter: {serviceMonitor: {enabled: true%s}}"
_PROMETHEUS = written("monitoring.coreos.com/v1", "Prometheus", "serviceMonitorSelector: {matchLabels: {release: k}}")
_OPENSHIFT = "node.openshift.io/os_id: rhcos, node.kubernetes.io/instance-type: g5.xlarge"


@pytest.mark.parametrize(
    ("policy", "other", "words"),
    [
        (_policy(""), _policy("").replace("name: x", "name: y"), "keep one of them"),
        (_policy(""), _policy(""), ""),
        (_policy(_MONITORED % ""), _PROMETHEUS, "additionalLabels"),
        (_policy(_MONITORED % ", additionalLabels: {release: k}"), _PROMETHEUS, ""),
        (_policy(_MONITORED % ""), _PROMETHEUS.replace("matchLabels: {release: k}", ""), ""),
        (_policy(""), node_of(_OPENSHIFT), "NodeFeatureDiscovery"),
        (_policy(""), node_of(f"{_OPENSHIFT}, feature.node.kubernetes.io/pci-10de.present: 'true'"), ""),
        (_policy(""), node_of(_OPENSHIFT.replace("g5", "m5")), ""),
        (_policy(""), node_of("node.kubernetes.io/instance-type: g5.xlarge"), ""),
    ],
)
def test_a_policy_beside_what_it_needs(policy: str, other: str, words: str) -> None:
    found = findings(policy, other)

    assert len(found) == bool(words)
    assert all(words in each for each in found)


@pytest.mark.parametrize(
    ("label", "count"),
    [
        ("nvidia.com/gpu.product", 1),
        ("nvidia.com/cuda.driver.major", 1),
        ("nvidia.com/gpu.present", 0),
        ("lab/pool", 0),
    ],
)
def test_a_driver_selects_labels_that_nodes_have_without_it(label: str, count: int) -> None:
    driver = written("nvidia.com/v1alpha1", "NVIDIADriver", f"nodeSelector: {{{label}: x}}")

    assert sum("once a driver runs" in each for each in findings(driver)) == count


@pytest.mark.parametrize(("limits", "count"), [("nvidia.com/gpu: 0", 1), ("nvidia.com/gpu: '0'", 1), ("cpu: 10", 0)])
def test_a_limit_of_zero_allows_no_node(limits: str, count: int) -> None:
    assert len(findings(written("karpenter.sh/v1", "NodePool", f"limits: {{{limits}}}"))) == count
