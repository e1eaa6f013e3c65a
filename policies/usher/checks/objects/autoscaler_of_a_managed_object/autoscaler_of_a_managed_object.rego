# METADATA
# title: An autoscaler targets an object that no operator scales
# description: |
#   The operators of model services make Deployments and set their replicas at each reconciliation. An autoscaler of one
#   of these Deployments is overruled: the replicas that it adds disappear. These kinds have settings for autoscaling of
#   their own. The check knows the services of the same files, and the names that their operators give: the Deployment
#   NAME-kserve of an LLMInferenceService, for example. It skips a target that is in the files itself, and an
#   InferenceService that leaves its replicas to others (serving.kserve.io/autoscalerClass: external).
# scope: package
# related_resources:
#   - ref: https://github.com/kserve/kserve/issues/5527
#     description: A ScaledObject for a Deployment of KServe
#   - ref: https://kubernetes.io/docs/tasks/run-application/horizontal-pod-autoscale/
#     description: Kubernetes on autoscaling
# schemas:
#   - input: schema.input
# custom:
#   code: USH1485
#   about: objects
#   kinds: [horizontalPodAutoscaler, podAutoscaler, scaledObject]
#   severity: medium
#   why: The operator takes back what the autoscaler does.
#   remediation: |
#     Use the settings for autoscaling that the service has, and remove the autoscaler. If a Rollout or a LeaderWorkerSet makes the pods, target that.
package usher.checks.objects.autoscaler_of_a_managed_object

import data.usher.lib.autoscaling
import data.usher.lib.text

deny contains finding if {
	target := autoscaling.target
	parent := input.beside.parent

	finding := {
		"path": target.path,
		"message": $"the operator of {text.excerpt(parent.name)} sets the replicas of this {target.kind}, so the autoscaler is overruled",
		"remedy": parent.remedy,
	}
}
