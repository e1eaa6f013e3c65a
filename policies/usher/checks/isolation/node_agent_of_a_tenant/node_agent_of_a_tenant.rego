# METADATA
# title: Only system namespaces run pods that control their nodes
# description: |
#   A pod that is privileged or sees the processes of its node can take every GPU there. A DaemonSet does so on every
#   node at once, also on nodes that join later. Any user who may edit a namespace can make a DaemonSet. So a DaemonSet
#   may do so only in a system namespace (`priorities.systemNamespaces` of usher.yaml, which by default are the usual
#   namespaces of drivers, networks and disks). Elsewhere it is a workload of a tenant, and all checks judge it.
#
#   Containers that all run as a user other than root get no power by seeing processes, as the node exporter of Prometheus
#   does, unless one is privileged.
#
#   A pod that does both is root on its node: it enters the processes of the node and leaves every restriction. Only
#   node agents need both, and they are DaemonSets, so all other kinds are refused. The check accepts the namespaces
#   that usher.yaml lists under `isolation.visibleDevices`, because exporters of metrics see processes.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
#     description: Kubernetes on what the baseline standard forbids
#   - ref: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/
#     description: Kubernetes on DaemonSets
# schemas:
#   - input: schema.input
# custom:
#   code: USH220
#   about: pods
#   severity: high
#   of_agents: true
#   why: One manifest takes every GPU of every node, past all requests and quotas.
#   closes: [B6]
#   remediation: |
#     Remove privileged and hostPID. If the pod drives or watches nodes, move it to a system namespace that usher.yaml
#     names under priorities.systemNamespaces.
package usher.checks.isolation.node_agent_of_a_tenant

import data.usher.lib.isolation
import data.usher.lib.workload

deny contains finding if {
	not isolation.may_see_all_devices
	some pod_set in input.podSets
	powers := _powers(pod_set)
	_too_much(powers)

	finding := {
		"path": pod_set.specPath,
		"message": $"{workload.pod_set_name(pod_set)} {concat(" and ", powers)}, so it controls {_where}",
		"remedy": "remove these permissions, or move the pod to a system namespace",
	}
}

_powers(pod_set) := array.concat(
	[text | pod_set.hostPID; _may_be_root(pod_set); text := "sees all processes of its node"],
	[text | _has_privileged_container(pod_set); text := "has a privileged container"],
)

_may_be_root(pod_set) if {
	some container in pod_set.containers
	not workload.user_without_capabilities(pod_set, container)
}

_has_privileged_container(pod_set) if {
	some container in pod_set.containers
	container.securityContext.privileged
}

_too_much(powers) if {
	workload.of_a_daemon_set
	count(powers) > 0
}

_too_much(powers) if count(powers) == 2

_where := "every node that its DaemonSet runs on" if workload.of_a_daemon_set

_where := "its node" if not workload.of_a_daemon_set
