# METADATA
# title: Attach training pods to the networks of their fabric
# description: |
#   RDMA over a network interface needs that interface inside the pod. Multus attaches a pod to the networks that its
#   annotation k8s.v1.cni.cncf.io/networks names, and clouds read annotations of their own. Pods with a training
#   container, of a workload of several pods, are attached to the networks of their fabric profile; those that the
#   annotation names already stay, and it keeps its notation. Pods on the network of their node have no other. A pod
#   that names a network which is not there never starts, so nothing is given where it is known to be missing.
# scope: package
# related_resources:
#   - ref: https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/how-to-use.md
#     description: Multus on the annotation of pods
# schemas:
#   - input: schema.input
# custom:
#   code: USM706
#   order: 75
#   about: accelerator pods
package usher.mutations.fabric.network_attachments

import data.usher.lib.fabric

# Multus numbers the interfaces in the order of the networks, and intents are applied in that of their values as texts.
intents contains intent if {
	some entry in fabric.training_containers
	not entry.podSet.hostNetwork
	some index, network in entry.profile.networks

	intent := {
		"at": entry.podSet.path,
		"field": "network",
		"value": {"index": index + 100, "name": network},
		"reason": fabric.reason(entry),
		"needs": [object.union(
			{"group": "k8s.cni.cncf.io", "kind": "NetworkAttachmentDefinition"},
			_definition(split(network, "@")[0]),
		)],
	}
}

intents contains intent if {
	some entry in fabric.training_containers
	some key, value in entry.profile.annotations

	intent := {
		"at": entry.podSet.path,
		"field": "annotation",
		"value": {"key": key, "value": value},
		"reason": fabric.reason(entry),
	}
}

_definition(network) := {"namespace": input.workload.namespace, "name": network} if not contains(network, "/")

_definition(network) := {"namespace": parts[0], "name": parts[1]} if {
	parts := split(network, "/")
	count(parts) == 2
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.podSet.path, "reason": $"fabric {entry.fabric} has no networks and no annotations"} if {
	some entry in fabric.training_containers
	count(entry.profile.networks) == 0
	count(entry.profile.annotations) == 0
}

skips contains {"at": entry.podSet.path, "reason": "it is on the network of its node, beside which Multus attaches no other"} if {
	some entry in fabric.training_containers
	count(entry.profile.networks) > 0
	entry.podSet.hostNetwork
}
