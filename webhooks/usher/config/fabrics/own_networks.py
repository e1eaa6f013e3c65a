"""Shipped profiles of networks that a site builds itself, and of NVLink between nodes."""

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

PROFILES: Final = {
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
