# METADATA
# title: A label that names a role has an effect
# description: |
#   Everybody who creates a workload writes its labels. So the label gpu-usher.io/role changes the role only if no entry of
#   usher.yaml treats the two roles differently: queues, routing, priority classes, pools, enforcement and mutation rules.
#   Otherwise the workload keeps the role that its kind and its programs say, and the author may expect another queue, pool
#   or priority than it gets. The check skips objects that a controller made, because it judges their owner.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
#     description: Kubernetes on labels
# schemas:
#   - input: schema.input
# custom:
#   code: USH440
#   about: labelled pods
#   severity: medium
#   why: The author counts on a role that the workload does not have.
#   closes: [B33]
#   remediation: |
#     Remove the label gpu-usher.io/role. Or let usher.yaml trust it in this namespace: a rule of roles with fromLabel.
package usher.checks.queueing.role_label_without_effect

deny contains finding if {
	not input.workload.owned
	reason := input.workload.roleRefusal

	finding := {
		"path": "/metadata/labels/gpu-usher.io~1role",
		"message": $"the role of the workload is {input.workload.role}: {reason}",
		"remedy": "remove the label, or have a rule of roles with fromLabel added to usher.yaml",
	}
}
