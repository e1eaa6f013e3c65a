# METADATA
# title: Runtime classes that pods name are there
# description: |
#   The API server refuses a pod whose RuntimeClass does not exist; the job, the Deployment or the service that makes such
#   pods was accepted all the same. Runtime classes of NVIDIA's operator come and go with it. A class that is applied a
#   moment later mends it, so this only warns, unless usher.yaml says otherwise.
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
#   why: The workload is accepted, and every one of its pods is refused.
#   remediation: Name a RuntimeClass of the cluster, or leave it out where the nodes have the right runtime by default.
package usher.checks.tenancy.runtime_class_unknown

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some pod_set in input.podSets
	name := pod_set.runtimeClassName
	input.cluster.runtimeClasses[name] == false

	finding := {
		"path": workload.field_path(pod_set, "runtimeClassName"),
		"message": $"{workload.pod_set_name(pod_set)} names RuntimeClass {text.excerpt(name)}, which is not there, so none of its pods is accepted",
		"remedy": "name a class that `kubectl get runtimeclasses` lists, or leave it out",
	}
}

unknown contains {
	"path": workload.field_path(pod_set, "runtimeClassName"),
	"reason": $"whether RuntimeClass {text.excerpt(name)} is there is not known: no such classes are among the facts of the cluster",
} if {
	some pod_set in input.podSets
	name := pod_set.runtimeClassName
	name != ""
	not name in object.keys(input.cluster.runtimeClasses)
}
