"""Rows of known_keys.yaml about node pools, networks, device stacks and the kubelet: what their controllers refuse."""

from typing import Any

import pytest
import yaml

from usher.kinds.reading import refused_values, value_forms

_Json = dict[str, Any]


def _found(kind: str, text: str) -> list[str]:
    """The remedies of the findings about an object; its metadata are a, unless the text has others."""
    version, _, name = kind.partition(" ")
    value = {"apiVersion": version, "kind": name, "metadata": {"name": "a"}, **yaml.safe_load(text)}
    found = (
        *refused_values.wrong_values(value, (version.rpartition("/")[0], name)),
        *refused_values.wrong_pods(value, value_forms.pod_specs(value)),
    )
    return [each.remedy for each in found]


_CLASS = "karpenter.k8s.aws/v1 EC2NodeClass"
_BY_GROUP = "write group, for example karpenter.k8s.aws, and kind"
_RESERVE = "reserve in reservedMemory the sum of kubeReserved, systemReserved and the hard eviction threshold"
_TEMPLATE = "resource.k8s.io/v1 ResourceClaimTemplate"
_REQUEST = "{spec: {spec: {devices: {requests: [{name: g, %s}]}}}}"
_ONE = "keep one of exactly and firstAvailable"
_ASKED = "{spec: {template: {spec: {%scontainers: [{name: e, image: 'lab/dcgm-exporter:4', args: [%s]}]}}}}"
_ADDRESS = "use the address of the node, set hostNetwork: true, or remove the option"
_SHARE = "{spec: {template: {spec: {%scontainers: [{name: c, image: a, resources: {limits: {%s}}}]}}}}"
_ALONE = "{spec: {schedulerName: volcano, containers: [{name: c, image: a, resources: {limits: {%s}}}]}}"
_VOLCANO = "set schedulerName: volcano, unless a webhook sets it"
_CLIQUES = "grove.io/v1alpha1 PodCliqueSet"
_CLIQUE = (
    "{spec: {template: {cliques: [{name: w, spec: {podSpec: {schedulerName: %s, "
    "containers: [{name: c, image: a, resources: {limits: {nvidia.com/gpu: 1, nvidia.com/gpumem: 3000}}}]}}}]}}}"
)
_CUSTOM = (
    "{spec: {predictor: {schedulerName: volcano, "
    "containers: [{image: a, resources: {limits: {nvidia.com/gpumem: 1}}}]%s}}}"
)
_POOL = "karpenter.sh/v1 NodePool"
_SRIOV = "sriovnetwork.openshift.io/v1 SriovNetworkNodePolicy"
_NIC = "mellanox.com/v1alpha1 NicClusterPolicy"
_NETWORK = "k8s.cni.cncf.io/v1 NetworkAttachmentDefinition"
_KUBELET = "kubelet.config.k8s.io/v1beta1 KubeletConfiguration"
_DRIVER = "nvidia.com/v1alpha1 NVIDIADriver"
_POLICY = "nvidia.com/v1 ClusterPolicy"
_PLUGIN = "deviceplugin.intel.com/v1 GpuDevicePlugin"
_MAP = "v1 ConfigMap"
_BOTTLEROCKET = "{spec: {amiSelectorTerms: [{alias: bottlerocket@v1.49.0}], blockDeviceMappings: [%s]}}"
_REQUIREMENT = "{spec: {template: {spec: {requirements: [%s]}}}}"
_VFS = "{metadata: {namespace: sriov-network-operator}, spec: {resourceName: vf, nicSelector: {vendor: 15b3}, %s}}"
_CNI = '{spec: {config: \'{"type": "%s", "ipam": {"type": "%s", "subnet": "10.0.0.0/24"}}\'}}'
_RDMA = "{metadata: {name: %s}, spec: {rdmaSharedDevicePlugin: {config: '{\"configList\": [%s]}'}}}"
_PROFILE = '{"gpu-config-profiles": {"p": {%s"profiles": [{"computePartition": "CPX", "memoryPartition": "%s"}]}}}'
_TIERS = "actions: allocate\ntiers: [{plugins: [{name: %s}]}]"
_GROUP = "{managedNodeGroups: [{name: g, minSize: %s, labels: {a: b}%s}]}"
_ENGINE = (
    "{spec: {template: {spec: {%scontainers: [{image: dcgm-exporter:4, "
    "env: [{name: DCGM_REMOTE_HOSTENGINE_INFO, value: '%s'}]}]}}}}"
)
_TAINTED = "{spec: {template: {spec: {taints: [{key: a/b}], requirements: [{key: a/b, operator: Exists}]}}}}"
_DRAINS = (
    "{spec: {driver: {manager: {env: [{name: ENABLE_AUTO_DRAIN, value: 'true'}]}, upgradePolicy: {autoUpgrade: %s}}}}"
)
_GKE = "cloud.google.com/v1 ComputeClass"
_ALL_NODES = "use whereabouts or nv-ipam, which know the addresses of all nodes"
_CREATION = (
    "set nodePoolAutoCreation.enabled to true, or label and taint a node pool with cloud.google.com/compute-class"
)
_RUNTIME, _SERVED = "serving.kserve.io/v1alpha1 ServingRuntime", "serving.kserve.io/v1beta1 InferenceService"
_NIM, _START = "apps.nvidia.com/v1alpha1 NIMService", "add the command of the program"
_SEVERAL = "set volumeAccessMode to ReadWriteMany with a StorageClass that has it"
_TO_ZERO = (
    "{metadata: {annotations: {serving.kserve.io/deploymentMode: %s, serving.kserve.io/autoscalerClass: %s}}, "
    "spec: {predictor: {minReplicas: 0}}}"
)
_LITELLM = "{data: {a: '{model_list: [{litellm_params: {model: %s, api_base: \"%s\"}}]}'}}"
_PICKER = (
    "{data: {a: '{kind: EndpointPickerConfig, plugins: [{type: queue-scorer}, {type: single-profile-handler}], "
    "schedulingProfiles: [{name: a, plugins: [{pluginRef: %s}]}]}'}}"
)
_SHARED = "nodeSelector: {cloud.google.com/gke-gpu-sharing-strategy: mps}, "
_PRIVILEGED = "securityContext: {privileged: true}, "
_PODS = "{spec: {%scontainers: [{name: c, image: x, %sresources: {limits: {%s: 1}}}]}}"


