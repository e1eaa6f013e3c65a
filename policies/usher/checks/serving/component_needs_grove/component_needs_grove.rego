# METADATA
# title: What only Grove can do is not asked for beside an opt-out of Grove
# description: |
#   The annotation nvidia.com/enable-grove: "false" makes Dynamo's operator use LeaderWorkerSets and Deployments. Its
#   webhook then refuses settings that only Grove has: a minimum of replicas that start together, a topology, a
#   priority class of the whole deployment.
# scope: package
# related_resources:
#   - ref: https://github.com/ai-dynamo/dynamo/blob/main/deploy/operator/internal/webhook/validation
#     description: What Dynamo refuses without Grove
# schemas:
#   - input: schema.input
# custom:
#   code: USH1054
#   about: pods
#   severity: medium
#   why: The object is refused, and no pod is made.
#   closes: [S24]
#   remediation: Remove the annotation, or the setting.
package usher.checks.serving.component_needs_grove

deny contains finding if {
	not input.workload.owned
	lower(input.workload.annotations["nvidia.com/enable-grove"]) == "false"
	some [path, field] in _of_grove

	finding := {
		"path": path,
		"message": $"only Grove has {field}, and the annotation nvidia.com/enable-grove opts out of it, so Dynamo refuses the object",
		"remedy": "remove the annotation nvidia.com/enable-grove, or the setting",
	}
}

_of_grove contains [$"/spec/{field}", field] if {
	some field in ["priorityClassName", "topologyConstraint"]
	input.object.dynamoGraphDeployment.spec[field]
}

_of_grove contains [$"/spec/{list}/{replace(key, "/", "~1")}/{field}", field] if {
	some list in ["components", "services"]
	some index, component in input.object.dynamoGraphDeployment.spec[list]
	key := $"{index}"
	some field in ["minAvailable", "topologyConstraint"]
	component[field]
}
