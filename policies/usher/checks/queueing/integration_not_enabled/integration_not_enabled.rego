# METADATA
# title: Kueue's integration of the kind is switched on
# description: |
#   Kueue reads the queue label of a kind only when its configuration lists the kind among integrations.frameworks. The
#   configuration that Kueue ships leaves out PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and SparkApplication: with
#   the right label on them, in the right place, they start at once and nobody counts them. The list is read from
#   Kueue's ConfigMap where that is among the facts of the cluster, unless the parameter frameworks says another; then
#   every kind that is not on it is found. Where neither is known, only the kinds that are off by default are unknown. What a controller made is left alone.
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
#   why: The job carries the right label and still runs outside every quota.
#   closes: [S20, B34]
#   parameters:
#     frameworks:
#       default: []
#       description: What integrations.frameworks of Kueue's configuration lists, such as kubeflow.org/pytorchjob.
#   remediation: |
#     Add the kind to integrations.frameworks of Kueue's configuration, or use a kind that is on it, such as TrainJob.
package usher.checks.queueing.integration_not_enabled

import data.usher.lib.kueue

_off_by_default := {
	"kubeflow.org/jaxjob",
	"kubeflow.org/paddlejob",
	"kubeflow.org/pytorchjob",
	"kubeflow.org/tfjob",
	"kubeflow.org/xgboostjob",
	"sparkoperator.k8s.io/sparkapplication",
}

deny contains finding if {
	_queued
	kueue.left_out

	finding := {
		"path": kueue.label_path(kueue.queue_label),
		"message": $"Kueue's configuration leaves {kueue.framework} out, so nothing queues this {input.workload.kind} in {kueue.queue_name}",
		"remedy": $"have {kueue.framework} added to Kueue's integrations, or use a kind that is among them",
	}
}

unknown contains {
	"path": kueue.label_path(kueue.queue_label),
	"reason": $"whether Kueue queues {input.workload.kind}s is not known: its default configuration leaves {kueue.framework} out; the parameter frameworks says what yours lists",
} if {
	_queued
	kueue.framework in _off_by_default
	kueue.frameworks == []
}

_queued if {
	kueue.in_queue
	not input.workload.owned
}