@pytest.mark.parametrize(
    ("kind", "text", "remedies"),
    [
        (_CLASS, "{spec: {role: r, instanceProfile: p}}", ["keep one of them"]),
        (_CLASS, "{spec: {amiSelectorTerms: [{id: ami-1}]}}", ["set amiFamily, for example to AL2023"]),
        (_CLASS, "{spec: {amiFamily: Custom, amiSelectorTerms: [{id: ami-1}]}}", []),
        (_CLASS, "{spec: {amiSelectorTerms: [{alias: al2023}]}}", ["write al2023@latest, or @ and a version"]),
        (
            _CLASS,
            "{spec: {amiFamily: AL2023, amiSelectorTerms: [{alias: bottlerocket@latest}]}}",
            ["remove amiFamily, because the alias says it"],
        ),
        (
            _CLASS,
            _BOTTLEROCKET % "{deviceName: /dev/xvda, ebs: {volumeSize: 300Gi}}",
            ["give /dev/xvdb the size, and /dev/xvda 4Gi"],
        ),
        (
            _CLASS,
            _BOTTLEROCKET % "{deviceName: /dev/xvda, rootVolume: true}, {deviceName: /dev/xvdb}",
            ["remove rootVolume, or set it at /dev/xvdb"],
        ),
        (_CLASS, _BOTTLEROCKET % "{deviceName: /dev/xvda}, {deviceName: /dev/xvdb, rootVolume: true}", []),
        (_POOL, _REQUIREMENT % "{key: a/b, operator: Gt, values: ['1', '2']}", ["keep one number"]),
        (_POOL, _REQUIREMENT % "{key: a/b, operator: Gt, values: ['1']}", []),
        (_POOL, _REQUIREMENT % "{key: a/b, operator: In}", ["add values, or use Exists"]),
        (
            _POOL,
            _REQUIREMENT % "{key: kubernetes.io/hostname, operator: In, values: [n]}",
            ["remove it, or use a label of your own"],
        ),
        (_POOL, _REQUIREMENT % "{key: karpenter.sh/capacity-type, operator: In, values: [spot]}", []),
        (_POOL, _REQUIREMENT % "{key: a/b, operator: Exists}", ["add a taint, which only those pods tolerate"]),
        (_POOL, _REQUIREMENT % "{key: karpenter.k8s.aws/instance-gpu-name, operator: Exists}", []),
        (_POOL, _TAINTED, []),
        (
            _POOL,
            "{spec: {disruption: {budgets: [{nodes: '0', schedule: '@daily'}, {nodes: 10%}]}}}",
            ["add a duration, for example 8h"],
        ),
        (
            _POOL,
            "{spec: {template: {spec: {startupTaints: [{key: nvidia.com/gpu}, {key: cilium.io/agent-not-ready}]}}}}",
            ["move it to taints"],
        ),
        (_SRIOV, _VFS % "deviceType: vfio-pci, isRdma: true", ["set deviceType to netdevice"]),
        (_SRIOV, _VFS % "deviceType: netdevice, isRdma: true", []),
        (_SRIOV, _VFS % "vdpaType: vhost", ["set eSwitchMode to switchdev"]),
        (_SRIOV, _VFS % "linkType: IB, eSwitchMode: switchdev", ["remove eSwitchMode"]),
        (_SRIOV, "{spec: {resourceName: vf}}", ["add vendor, deviceID, pfNames or rootDevices"]),
        (
            _SRIOV,
            "{metadata: {namespace: team-a}, spec: {resourceName: vf, nicSelector: {pfNames: [a]}}}",
            ["create it in sriov-network-operator, or in the namespace of your operator"],
        ),
        (
            "mellanox.com/v1alpha1 HostDeviceNetwork",
            "{spec: {resourceName: nvidia.com/vf}}",
            ["write the part after the slash; the operator adds its prefix"],
        ),
        (
            _NIC,
            _RDMA % ("nic-cluster-policy", '{"resourceName": "a", "rdmaHcaMax": 1}'),
            ["add selectors, for example ifNames"],
        ),
        (
            _NIC,
            _RDMA % ("nic-cluster-policy", '{"resourceName": "a", "selectors": {"ifNames": ["b"]}}'),
            ["add rdmaHcaMax, the number of pods that share a device"],
        ),
        (
            _NIC,
            _RDMA % ("mine", '{"resourceName": "a", "rdmaHcaMax": 1, "selectors": {"ifNames": ["b"]}}'),
            ["call it nic-cluster-policy"],
        ),
        (_NETWORK, _CNI % ("ipvlan", "host-local"), [_ALL_NODES]),
        (_NETWORK, _CNI % ("bridge", "host-local"), []),
        (_NETWORK, _CNI % ("macvlan", "whereabouts"), []),
        (_NETWORK, "{spec: {config: 'no JSON: ['}}", []),
        (
            _KUBELET,
            "{memoryManagerPolicy: Static}",
            ["reserve in reservedMemory the sum of kubeReserved, systemReserved and the hard eviction threshold"],
        ),
        (_MAP, ('{data: {kubelet: "apiVersion: kubelet.config.k8s.io/v1beta1\\nkind: KubeletConfiguration\\n'
               'memoryManagerPolicy: Static"}}'), [_RESERVE]),
        (_POOL, "{spec: {template: {spec: {nodeClassRef: {apiVersion: a/v1, kind: b, name: c}}}}}", [_BY_GROUP]),
        (_KUBELET, "{memoryManagerPolicy: Static, reservedMemory: [{numaNode: 0, limits: {memory: 1Gi}}]}", []),
        (_KUBELET, "{cpuManagerPolicy: static}", ["set reservedSystemCPUs, or cpu in kubeReserved"]),
        (_KUBELET, "{cpuManagerPolicy: static, kubeReserved: {cpu: 500m}}", []),
        (_KUBELET, "{maxParallelImagePulls: 5}", ["set serializeImagePulls to false"]),
        (_KUBELET, "{maxParallelImagePulls: 5, serializeImagePulls: false}", []),
        ("eksctl.io/v1alpha5 ClusterConfig", _GROUP % (0, ""), ["set propagateASGTags: true"]),
        ("eksctl.io/v1alpha5 ClusterConfig", _GROUP % (0, ", propagateASGTags: true"), []),
        ("eksctl.io/v1alpha5 ClusterConfig", _GROUP % (1, ""), []),
        (
            "kubevirt.io/v1 KubeVirt",
            "{spec: {configuration: {permittedHostDevices: {pciHostDevices: [{pciVendorSelector: '5e:00.0'}]}}}}",
            ["write both with a colon, as lspci -nn has them, for example 10DE:1EB8"],
        ),
        (
            _PLUGIN,
            "{spec: {sharedDevNum: 1, preferredAllocationPolicy: packed}}",
            ["remove preferredAllocationPolicy, or set sharedDevNum to 2 or more"],
        ),
        (_PLUGIN, "{spec: {sharedDevNum: 10, preferredAllocationPolicy: packed}}", []),
        (
            _MAP,
            yaml.safe_dump({"data": {"config.json": _PROFILE % ('"skippedGPUs": {"ids": [6]}, ', "NPS4")}}),
            ["remove skippedGPUs, or keep NPS1"],
        ),
        (_MAP, yaml.safe_dump({"data": {"config.json": _PROFILE % ('"skippedGPUs": {"ids": [6]}, ', "NPS1")}}), []),
        (_MAP, yaml.safe_dump({"data": {"config.json": _PROFILE % ("", "NPS4")}}), []),
        (
            _MAP,
            yaml.safe_dump({"data": {"volcano-scheduler.conf": _TIERS % "deviceshare"}}),
            ["add the plugin predicates"],
        ),
        (_MAP, yaml.safe_dump({"data": {"volcano-scheduler.conf": _TIERS % "deviceshare}, {name: predicates"}}), []),
        (_DRIVER, "{spec: {usePrecompiled: true, version: 570.86.15}}", ["write the branch alone, for example 570"]),
        (_DRIVER, "{spec: {usePrecompiled: true, version: '570'}}", []),
        (_DRIVER, "{spec: {usePrecompiled: true, version: 570.86.15, repository: registry.example.com}}", []),
        (_DRIVER, "{spec: {default: true, nodeSelector: {a: b}}}", ["remove nodeSelector, or default"]),
        (
            _POLICY,
            "{spec: {driver: {enabled: true}, toolkit: {enabled: false}}}",
            ["set toolkit.enabled to true, unless the toolkit of the hosts has the root /run/nvidia/driver"],
        ),
        (_POLICY, "{spec: {driver: {enabled: false}, toolkit: {enabled: false}}}", []),
        (_POLICY, _DRAINS % "true", ["set drain.enable, or podDeletion, in upgradePolicy"]),
        (_POLICY, _DRAINS % "false", []),
        (
            _GKE,
            "{spec: {priorities: [{machineType: g2-standard-4}]}}",
            [_CREATION],
        ),
        (_GKE, "{spec: {priorities: [{nodepools: [a]}, {machineType: g2-standard-4}]}}", []),
        ("v1 Pod", _PODS % (_SHARED, "", "a"), ["set hostIPC: true"]),
        ("v1 Pod", _PODS % ("", _PRIVILEGED, "nvidia.com/gpumem"), ["remove privileged: true"]),
        (
            "v1 Pod",
            _PODS % ("nodeSelector: {kubernetes.io/os: windows}, ", "", "nvidia.com/gpu"),
            ["ask for microsoft.com/directx, which the device plugin for DirectX offers"],
        ),
        (
            "apps/v1 DaemonSet",
            _ENGINE % ("", "localhost:5555"),
            ["use the address of the node, set hostNetwork: true, or remove the variable"],
        ),
        ("apps/v1 DaemonSet", _ENGINE % ("hostNetwork: true, ", "localhost:5555"), []),
        ("apps/v1 DaemonSet", _ENGINE % ("", "$(NODE_IP):5555"), []),
        ("apps/v1 DaemonSet", _ASKED % ("", "-r, 'localhost:5555'"), [_ADDRESS]),
        ("apps/v1 DaemonSet", _ASKED % ("", "'--remote-hostengine-info=127.0.0.1:5555'"), [_ADDRESS]),
        ("apps/v1 DaemonSet", _ASKED % ("", "-r, 'dcgm:5555'"), []),
        ("apps/v1 DaemonSet", _ASKED % ("hostNetwork: true, ", "-r, 'localhost:5555'"), []),
        ("v1 Pod", "{spec: {containers: [{image: 'nvidia/cuda:12.8.1-base-ubuntu24.04'}]}}", [_START]),
        ("v1 Pod", "{spec: {containers: [{image: 'nvidia/cuda:12.8.1-base-ubuntu24.04', args: [a]}]}}", []),
        ("apps/v1 Deployment", _SHARE % ("", "volcano.sh/vgpu-number: 1"), [_VOLCANO]),
        ("apps/v1 Deployment", _SHARE % ("schedulerName: volcano, ", "volcano.sh/vgpu-number: 1"), []),
        ("ray.io/v1 RayCluster", _SHARE % ("", "volcano.sh/vgpu-number: 1"), []),
        ("v1 Pod", _ALONE % "volcano.sh/vgpu-memory: 3000", ["add volcano.sh/vgpu-number: 1 to the limits"]),
        ("v1 Pod", _ALONE % "volcano.sh/vgpu-memory: 3000, volcano.sh/vgpu-number: 1", []),
        (_CLIQUES, _CLIQUE % "volcano", ["remove schedulerName, or ask for a share that this scheduler knows"]),
        (_CLIQUES, _CLIQUE % "hami-scheduler", []),
        (_SERVED, _CUSTOM % "", ["remove schedulerName, or ask for a share that this scheduler knows"]),
        (_SERVED, _CUSTOM % ", model: {modelFormat: {name: a}}", []),
        (_TEMPLATE, _REQUEST % "exactly: {deviceClassName: a}, firstAvailable: [{deviceClassName: a}]", [_ONE]),
        (_TEMPLATE, _REQUEST % "firstAvailable: [{deviceClassName: a}]", []),
        (_NIM, "{spec: {replicas: 3, storage: {pvc: {volumeAccessMode: ReadWriteOnce}}}}", [_SEVERAL]),
        (_NIM, "{spec: {replicas: 1, storage: {pvc: {volumeAccessMode: ReadWriteOnce}}}}", []),
        (_RUNTIME, "{spec: {containers: [{name: vllm}]}}", ["call the container of the server kserve-container"]),
        (_RUNTIME, "{spec: {containers: [{name: proxy}, {name: kserve-container}]}}", []),
        (_RUNTIME, "{spec: {multiModel: true, containers: [{name: triton}]}}", []),
        (_SERVED, "{spec: {predictor: {model: {name: llm}}}}", ["leave name out"]),
        (_SERVED, "{spec: {predictor: {name: llm, model: {runtime: r}}}}", []),
        (_SERVED, _TO_ZERO % ("RawDeployment", "hpa"), ["use the deploymentMode Knative, or autoscalerClass: keda"]),
        (_SERVED, _TO_ZERO % ("RawDeployment", "keda"), []),
        (_SERVED, _TO_ZERO % ("Serverless", "hpa"), []),
        (_MAP, _LITELLM % ("openai/qwen", "http://vllm:8000"), ["write http://vllm:8000/v1"]),
        (_MAP, _LITELLM % ("openai/qwen", "http://vllm:8000/v1"), []),
        (_MAP, _LITELLM % ("hosted_vllm/qwen", "http://vllm:8000"), []),
        (_MAP, _PICKER % "kv-scorer", ["add a plugin with the name or the type kv-scorer"]),
        (_MAP, _PICKER % "queue-scorer", []),
        (
            _MAP,
            (_PICKER % "queue-scorer").replace("[{name: a,", "[{name: b, plugins: []}, {name: a,"),
            ["keep one profile, or use a handler of several, for example disagg-profile-handler of llm-d"],
        ),
        (
            "serving.knative.dev/v1 Service",
            "{spec: {template: {spec: {timeoutSeconds: 1800}}}}",
            ["set timeoutSeconds to 600, or raise max-revision-timeout-seconds in config-defaults"],
        ),
        ("serving.knative.dev/v1 Service", "{spec: {template: {spec: {timeoutSeconds: 600}}}}", []),
    ],
)  # fmt: skip
def test_a_row_names_what_a_controller_refuses_and_passes_what_it_takes(
    kind: str, text: str, remedies: list[str]
) -> None:
    assert _found(kind, text) == remedies


@pytest.mark.parametrize("damaged", [None, 1, "x", [], [[]], {"a": None}, [{"a": 10**400}]])
def test_damaged_values_are_read_by_every_row(damaged: object) -> None:
    for kind in refused_values._rows_by_kind("values"):
        group, _, name = kind.partition(" ")
        for value in ({"spec": damaged}, {"spec": {"config": damaged}, "data": damaged, "metadata": damaged}):
            whole: _Json = {"apiVersion": f"{group}/v1", "kind": name, **value}
            assert list(refused_values.wrong_values(whole, (group, name))) is not None
