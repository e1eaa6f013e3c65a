# METADATA
# title: Only schedulers bind pods to nodes
# description: |
#   A Binding puts an existing pod on a node. It bypasses taints, gangs and the GPUs that the scheduler has reserved for
#   other pods, as `nodeName` does for a new pod. Only schedulers should make Bindings. The identities of usher.yaml
#   list the schedulers. The check reports every pod of a scheduler that is missing there, so add all schedulers before
#   this check denies.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/binding-v1/
#     description: Kubernetes on bindings
# schemas:
#   - input: schema.input
# custom:
#   code: USH1433
#   about: objects
#   kinds: [binding]
#   severity: medium
#   why: The Binding takes a node and bypasses taints, queues and gangs.
#   closes: [B16]
#   remediation: |
#     Leave the pod to the scheduler. If the user is a scheduler of this cluster, add it to the identity schedulers of
#     usher.yaml.
package usher.checks.objects.pod_bound_by_hand

import data.usher.lib.text

deny contains finding if {
	not "schedulers" in input.review.by

	finding := {
		"path": "/target",
		"message": $"a user who is not a scheduler binds a pod to node {text.excerpt(object.get(input.object.binding, ["target", "name"], ""))}",
		"remedy": "leave the pod to the scheduler, or add the user to the identity schedulers of usher.yaml",
	}
}

unknown contains {"path": "", "reason": "usher knows the user who binds the pod only in an admission request"} if not input.review
