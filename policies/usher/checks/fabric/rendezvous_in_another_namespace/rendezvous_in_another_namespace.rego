# METADATA
# title: The first rank is in the namespace of the job
# description: |
#   MASTER_ADDR names the pod of the first rank, which all ranks must reach. A name with the namespace of another job
#   does not exist there, or leads to the ranks of another job. This happens when a manifest is copied. The check reads
#   names of Services (HOST.NAMESPACE.svc) and skips objects without a namespace, because kubectl may put these into
#   any.
# scope: package
# related_resources:
#   - ref: https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization
#     description: PyTorch on MASTER_ADDR
#   - ref: https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/
#     description: Kubernetes on names of Services
# schemas:
#   - input: schema.input
# custom:
#   code: USH919
#   about: accelerator pods
#   severity: medium
#   why: The ranks wait for a first rank that is not theirs until they time out.
#   remediation: |
#     Use the namespace of the job, or a name without a namespace.
package usher.checks.fabric.rendezvous_in_another_namespace

import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	not input.workload.owned
	not input.workload.namespace in ["", "default"]
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	variable := container.environment.MASTER_ADDR
	parts := split(variable.value, ".")
	some index, part in parts
	part == "svc"
	index > 1
	named := parts[index - 1]
	named != input.workload.namespace

	finding := {
		"path": variable.path,
		"message": $"MASTER_ADDR of {workload.container_name(pod_set, container)} names the namespace {text.excerpt(named)}, but the pods run in {text.excerpt(input.workload.namespace)}",
		"remedy": "use the namespace of the pods, or a name without a namespace",
	}
}
