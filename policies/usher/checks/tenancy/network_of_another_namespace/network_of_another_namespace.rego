# METADATA
# title: Pods join only networks of their own namespace
# description: |
#   The annotation k8s.v1.cni.cncf.io/networks adds network interfaces to a pod and may name networks of any namespace.
#   The pod then joins the storage or RDMA network of another team and bypasses every NetworkPolicy. Multus can forbid
#   this (namespaceIsolation), but allows it by default. The parameter lists namespaces with networks for everybody.
# scope: package
# related_resources:
#   - ref: https://github.com/k8snetworkplumbingwg/multus-cni/blob/master/docs/configuration.md#namespace-isolation
#     description: Multus on the networks of other namespaces
# schemas:
#   - input: schema.input
# custom:
#   code: USH1204
#   about: labelled pods
#   severity: medium
#   why: A pod reaches the network of another team and bypasses its network policies.
#   closes: [S32]
#   parameters:
#     namespaces:
#       default: [default]
#       description: Namespaces with networks for everybody.
#   remediation: |
#     Use a network of the pod's own namespace, or have the network's namespace added in usher.yaml (parameters,
#     network-of-another-namespace, namespaces).
package usher.checks.tenancy.network_of_another_namespace

import data.usher.lib.parameters
import data.usher.lib.text
import data.usher.lib.workload

_annotation := "k8s.v1.cni.cncf.io/networks"

deny contains finding if {
	some entry in _foreign
	input.workload.namespace != ""

	finding := {
		"path": entry.path,
		"message": $"{workload.pod_set_name(entry.podSet)} joins a network of namespace {text.excerpt(entry.namespace)}",
		"remedy": $"use a network of namespace {input.workload.namespace}",
	}
}

unknown contains {
	"path": entry.path,
	"reason": $"{workload.pod_set_name(entry.podSet)} joins a network of namespace {text.excerpt(entry.namespace)}, and usher does not know the namespace of the pods",
} if {
	some entry in _foreign
	input.workload.namespace == ""
}

_foreign := [entry |
	some pod_set in input.podSets
	networks := pod_set.annotations[_annotation]
	not input.site.systemNamespace
	namespaces := {network.namespace | some network in _networks(networks); not _declared(network)}
	some namespace in namespaces
	not namespace in ["", input.workload.namespace]
	not namespace in parameters.tenancy.network_of_another_namespace.namespaces

	entry := {
		"podSet": pod_set,
		"path": $"{pod_set.metadataPath}/annotations/k8s.v1.cni.cncf.io~1networks",
		"namespace": namespace,
	}
]

# The webhook attaches pods to the networks of their fabric.
_declared(network) if {
	some profile in input.fabrics
	some name in profile.networks
	split(name, "@")[0] == $"{network.namespace}/{network.name}"
}

# Multus reads the text as JSON if it contains one of these signs, otherwise as a list with commas.
_is_json(networks) if {
	some sign in ["[", "{", "\""]
	contains(networks, sign)
}

_networks(networks) := {{"namespace": network.namespace, "name": object.get(network, "name", "")} |
	some network in json.unmarshal(networks)
	is_string(network.namespace)
} if {
	_is_json(networks)
}

_networks(networks) := {{"namespace": trim_space(parts[0]), "name": trim_space(split(parts[1], "@")[0])} |
	some network in split(networks, ",")
	parts := split(network, "/")
	count(parts) == 2
} if {
	not _is_json(networks)
}
