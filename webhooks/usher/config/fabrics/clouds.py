"""Shipped profiles of the networks that clouds bring with their machines."""

from typing import Final

from usher.config.fabrics.own_networks import NCCL, OVER_PODS, SWITCHED_OFF
from usher.config.fabrics.profiles import Fabric, Shipped

_EFA: Final = "https://github.com/aws-samples/awsome-distributed-training/blob/main/1.architectures/efa-cheatsheet.md"
_GKE: Final = "https://github.com/GoogleCloudPlatform/container-engine-accelerators/blob/master"
_WHOLE_NODES: Final = "https://cloud.google.com/kubernetes-engine/docs/how-to/gpu-bandwidth-gpudirect-tcpx"
_AZURE: Final = "https://github.com/Azure/azhpc-images/blob/master/components/customizations"

_OLD_PLUGIN: Final = "only aws-ofi-nccl before 1.7 needs it; later ones choose better by themselves"
_DEFAULT: Final = "the plugin's default is right for every machine"
_OF_SCRIPT: Final = "nccl-env-profile.sh of the node sets it, and its checker aborts the workload where it is another"
_OF_GIB: Final = "set_nccl_env.sh of the node sets it for the machine type"

PROFILES: Final = {
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
