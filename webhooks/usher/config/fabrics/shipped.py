"""The interconnect profiles that come with gpu-usher. docs/fabrics.md is written from them.

A node pool names its profile; usher never guesses it from the model of a GPU. A profile holds the settings for every
cluster with that fabric. Names of devices and networks differ between machines; a site adds them (`base`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from usher.config.fabrics.profiles import Fabric, Shipped

NCCL: Final = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html"
_MULTUS: Final = "https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/how-to-use.md"
_OPERATOR: Final = "https://github.com/Mellanox/network-operator"
_RDMA_PLUGIN: Final = "https://github.com/Mellanox/k8s-rdma-shared-dev-plugin"

SWITCHED_OFF: Final = "it switches off the fabric that the pool is there for"
OVER_PODS: Final = {"NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "=eth0"}
"""NCCL finds the cards itself. The ranks only meet on the pod network, whose interface is eth0 in every runtime."""

_NEEDS_OF_RDMA: Final = [
    "a resource of an RDMA device plugin, for example rdma/ib: 1",
    "IPC_LOCK (isolation.ipcLock), or nodes whose memlock limit is unlimited",
]

OWN_NETWORK_PROFILES: Final = {
    "infiniband": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            ipc_lock=True,
            needs=_NEEDS_OF_RDMA,
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about="InfiniBand, with NVIDIA's network operator or a device plugin like it. NCCL finds the cards by itself.",
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` with the cards of the machine type that are for training',
            '`env: {NCCL_COLLNET_ENABLE: "1"}` where the switches reduce (SHARP) and the image brings its plugin',
            '`env: {NCCL_IB_PCI_RELAXED_ORDERING: "1"}` and `topology` in virtual machines',
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
            "`networks: [rdma-net]` where Multus attaches the pods",
        ),
        sources=(NCCL, _RDMA_PLUGIN, _OPERATOR),
    ),
    "infiniband-mlx5": Shipped(
        profile=Fabric(
            env={
                **OVER_PODS,
                "NCCL_IB_HCA": "mlx5",
                "UCX_NET_DEVICES": "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1",
            },
            ipc_lock=True,
            needs=_NEEDS_OF_RDMA,
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about=(
            "InfiniBand on machines whose cards are called mlx5_0 to mlx5_3, all of them for training: the variables "
            "that most guides name. NCCL_IB_DISABLE=0, which they name as well, is NCCL's default."
        ),
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` where some cards are for storage or Ethernet: mlx5 takes all',
            "`topology: {configMap: nccl-topology}` in virtual machines",
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
        ),
        sources=(NCCL, "https://openucx.readthedocs.io/en/master/faq.html", _RDMA_PLUGIN),
    ),
    "roce": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            ipc_lock=True,
            needs=[
                *_NEEDS_OF_RDMA,
                "an interface on every rail, which Multus attaches by the annotation k8s.v1.cni.cncf.io/networks",
            ],
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about="RDMA over converged Ethernet, version 2. Recent versions of NCCL choose the GID by themselves.",
        add=(
            '`env: {NCCL_IB_HCA: "=mlx5_0:1,mlx5_1:1"}` with the cards of the rails',
            '`env: {NCCL_IB_GID_INDEX: "3"}` where NCCL is older than 2.21, with the index of the site',
            '`env: {NCCL_IB_TC: "106"}` with the traffic class for which the switches are lossless',
            "`networks: [rail-0, rail-1]`",
            "`resources: {rdma/roce: 1}`, as the device plugin names them",
        ),
        sources=(NCCL, _MULTUS, _RDMA_PLUGIN),
    ),
    "ethernet": Shipped(
        profile=Fabric(env={**OVER_PODS, "NCCL_IB_DISABLE": "1"}),
        about=(
            "The ordinary network of the pods, without RDMA. NCCL does not look for cards that it cannot use, and does "
            "not take other interfaces for faster ones."
        ),
        add=(
            '`env: {NCCL_SOCKET_IFNAME: "=net1"}` where another interface of the pods is the fast one',
            '`env: {NCCL_SOCKET_NTHREADS: "4", NCCL_NSOCKS_PERTHREAD: "4"}` on 100 Gbit/s',
        ),
        sources=(NCCL,),
    ),
    "mnnvl": Shipped(
        profile=Fabric(
            env={"NCCL_DEBUG": "WARN"},
            needs=[
                "a claim of a ComputeDomain's channel: resourceClaims of the pod, and claims of the container",
                "nodes of one NVLink domain: affinity by the label nvidia.com/gpu.clique",
            ],
        ),
        about=(
            "NVLink between nodes (GB200 and GB300 NVL72). NCCL uses it by itself where the pods hold a channel of "
            "IMEX, which the DRA driver gives with a ComputeDomain."
        ),
        add=(
            '`env: {NCCL_CUMEM_ENABLE: "1"}` where NCCL is too old to choose it',
            "the variables of the network between the domains, for example NCCL_IB_HCA",
        ),
        sources=(
            NCCL,
            "https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/dra-cds.html",
            "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master/gpudirect-rdma/nccl-test-imex-a4x.yaml",
        ),
    ),
}


_EFA: Final = "https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"
_GKE: Final = "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master"
_WHOLE_NODES: Final = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx"
_AZURE: Final = "https://github.com/Azure/azhpc-images/blob/master/components/customizations"

_OLD_PLUGIN: Final = "only aws-ofi-nccl before 1.7 needs it; later ones choose better by themselves"
_DEFAULT: Final = "the plugin's default is right for every machine"
_OF_SCRIPT: Final = "nccl-env-profile.sh of the node sets it, and its checker aborts the workload where it is another"
_OF_GIB: Final = "set_nccl_env.sh of the node sets it for the machine type"

CLOUD_PROFILES: Final = {
    "aws-efa": Shipped(
        profile=Fabric(
            # Interfaces of nodes have other names than those of pods; interfaces that lead to no other node are left
            # out.
            env={"FI_EFA_USE_HUGE_PAGE": "0", "NCCL_DEBUG": "WARN", "NCCL_SOCKET_IFNAME": "^docker,lo,veth"},
            needs=[
                "vpc.amazonaws.com/efa, as many as the machine has (p4d 4, p5 32), or a claim of the EFA DRA driver",
                "an image with libfabric 1.18 and aws-ofi-nccl 1.7, or later",
                "a security group that allows all traffic within itself",
            ],
            forbidden={
                "RDMAV_*": "it is of another library, and breaks forks beside EFA",
                "FI_PROVIDER": _OLD_PLUGIN,
                "FI_EFA_USE_DEVICE_RDMA": _OLD_PLUGIN,
                "FI_EFA_FORK_SAFE": "no kernel since 5.15 needs it",
                "FI_EFA_ENABLE_SHM_TRANSFER": "it is the default",
                "NCCL_PROTO": _OLD_PLUGIN,
                "NCCL_BUFFSIZE": _DEFAULT,
                "NCCL_MIN_CHANNELS": _DEFAULT,
                "NCCL_MIN_NCHANNELS": _DEFAULT,
            },
        ),
        about=(
            "Elastic Fabric Adapter of AWS, with libfabric 1.18 and aws-ofi-nccl 1.7 or later, which need next to "
            "nothing. FI_EFA_USE_HUGE_PAGE=0 lets data loaders fork. For an older image write a profile without a base."
        ),
        add=("`resources: {vpc.amazonaws.com/efa: 32}`, as many as the machine type has",),
        sources=(_EFA, "https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html", NCCL),
    ),
    "gcp-tcpx": Shipped(
        profile=Fabric(
            env=OVER_PODS,
            whole_nodes=True,
            needs=[
                "the sidecar tcpx-daemon, with the annotation devices.gke.io/container.tcpx-daemon",
                "the volume of the plugin's libraries (/home/kubernetes/bin/nvidia/lib64), and LD_LIBRARY_PATH with it",
                "the volume of the daemon's socket, mounted by both containers",
                "the variables of NCCL_GPUDIRECTTCPX_* that the recipe of the plugin's release names",
            ],
        ),
        about=(
            "GPUDirect-TCPX of Google, on A3 High. Most of it is a recipe of sidecar, volumes and variables of one "
            "release of the plugin, which belongs into the manifest as a whole."
        ),
        add=("`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: eth0 to eth4",),
        sources=(
            f"{_GKE}/gpudirect-tcpx/nccl-config.yaml",
            f"{_GKE}/gpudirect-tcpx/nccl-test.yaml",
            _WHOLE_NODES,
            NCCL,
        ),
    ),
    "gcp-tcpxo": Shipped(
        profile=Fabric(
            env={"NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY": "/dev/aperture_devices"},
            whole_nodes=True,
            needs=[
                "the sidecar tcpxo-daemon, with the annotation devices.gke.io/container.tcpxo-daemon",
                "the volumes of the plugin's libraries (/home/kubernetes/bin/nvidia) and of /dev/aperture_devices",
                "a command that begins with `source /usr/local/nvidia/lib64/nccl-env-profile.sh`",
            ],
            forbidden={"NCCL_*": _OF_SCRIPT},
            excepted=["NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY"],
        ),
        about=(
            "GPUDirect-TCPXO (FasTrak) of Google, on A3 Mega. A script of the node sets the variables of its release, "
            "and the plugin's checker aborts a workload in which one is missing or another."
        ),
        add=("`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: eth0 to eth8",),
        sources=(
            f"{_GKE}/gpudirect-tcpxo/README.md",
            f"{_GKE}/gpudirect-tcpxo/best-practice.md",
            f"{_GKE}/gpudirect-tcpxo/nccl-test-latest.yaml",
            _WHOLE_NODES,
        ),
    ),
    "gcp-gib": Shipped(
        profile=Fabric(
            env={"NCCL_DEBUG": "WARN"},
            ipc_lock=True,
            whole_nodes=True,
            needs=[
                "the volumes /home/kubernetes/bin/nvidia and /home/kubernetes/bin/gib, mounted below /usr/local",
                "LD_LIBRARY_PATH with /usr/local/nvidia/lib64",
                "a command that begins with `source /usr/local/gib/scripts/set_nccl_env.sh`",
                "annotations networking.gke.io/interfaces with the eight networks of the cards",
            ],
            forbidden={"NCCL_IB_*": _OF_GIB, "NCCL_NET": _OF_GIB},
        ),
        about=(
            "RDMA over converged Ethernet on A3 Ultra and A4 of Google, by the plugin gIB. A script of the node sets "
            "the variables of the machine type."
        ),
        add=(
            "`annotations` of networking.gke.io/default-interface and networking.gke.io/interfaces: rdma-0 to rdma-7",
            '`env: {NCCL_SOCKET_IFNAME: "eth0,eth1"}` where the pods have the interface of the second gVNIC',
        ),
        sources=(f"{_GKE}/gpudirect-rdma/nccl-test.yaml", f"{_GKE}/gpudirect-rdma/nccl-test-a4.yaml"),
    ),
    "azure-nd": Shipped(
        profile=Fabric(
            env={**OVER_PODS, "NCCL_IB_PCI_RELAXED_ORDERING": "1", "NCCL_IGNORE_CPU_AFFINITY": "1"},
            ipc_lock=True,
            needs=[
                "a resource of an RDMA device plugin",
                "IPC_LOCK (isolation.ipcLock), or nodes whose memlock limit is unlimited",
            ],
            forbidden={"NCCL_IB_DISABLE": SWITCHED_OFF},
        ),
        about=(
            "InfiniBand of Azure's ND machines (A100 v4, H100 v5, H200). They are virtual and hide their topology, and "
            "the file that Azure's images keep in /opt/microsoft is on the node, not in the container."
        ),
        add=(
            "`topology: {configMap: ndv5-topology, key: topo.xml}` with the file of the machine type",
            "`env: {CUDA_DEVICE_ORDER: PCI_BUS_ID}`, and `UCX_NET_DEVICES: eth0` where UCX only starts the ranks",
            "`env: {NCCL_IB_HCA: mlx5_ib}` where the nodes name their cards so",
            "`resources: {rdma/ib: 1}`, as the device plugin names them",
        ),
        sources=(f"{_AZURE}/ndv5.sh", f"{_AZURE}/ndv4.sh", NCCL),
    ),
}


SHIPPED: Final[Mapping[str, Shipped]] = MappingProxyType({**OWN_NETWORK_PROFILES, **CLOUD_PROFILES})
"""The shipped profiles by name."""
