# METADATA
# title: A quota of the namespace allows its critical pods on GKE
# description: |
#   GKE admits pods with the class system-node-critical or system-cluster-critical only in a namespace with a ResourceQuota
#   whose scope names the class. It makes that quota in its own namespaces, not in those of device plugins, drivers and
#   operators: there a DaemonSet exists and has no pods. usher knows GKE by the quota gcp-critical-pods and by labels of
#   nodes.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/google-gke.html
#     description: NVIDIA on the quota that its operator needs on GKE
#   - ref: https://kubernetes.io/docs/concepts/policy/resource-quotas/#limit-priority-class-consumption-by-default
#     description: Kubernetes on classes that need a quota
# schemas:
#   - input: schema.input
# custom:
#   code: USH1540
#   about: cluster facts
#   severity: medium
#   why: The API server refuses the pods, and nodes get no driver, plugin or exporter.
#   closes: []
#   remediation: Add a ResourceQuota for the class to the namespace.
package usher.checks.tenancy.critical_class_without_quota

import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	name := input.cluster.resourceQuotas.critical[pod_set.path]

	finding := {
		"path": workload.field_path(pod_set, "priorityClassName"),
		"message": $"GKE refuses {workload.pod_set_name(pod_set)} with the class {name}: no ResourceQuota of the namespace has a scope for this class",
		"remedy": $"add a ResourceQuota with hard pods and a scopeSelector of PriorityClass In {name}",
	}
}
