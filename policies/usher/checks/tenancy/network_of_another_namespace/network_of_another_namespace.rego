# METADATA
# title: Pods join networks of their own namespace
# description: |
#   The annotation k8s.v1.cni.cncf.io/networks gives a pod more network interfaces, and may name networks of any
#   namespace: its pods then stand on the storage or RDMA network of another team, past every NetworkPolicy. Multus can
#   forbid it (namespaceIsolation), and allows it unless told. Networks that are for everybody are kept in namespaces
#   that the parameter names.
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
#   why: A pod reaches the network of another team, where no policy stops it.
#   closes: [S32]
#   parameters:
#     namespaces:
#       default: [default]
#       description: Namespaces whose networks are for everybody.
#   remediation: |
#     Use a network of the pod's own namespace, or have its namespace added in usher.yaml (parameters,
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
	"reason": $"{workload.pod_set_name(entry.podSet)} joins a network of namespace {text.excerpt(entry.namespace)}, and of which namespace the pods are is not known",
} if {
	some entry in _foreign
	input.workload.namespace == ""
}

_foreign := [entry |
	some pod_set in input.podSets
	networks := pod_set.annotations[_annotation]
	not input.site.systemNamespace
	some namespace in _namespaces(networks)
	not namespace in {"", input.workload.namespace}
	not namespace in parameters.tenancy.network_of_another_namespace.namespaces

	entry := {
		"podSet": pod_set,
		"path": $"{pod_set.metadataPath}/annotations/k8s.v1.cni.cncf.io~1networks",
		"namespace": namespace,
	}
]

# Multus reads JSON where any of these stands in the text, and a list with commas otherwise.
_is_json(networks) if {
	some sign in ["[", "{", "\""]
	contains(networks, sign)
}

_namespaces(networks) := {network.namespace |
	some network in json.unmarshal(networks)
	is_string(network.namespace)
} if {
	_is_json(networks)
}

_namespaces(networks) := {trim_space(parts[0]) |
	some network in split(networks, ",")
	parts := split(network, "/")
	count(parts) == 2
} if {
	not _is_json(networks)
}
