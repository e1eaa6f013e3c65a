# METADATA
# title: Agents and monitors of nodes can do their work
# description: |
#   A device plugin registers at a socket in /var/lib/kubelet/device-plugins, and an exporter asks a socket in
#   /var/lib/kubelet/pod-resources which pod has a device. Without that host path the plugin offers no devices, and
#   metrics have no names of pods. usher looks at the images of device plugins and exporters in a DaemonSet. A host path
#   to the whole folder of the kubelet is enough. dcgm-exporter also needs DCGM_EXPORTER_KUBERNETES, and
#   KUBERNETES_VIRTUAL_GPUS for shared GPUs, and a device plugin has to tolerate the taints of its nodes. A DaemonSet has
#   to select labels that nodes have, its Namespace has to admit its pods, and a ServiceMonitor has to name a port of the
#   Services that it selects and keep the labels of an exporter. On nodes of k3s and RKE2 an agent of NVIDIA needs their
#   RuntimeClass.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/
#     description: Kubernetes on the sockets of the kubelet
#   - ref: https://github.com/NVIDIA/dcgm-exporter
#     description: NVIDIA on names of pods in metrics
# schemas:
#   - input: schema.input
# custom:
#   code: USH1539
#   about: unread keys
#   severity: medium
#   why: Nodes offer no devices, or no metric says which pod uses a GPU.
#   closes: []
#   remediation: Mount the folder of the kubelet, set the variable, or add the toleration.
package usher.checks.objects.agent_misconfigured

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "agent"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
