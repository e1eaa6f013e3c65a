# METADATA
# title: Only schedulers bind pods to nodes
# description: |
#   A Binding puts a pod on a node after it was made: past taints, gangs and the GPUs that the scheduler has promised to
#   others, just as `nodeName` does before. Schedulers make them and nobody else. Which users are schedulers is what the
#   identities of usher.yaml say; a scheduler that is missing there is found with every pod that it places, so name it
#   before this check denies.
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
#   why: It takes a node past taints, queues and gangs.
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
		"message": $"a user who is no scheduler binds a pod to node {text.excerpt(object.get(input.object.binding, ["target", "name"], ""))}",
		"remedy": "leave the pod to the scheduler, or add the user to the identity schedulers of usher.yaml",
	}
}

unknown contains {"path": "", "reason": "who binds the pod is known only when it happens"} if not input.review
