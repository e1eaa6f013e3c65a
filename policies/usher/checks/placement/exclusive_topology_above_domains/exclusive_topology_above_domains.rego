# METADATA
# title: There is a domain for every group that wants one for itself
# description: |
#   The annotation `exclusive-topology` of JobSet and LeaderWorkerSet gives every Job or group the nodes of one value of a
#   label, and no two share them. With more groups than values the others wait. On nodes without the label no pod of the
#   workload starts at all. The check counts the values on nodes that could hold the pods when they are empty.
# scope: package
# related_resources:
#   - ref: https://jobset.sigs.k8s.io/docs/tasks/exclusive_placement/
#     description: JobSet on exclusive placement
#   - ref: https://lws.sigs.k8s.io/docs/concepts/
#     description: LeaderWorkerSet on exclusive placement
# schemas:
#   - input: schema.input
# custom:
#   code: USH336
#   about: cluster facts
#   severity: medium
#   why: A part of the workload holds its GPUs and waits for the rest, which never starts.
#   closes: [S24]
#   remediation: |
#     Run no more groups than there are domains, or label the nodes. The label stands in the annotation.
package usher.checks.placement.exclusive_topology_above_domains

import data.usher.lib.amounts
import data.usher.lib.text

deny contains finding if {
	domains := input.cluster.nodes.domains

	finding := {
		"path": domains.path,
		"message": $"each of {amounts.number_of(domains.groups, "group", "groups")} wants a value of the label {text.excerpt(domains.key)} for itself, but {_there(domains)}",
		"remedy": _remedy(domains),
		"assumption": "usher assumes that no node with another value is added",
	}
}

_there(domains) := "no node that could hold its pods has the label" if domains.domains == 0

_there(domains) := $"the nodes that could hold its pods have {domains.domains}{_lacking(domains)}" if domains.domains > 0

_lacking(domains) := "" if domains.lacking == 0

_lacking(domains) := $", and {amounts.number_of(domains.lacking, "node has", "nodes have")} no label of this name" if domains.lacking > 0

_remedy(domains) := $"run at most {domains.domains}, or label more nodes" if domains.domains > 0

_remedy(domains) := "label the nodes, or name a label that they have" if domains.domains == 0
