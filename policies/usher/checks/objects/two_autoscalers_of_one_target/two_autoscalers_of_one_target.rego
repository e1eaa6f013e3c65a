# METADATA
# title: A workload has one autoscaler
# description: |
#   Two autoscalers of one workload set its replicas in turn, and pods with accelerators start and stop all the time.
#   KEDA makes a HorizontalPodAutoscaler for each ScaledObject, so a ScaledObject and a HorizontalPodAutoscaler are two,
#   and KEDA's webhook refuses the second. The check knows the autoscalers of the same files. It skips those that an
#   operator made, and a ScaledObject that takes over the other one (scaledobject.keda.sh/transfer-hpa-ownership).
# scope: package
# related_resources:
#   - ref: https://keda.sh/docs/latest/reference/scaledobject-spec/
#     description: KEDA on ScaledObjects
#   - ref: https://keda.sh/docs/latest/reference/admission-webhooks/
#     description: KEDA on what its webhook refuses
# schemas:
#   - input: schema.input
# custom:
#   code: USH1488
#   about: objects
#   kinds: [horizontalPodAutoscaler, podAutoscaler, scaledObject]
#   severity: medium
#   why: KEDA refuses the ScaledObject, or the number of replicas never rests.
#   remediation: |
#     Keep one autoscaler. A ScaledObject has triggers for CPU and memory too.
package usher.checks.objects.two_autoscalers_of_one_target

import data.usher.lib.autoscaling

deny contains finding if {
	target := autoscaling.target
	others := input.beside.scalers
	count(others) > 0
	not _another_is_reported(others)
	not _takes_over

	finding := {
		"path": target.path,
		"message": $"{concat(", ", others)} scales the same {target.kind}, and a workload can have only one autoscaler",
		"remedy": "keep one of them",
	}
}

# Of a ScaledObject and other autoscalers, KEDA refuses the ScaledObject.
_another_is_reported(others) if {
	not input.object.scaledObject
	some other in others
	startswith(other, "ScaledObject ")
}

_takes_over if input.workload.annotations["scaledobject.keda.sh/transfer-hpa-ownership"] == "true"
