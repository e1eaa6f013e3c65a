"""Values of Helm charts that controllers install: where they are written, and what the charts make of them."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import chosen_boards, device_stack, refused_values, templates, value_forms
from usher.kinds.reading.values import Objects

_TALOS = """{apiVersion: v1, kind: Node, metadata: {name: t, labels: {nvidia.com/gpu.present: 'true'}},
  status: {allocatable: {cpu: 4}, nodeInfo: {osImage: Talos (v1.10.2)}}}"""
_BARE = "{apiVersion: v1, kind: Node, metadata: {name: b}, status: {allocatable: {cpu: 4}}}"
_LABELLED = _TALOS.replace("name: t", "name: l").replace("Talos (v1.10.2)", "Ubuntu 24.04")
_POLICY = "{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {name: p}, spec: {devicePlugin: {enabled: %s}}}"


def _found(*texts: str) -> list[tuple[str, str]]:
    """Paths and remedies of the findings about the first of several objects beside the others."""
    values = [yaml.safe_load(text) for text in texts]
    value, objects = values[0], Objects(values)
    key = str(value["apiVersion"]).rpartition("/")[0], str(value["kind"])
    specs = value_forms.pod_specs(value)
    found = [
        *refused_values.wrong_values(value, key),
        *chosen_boards.beside_others(value, key, objects, None, specs),
        *device_stack.disagreements(value, key, objects),
    ]
    return [(each.path, each.remedy) for each in found]


def _release(chart: str, values: str = "", name: str = "r") -> str:
    return (
        f"{{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {{name: {name}, namespace: {name}}}, "
        f"spec: {{chart: {{spec: {{chart: {chart}}}}}, values: {{{values}}}}}}}"
    )


def _application(source: str) -> str:
    return f"{{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {{name: r}}, spec: {{{source}}}}}"


_DRIVER = "{apiVersion: nvidia.com/v1, kind: ClusterPolicy, metadata: {name: p}, spec: {driver: {enabled: %s}}}"
_ON_GOOGLE = _LABELLED.replace("Ubuntu 24.04", "Container-Optimized OS from Google").replace(
    "labels: {", "labels: {cloud.google.com/gke-accelerator: nvidia-l4, "
)
_MAP = "config: {map: {any: %s}}"
_DATA = """driver: {enabled: false},
  devicePlugin: {config: {create: true, name: m, default: %s, data: {%s: 'sharing: {timeSlicing: {}}'}}}"""
_GFD = "gfd: {enabled: true}"
_PRESENT = "{nvidia.com/gpu.present: 'true'}"
_TAINTED = """{apiVersion: v1, kind: Node, metadata: {name: t, labels: %s}, status: {allocatable: {cpu: 4}},
  spec: {taints: [{key: %s, value: %s, effect: NoSchedule}]}}"""
_DOMAINS = "resources: {gpus: {enabled: false}}"
_OFF = "driver: {enabled: false}, toolkit: {enabled: false}"
_TEXT = '"driver: {enabled: false}\\ntoolkit: {enabled: false}\\n"'
_OCI = """{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: r},
  spec: {chartRef: {name: gpu-operator}}}"""
_RANCHER = """{apiVersion: helm.cattle.io/v1, kind: HelmChart, metadata: {name: g},
  spec: {chart: nvidia/gpu-operator, set: {driver.enabled: false}}}"""
_SVELTOS = """{apiVersion: config.projectsveltos.io/v1beta1, kind: ClusterProfile, metadata: {name: g},
  spec: {helmCharts: [{chartName: nvidia/gpu-operator, values: 'mig: {strategy: mixed}'}]}}"""
_SET = ", parameters: [{name: driver.enabled, value: 'false'}, {name: toolkit.enabled, value: 'false'}]"


@pytest.mark.parametrize(
    ("release", "places"),
    [
        (_release("gpu-operator"), ["/spec/values"] * 2),
        (_release("gpu-operator", "driver: {enabled: true}"), ["/spec/values/driver/enabled", "/spec/values"]),
        (_release("gpu-operator", _OFF), []),
        (_release("gpu-operator", "clusterPolicy: {deployCR: false}"), []),
        (_release("other"), []),
        (_OCI, ["/spec"] * 2),
        (_OCI.replace("}}}", "}, valuesFrom: [{kind: Secret, name: s}]}}"), []),
        (_application("source: {chart: gpu-operator, helm: {values: 'gfd: {}'}}"), ["/spec/source/helm/values"] * 2),
        (_application(f"sources: [{{chart: gpu-operator, helm: {{values: {_TEXT}}}}}]"), []),
        (_application("source: {chart: gpu-operator, helm: {values: 'a: ['}}"), []),
        (_application(f"source: {{chart: gpu-operator, helm: {{valuesObject: {{gfd: {{}}}}{_SET}}}}}"), []),
        (_application("source: {chart: gpu-operator, helm: {parameters: [{name: 'a[0].b', value: c}]}}"), []),
        (_application("source: {chart: gpu-operator, helm: {valueFiles: [values.yaml]}}"), []),
        (_RANCHER, ["/spec"]),
        (_SVELTOS, ["/spec/helmCharts/0/values"] * 2),
    ],
)
def test_the_policy_of_the_chart_is_judged_at_its_values(release: str, places: list[str]) -> None:
    assert [path for path, _ in _found(release, _TALOS)] == places


@pytest.mark.parametrize(
    ("release", "others", "count"),
    [
        (_release("gpu-operator", "mig: {enabled: true, strategy: mixed}"), (), 1),
        (_release("gpu-operator", "devicePlugin: {timeSlicing: {replicas: 4}, config: {map: {}}}"), (), 2),
        (_release("gpu-operator", "devicePlugin: {enabled: true, mps: {root: /x}, config: {data: {}}}"), (), 0),
        (_release("gpu-operator", "driver: {enable: false}, nfd: {enabled: false}"), (), 1),
        (_release("gpu-operator", "driver: {enabled: false}, toolkit: {enable: false}"), (), 1),
        (_release("gpu-operator", "sharing: {}, daemonsets: {}"), (), 1),
        (_release("nvidia-device-plugin", "config: {name: a, map: {b: c}}"), (), 1),
        (_release("nvidia-device-plugin", "config: {name: a, default: b}"), (), 0),
        (_release("nvidia-device-plugin", "config: {map: {b: 'sharing: {mps: {resources: []}}'}}"), (), 1),
        (_release("nvidia-device-plugin", 'config: {map: {b: "sharing:\\n  mps:\\n    resources: []"}}'), (), 1),
        (_release("nvidia-device-plugin", "gfd: {enabled: true}, config: {map: {b: 'sharing: {mps: {a: b}}'}}"), (), 0),
        (_release("nvidia-device-plugin", "config: {map: {b: 'sharing: {timeSlicing: {}}'}}"), (), 0),
        (_release("nvidia-device-plugin"), (_BARE,), 1),
        (_release("nvidia-device-plugin"), (_BARE, _LABELLED), 0),
        (_release("nvidia-device-plugin", "gfd: {enabled: true}"), (_BARE,), 0),
        (_release("nvidia-device-plugin"), (_POLICY % "true",), 1),
        (_release("nvidia-device-plugin"), (_POLICY % "false",), 0),
        (_release("hami"), (_POLICY % "true",), 1),
        (_release("hami"), (_release("gpu-operator", name="g"),), 1),
        (_release("hami"), (_release("gpu-operator", "devicePlugin: {enabled: false}", "g"),), 0),
        (_release("dra-driver-nvidia-gpu", "gpuResourcesEnabledOverride: true"), (_POLICY % "true",), 1),
        (_release("dra-driver-nvidia-gpu", "gpuResourcesEnabledOverride: true"), (_POLICY % "false",), 0),
        (_release("dra-driver-nvidia-gpu", "resources: {gpus: {enabled: false}}"), (_POLICY % "true",), 0),
        (
            _release(
                "dra-driver-nvidia-gpu",
                "gpuResourcesEnabledOverride: true, featureGates: {DynamicMIG: true, MPSSupport: true}",
            ),
            (),
            1,
        ),
        (
            _release("dra-driver-nvidia-gpu", "gpuResourcesEnabledOverride: true, featureGates: {DynamicMIG: true}"),
            (),
            0,
        ),
        (
            _release("nvidia-device-plugin", _MAP % "'sharing: {timeSlicing: {resources: [{name: a, replicas: 1}]}}'"),
            (),
            1,
        ),
        (
            _release("nvidia-device-plugin", _MAP % "'sharing: {timeSlicing: {resources: [{name: a, replicas: 2}]}}'"),
            (),
            0,
        ),
        (_release("nvidia-device-plugin", _MAP % "'sharing: {timeSlicing: {replicas: 2}}'"), (), 1),
        (_release("nvidia-device-plugin", _MAP % "'flags: {renameByDefault: true}'"), (), 1),
        (_release("nvidia-device-plugin", _MAP % "'timeSlicing: {resources: []}'"), (), 1),
        (_release("gpu-operator", _DATA % ("any", "any")), (), 0),
        (_release("gpu-operator", _DATA % ("all", "any")), (), 1),
        (_release("nvidia-device-plugin"), (_TALOS,), 1),
        (_release("nvidia-device-plugin", _GFD), (_TAINTED % ("{}", "nvidia.com/gpu", "'true'"),), 1),
        (_release("nvidia-device-plugin", _GFD), (_TAINTED % ("{}", "nvidia.com/gpu", "present"),), 0),
        (_release("nvidia-device-plugin", _GFD), (_TAINTED % (_PRESENT, "nvidia.com/gpu", "'true'"),), 0),
        (
            _release("nvidia-device-plugin", f"{_GFD}, nfd: {{worker: {{tolerations: [{{operator: Exists}}]}}}}"),
            (_TAINTED % ("{}", "nvidia.com/gpu", "'true'"),),
            0,
        ),
        (_release("nvidia-device-plugin"), (_TAINTED % (_PRESENT, "dedicated", "ml"),), 1),
        (_release("nvidia-device-plugin"), (_TAINTED % (_PRESENT, "node.kubernetes.io/not-ready", "ml"),), 0),
        (
            _release("nvidia-device-plugin", "tolerations: [{operator: Exists}]"),
            (_TAINTED % (_PRESENT, "dedicated", "ml"),),
            0,
        ),
        (_release("nvidia-device-plugin", "runtimeClassName: nvidia"), (_TALOS,), 0),
        (_release("hami", "devicePlugin: {runtimeClassName: nvidia}"), (_TALOS,), 0),
        (_release("hami"), (_TALOS,), 1),
        (_release("gpu-operator", "driver: {enabled: false}, nfd: {enabled: false}"), (_BARE,), 1),
        (_release("gpu-operator", "driver: {enabled: false}, nfd: {enabled: false}"), (_BARE, _LABELLED), 0),
        (_release("gpu-operator", "toolkit: {env: [{name: A, value: true}, {name: B, value: 'true'}]}"), (), 1),
        (_release("gpu-operator", "driver: {imagePullSecrets: [{name: a}]}"), (), 1),
        (_release("gpu-operator", "driver: {imagePullSecrets: [a]}"), (), 0),
        (_release("gpu-operator", "driver: {repository: nvcr.io/nvidia/driver}"), (), 1),
        (_release("gpu-operator", "driver: {repository: lab.example/driver, image: gpu}"), (), 0),
        (_release("gpu-operator", "driver: {version: 570.86.15-ubuntu22.04}"), (), 1),
        (_release("gpu-operator", "driver: {version: 570.86.15}"), (), 0),
        (_release("dra-driver-nvidia-gpu", _DOMAINS), (_BARE,), 1),
        (_release("dra-driver-nvidia-gpu", _DOMAINS), (_BARE, _LABELLED), 0),
        (_release("dra-driver-nvidia-gpu", _DOMAINS), (_ON_GOOGLE,), 1),
        (
            _release("dra-driver-nvidia-gpu", f"{_DOMAINS}, nvidiaDriverRoot: /home/kubernetes/bin/nvidia"),
            (_ON_GOOGLE,),
            0,
        ),
        (_release("nvidia-dra-driver-gpu"), (), 1),
        (_release("nvidia-dra-driver-gpu", "resources: {gpus: {enabled: true}}"), (), 1),
        (_release("nvidia-dra-driver-gpu", "gpuResourcesEnabledOverride: true"), (), 0),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (), 0),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (_DRIVER % "true",), 1),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (_DRIVER % "false",), 0),
        (_release("nvidia-dra-driver-gpu", f"{_DOMAINS}, nvidiaDriverRoot: /"), (_DRIVER % "true",), 1),
        (_release("nvidia-dra-driver-gpu", f"{_DOMAINS}, nvidiaDriverRoot: /x"), (_DRIVER % "true",), 0),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (_release("gpu-operator", name="g"),), 1),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (_release("gpu-operator", _OFF, "g"),), 0),
        (_release("nvidia-dra-driver-gpu", _DOMAINS), (_release("prometheus", name="g"),), 0),
        (_release("network-operator"), (_release("gpu-operator", name="g"),), 1),
        (_release("network-operator", "nfd: {enabled: false}"), (_release("gpu-operator", name="g"),), 0),
        (_release("node-feature-discovery"), (_release("gpu-operator", name="g"),), 1),
        (_release("node-feature-discovery"), (_release("gpu-operator", "nfd: {enabled: false}", "g"),), 0),
    ],
)
def test_charts_read_certain_values(release: str, others: tuple[str, ...], count: int) -> None:
    assert len(_found(release, *others)) == count


def test_pods_see_the_policy_that_a_chart_makes() -> None:
    pod = """{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [
      {name: c, image: lab/c:1, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}}"""

    assert [remedy for _, remedy in _found(pod, _release("gpu-operator"))] == [
        "ask for nvidia.com/gpu, or set mig.strategy to mixed"
    ]
    assert _found(pod, _release("gpu-operator", "mig: {strategy: mixed}")) == []


def test_pods_see_the_configuration_that_a_chart_makes() -> None:
    pod = """{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [
      {name: c, image: lab/c:1, resources: {limits: {nvidia.com/gpu: 2}}}]}}"""
    shared = (
        "'sharing: {timeSlicing: {failRequestsGreaterThanOne: %s, resources: [{name: nvidia.com/gpu, replicas: 2}]}}'"
    )

    assert len(_found(pod, _release("nvidia-device-plugin", "runtimeClassName: nvidia"))) == 1
    for single, count in (("true", 1), ("false", 0)):
        assert len(_found(pod, _release("nvidia-device-plugin", _MAP % (shared % single)))) == count


def test_a_setting_with_a_dot_in_its_name_makes_the_values_unknown() -> None:
    chart: dict[str, Any] = {
        "apiVersion": "helm.cattle.io/v1",
        "kind": "HelmChart",
        "spec": {"chart": "c", "set": {"nodeSelector.a\\.b/c": "d"}},
    }

    assert list(templates.releases_of(chart)) == []
    chart["spec"]["set"] = {"a.b": "true", "a.c": "d"}
    assert [each.values for each in templates.releases_of(chart)] == [{"a": {"b": True, "c": "d"}}]
