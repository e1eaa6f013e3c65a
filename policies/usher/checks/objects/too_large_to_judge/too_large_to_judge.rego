# METADATA
# title: Objects are small enough to be judged
# description: |
#   A review has a second and bounded memory. An object that is too large for them would come in without a verdict, with
#   everything that other checks refuse. So usher denies it, and names the part that is too large. usher counts lists,
#   containers, values and levels before it reads the object. It also denies an object whose rules need too much time or
#   memory. The status and `managedFields` do not count. An object that was as large before an UPDATE may still change.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#timeouts
#     description: Kubernetes on the timeouts of webhooks
# schemas:
#   - input: schema.input
# custom:
#   code: USH1480
#   about: large objects
#   severity: critical
#   why: An object that no rule can look at would get past every rule.
#   closes: [B40]
#   remediation: |
#     Divide a pod among several pods, and an object with very many templates or tasks into several objects. Put data
#     into a ConfigMap, and not into labels, annotations or commands.
package usher.checks.objects.too_large_to_judge

deny contains {
	"path": input.excess.path,
	"message": $"{input.workload.kind} has {input.excess.text}",
	"remedy": input.excess.remedy,
}
