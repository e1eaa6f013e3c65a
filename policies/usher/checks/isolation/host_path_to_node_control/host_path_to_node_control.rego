# METADATA
# title: Host paths do not lead to files or sockets that control the node
# description: |
#   A pod that reaches the socket of the container runtime can start any container on the node, with any device. A pod
#   that writes into the kubelet's directory of device plugins can pose as a device plugin and hand out the GPUs. The
#   CDI directories define the devices. A manifest in the directory of static pods runs without the API server and
#   without admission. The files of users, of processes and of container runtimes hold keys and secrets of others,
#   except folders of downloaded models. A read-only mount does not protect sockets and secrets.
#
#   Other files control the node only if a pod can change them: programs, libraries and settings of the system, of
#   systemd, cron, udev and ssh, of networks and container runtimes, and the tool kits and drivers of vendors, which
#   run as root in other containers. The check accepts these if no container mounts the volume, or all mount it read-only.
#   It also accepts files that no program of the node runs by, for example /etc/localtime. docs/domain/host-paths.md has the
#   sources.
#
#   Before the check compares paths, it resolves `..`, doubled slashes, and links that every node has, for example
#   /var/run and /lib. Device plugins, drivers and node agents need these volumes. Run them in a system namespace that
#   usher.yaml names under `priorities.systemNamespaces`.
#
#   A claim may lead to these paths as well. So the checks of host paths judge a PersistentVolume, unless an
#   administrator or a controller makes it.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#hostpath
#     description: Kubernetes on host paths
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
# schemas:
#   - input: schema.input
# custom:
#   code: USH215
#   about: pods
#   kinds: [persistentVolume]
#   severity: high
#   of_agents: true
#   why: The pod can start any container on the node, and through it use every GPU.
#   closes: [B5, B17]
#   parameters:
#     paths:
#       default:
#         - /etc/cdi
#         - /etc/gshadow*
#         - /etc/k0s
#         - /etc/kubernetes
#         - /etc/rancher
#         - /etc/shadow*
#         - /etc/ssh
#         - /home/USER/.*
#         - /proc/PID
#         - /proc/acpi
#         - /proc/bus
#         - /proc/driver
#         - /proc/fs
#         - /proc/irq
#         - /proc/kcore
#         - /proc/kmsg
#         - /proc/kpage*
#         - /proc/scsi
#         - /proc/sys/*
#         - /proc/sysrq-trigger
#         - /root/.*
#         - /run/buildkit
#         - /run/cdi
#         - /run/cilium
#         - /run/containerd
#         - /run/containers
#         - /run/cri-dockerd.sock
#         - /run/crio
#         - /run/crun
#         - /run/dbus
#         - /run/docker
#         - /run/docker.sock
#         - /run/dockershim.sock
#         - /run/initctl
#         - /run/k0s
#         - /run/k3s
#         - /run/kata-containers
#         - /run/libpod
#         - /run/netns
#         - /run/nri
#         - /run/podman
#         - /run/runc
#         - /run/systemd
#         - /run/udev
#         - /run/user
#         - /run/vc
#         - /var/lib/buildkit
#         - /var/lib/cloud
#         - /var/lib/containerd
#         - /var/lib/containers
#         - /var/lib/cri-dockerd
#         - /var/lib/crio
#         - /var/lib/docker
#         - /var/lib/dockershim
#         - /var/lib/etcd
#         - /var/lib/k0s
#         - /var/lib/kubelet/.docker*
#         - /var/lib/kubelet/actuated_pods_state
#         - /var/lib/kubelet/allocated_pods_state
#         - /var/lib/kubelet/bootstrap*
#         - /var/lib/kubelet/checkpoints
#         - /var/lib/kubelet/config*
#         - /var/lib/kubelet/containers
#         - /var/lib/kubelet/cpu_manager_state
#         - /var/lib/kubelet/device-plugins
#         - /var/lib/kubelet/dra_manager_state
#         - /var/lib/kubelet/image_manager
#         - /var/lib/kubelet/kubeadm-flags.env
#         - /var/lib/kubelet/kubeconfig*
#         - /var/lib/kubelet/memory_manager_state
#         - /var/lib/kubelet/pki
#         - /var/lib/kubelet/plugins_registry
#         - /var/lib/kubelet/seccomp
#         - /var/lib/libvirt
#         - /var/lib/lxc
#         - /var/lib/lxd
#         - /var/lib/machines
#         - /var/lib/minikube
#         - /var/lib/nerdctl
#         - /var/lib/rancher/k3s/agent
#         - /var/lib/rancher/k3s/data
#         - /var/lib/rancher/k3s/server
#         - /var/lib/rancher/rke2/agent
#         - /var/lib/rancher/rke2/bin
#         - /var/lib/rancher/rke2/server
#         - /var/lib/waagent
#         - /var/snap/microk8s/common/run
#         - /var/snap/microk8s/common/var
#         - /var/snap/microk8s/current
#       description: |
#         Files and directories of nodes, and everything below them, whichever way a pod mounts them. A * at the end
#         matches the rest of a name. PID stands for the number of a process, USER for a name in /home.
#     writtenPaths:
#       default:
#         - /boot
#         - /efi
#         - /etc/*
#         - /home/kubernetes/bin/containerd*
#         - /home/kubernetes/bin/kube*
#         - /home/kubernetes/cni*
#         - /home/kubernetes/containerd*
#         - /home/kubernetes/flexvolume
#         - /home/kubernetes/kube*
#         - /nix
#         - /opt/amazon
#         - /opt/aws
#         - /opt/bin
#         - /opt/birentech
#         - /opt/cni
#         - /opt/containerd
#         - /opt/dtk
#         - /opt/google
#         - /opt/habanalabs
#         - /opt/hyhal
#         - /opt/kata
#         - /opt/maca
#         - /opt/mellanox
#         - /opt/mxdriver
#         - /opt/mxn100
#         - /opt/nri
#         - /opt/nvidia
#         - /opt/rke
#         - /opt/rocm
#         - /opt/sbin
#         - /opt/tops
#         - /ostree
#         - /snap
#         - /sys/firmware
#         - /sys/fs/*
#         - /sys/kernel
#         - /sys/module
#         - /sys/power
#         - /sysroot
#         - /usr/*
#         - /var/lib/NetworkManager
#         - /var/lib/apparmor
#         - /var/lib/apt
#         - /var/lib/cni
#         - /var/lib/dbus
#         - /var/lib/dkms
#         - /var/lib/dpkg
#         - /var/lib/nvidia*
#         - /var/lib/polkit-1
#         - /var/lib/rpm
#         - /var/lib/selinux
#         - /var/lib/sss
#         - /var/lib/systemd
#         - /var/spool/anacron
#         - /var/spool/at
#         - /var/spool/cron*
#       description: The same for files and directories that a pod may mount read-only.
#   remediation: |
#     Remove the volume, or mount it read-only if the pod only reads it. To build images, use a tool that does not need
#     the socket of the runtime. Move pods that manage nodes to a system namespace.
package usher.checks.isolation.host_path_to_node_control

import data.usher.lib.isolation
import data.usher.lib.text

deny contains object.union(finding, isolation.assumption_of_volume(entry)) if {
	not input.site.systemNamespace
	some entry in isolation.host_paths
	_controls(entry)

	finding := {
		"path": entry.path,
		"message": $"{isolation.volume_name(entry)} mounts the host path {text.excerpt(entry.written)}, through which the pod can control its node",
		"remedy": _remedy(entry),
	}
}

_controls(entry) if isolation.controls_when_read(entry)

_controls(entry) if {
	isolation.controls_when_written(entry)
	isolation.is_mounted(entry)
	not isolation.only_read(entry)
}

_remedy(entry) := "move this agent of nodes to a system namespace, or remove the volume" if _is_agent

else := "remove the volume" if isolation.controls_when_read(entry)

else := "remove the volume" if isolation.of_persistent_volume(entry)

else := "remove the volume, or mount it read-only"

_is_agent if input.workload.kind == "DaemonSet"
