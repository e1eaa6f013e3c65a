# METADATA
# title: Attach training pods to the networks of their fabric
# description: |
#   RDMA over a network interface needs that interface inside the pod. Multus attaches a pod to the networks in its
#   annotation k8s.v1.cni.cncf.io/networks. Some clouds read their own annotations. The webhook attaches pods with a
#   training container to the networks of their fabric profile, if their workload has several pods. Networks that the
#   annotation already names stay, in the same notation.
#   The webhook skips pods that use the network of their node, because they have no other network. A pod that names a
#   missing network never starts, so the webhook adds nothing where it knows that the network is missing.
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

# Multus numbers the interfaces in the order of the networks; usher applies intents in the text order of their values.
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

skips contains {"at": entry.podSet.path, "reason": $"fabric {entry.fabric} names no networks and no annotations"} if {
	some entry in fabric.training_containers
	count(entry.profile.networks) == 0
	count(entry.profile.annotations) == 0
}

skips contains {"at": entry.podSet.path, "reason": "it uses the network of its node, so Multus attaches no other network"} if {
	some entry in fabric.training_containers
	count(entry.profile.networks) > 0
	entry.podSet.hostNetwork
}
