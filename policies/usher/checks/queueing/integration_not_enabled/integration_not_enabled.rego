# METADATA
# title: Kueue's integration for the kind is enabled
# description: |
#   Kueue reads the queue label of a kind only if its configuration enables the kind in integrations.frameworks. The
#   default configuration does not enable PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and SparkApplication. Even
#   with a correct label these kinds start at once, and Kueue does not count them. usher reads the list from Kueue's
#   ConfigMap if the facts of the cluster contain it, unless the parameter frameworks gives another list. The check
#   then finds every kind that is not on the list. Without any list, only the kinds that are off by default are unknown.
#   The check skips objects that a controller made.
# scope: package
# related_resources:
#   - ref: https://kueue.sigs.k8s.io/docs/installation/
#     description: Kueue on its configuration
#   - ref: https://kueue.sigs.k8s.io/docs/reference/kueue-config.v1beta2/#config-kueue-x-k8s-io-v1beta2-Integrations
#     description: Kueue on integrations.frameworks
# schemas:
#   - input: schema.input
# custom:
#   code: USH405
#   about: labelled pods
#   severity: high
#   why: The job has the correct label, but still runs outside every quota.
#   closes: [S20, B34]
#   parameters:
#     frameworks:
#       default: []
#       description: The integrations.frameworks of Kueue's configuration, for example kubeflow.org/pytorchjob.
#   remediation: |
#     Add the kind to integrations.frameworks of Kueue's configuration, or use a kind that is on the list, for example
#     TrainJob.
package usher.checks.queueing.integration_not_enabled

import data.usher.lib.kueue

_off_by_default := [
	"kubeflow.org/jaxjob",
	"kubeflow.org/paddlejob",
	"kubeflow.org/pytorchjob",
	"kubeflow.org/tfjob",
	"kubeflow.org/xgboostjob",
	"sparkoperator.k8s.io/sparkapplication",
]

deny contains finding if {
	_queued
	kueue.left_out

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"Kueue does not queue this {input.workload.kind} in {kueue.queue_name}, because its configuration does not enable {kueue.framework}",
		"remedy": $"ask the administrators of the cluster to enable {kueue.framework} in Kueue, or use a kind that Kueue queues",
	}
}

unknown contains {
	"path": kueue.label_path(kueue.queue_label),
	"reason": $"usher does not know whether Kueue queues {input.workload.kind}s: Kueue's default configuration does not enable {kueue.framework}; set the parameter frameworks to your list",
} if {
	_queued
	kueue.framework in _off_by_default
	kueue.frameworks == []
}

_queued if {
	kueue.in_queue
	not input.workload.owned
}
