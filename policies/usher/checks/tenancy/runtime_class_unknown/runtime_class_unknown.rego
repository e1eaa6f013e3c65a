# METADATA
# title: Pods name an existing RuntimeClass
# description: |
#   The API server refuses a pod if its RuntimeClass does not exist. It still accepts the job, the Deployment or the
#   service that makes the pod. NVIDIA's operator creates and deletes its runtime classes. Somebody may apply the class
#   a moment later, so the check only warns unless usher.yaml says otherwise.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/containers/runtime-class/
#     description: Kubernetes on runtime classes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1226
#   about: cluster facts
#   severity: medium
#   why: The API server accepts the workload and refuses every pod of it.
#   remediation: Name a RuntimeClass of the cluster, or remove the field if the nodes have the right runtime by default.
package usher.checks.tenancy.runtime_class_unknown

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	name := pod_set.runtimeClassName
	input.cluster.runtimeClasses[name] == false

	finding := {
		"path": workload.field_path(pod_set, "runtimeClassName"),
		"message": $"{workload.pod_set_name(pod_set)} names RuntimeClass {text.excerpt(name)}, which does not exist, so the API server refuses the pods",
		"remedy": "name a class that `kubectl get runtimeclasses` lists, or remove the field",
		"missing": {"group": "node.k8s.io", "kind": "RuntimeClass", "name": name},
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "runtimeClassName"),
	"reason": $"usher does not know whether RuntimeClass {text.excerpt(name)} exists: the facts of the cluster contain no RuntimeClasses",
} if {
	some pod_set in input.podSets
	name := pod_set.runtimeClassName
	name != ""
	not name in object.keys(input.cluster.runtimeClasses)
}
