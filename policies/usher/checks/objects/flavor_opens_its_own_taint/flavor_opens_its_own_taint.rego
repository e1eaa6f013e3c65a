# METADATA
# title: A ResourceFlavor does not tolerate its own taint
# description: |
#   `nodeTaints` of a ResourceFlavor keep workloads away that do not tolerate them, for example from spot nodes. Kueue adds
#   `tolerations` of the flavor to every workload that gets it, and counts them before it looks at `nodeTaints`. A flavor with
#   both gives every workload its nodes, so the taint has no effect.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/
#     description: Kueue on taints and tolerations of flavors
#   - ref: https://github.com/kubernetes-sigs/kueue/issues/4646
#     description: The maintainers of Kueue on both together
# schemas:
#   - input: schema.input
# custom:
#   code: USH1631
#   about: objects
#   kinds: [resourceFlavor]
#   severity: low
#   why: Workloads land on nodes that the taint should keep for others.
#   closes: []
#   remediation: |
#     Remove the toleration if workloads should ask for the flavor themselves, or nodeTaints if every workload may get it.
package usher.checks.objects.flavor_opens_its_own_taint

import data.usher.lib.text

deny contains finding if {
	spec := input.object.resourceFlavor.spec
	some index, taint in spec.nodeTaints
	taint.effect != "PreferNoSchedule"
	some toleration in spec.tolerations
	_covers(toleration, taint)

	finding := {
		"path": $"/spec/nodeTaints/{index}",
		"message": $"the flavor tolerates its own taint {text.excerpt(object.get(taint, "key", ""))}, so Kueue gives it to workloads that do not tolerate the taint",
		"remedy": "remove the toleration, or nodeTaints",
	}
}

_covers(toleration, taint) if {
	object.get(toleration, "effect", "") in {"", object.get(taint, "effect", "")}
	object.get(toleration, "key", "") in {"", object.get(taint, "key", "")}
	_value_matches(toleration, taint)
}

_value_matches(toleration, _) if toleration.operator == "Exists"

_value_matches(toleration, taint) if {
	object.get(toleration, "operator", "Equal") in ["", "Equal"]
	object.get(toleration, "key", "") != ""
	object.get(toleration, "value", "") == object.get(taint, "value", "")
}
