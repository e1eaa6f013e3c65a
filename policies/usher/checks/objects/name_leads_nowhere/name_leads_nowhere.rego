# METADATA
# title: Every name in an object leads to a part of it
# description: |
#   The entrypoint of a workflow names one of its templates, a task of a DAG names the tasks before it, and a container
#   mounts a volume of its pod. usher looks these names up: templates, tasks, input parameters and parameters of Argo
#   Workflows; tasks, parameters, workspaces and volumes of Tekton; components and tasks of Kubeflow Pipelines; jobs of a
#   JobSet and of training runtimes; tasks of Volcano; flows; cliques of Grove; worker groups of Ray; volumes of Spark;
#   requests of device claims; and in every pod spec volumes, device claims, named ports of probes and the names of
#   containers. A name that two parts have is reported too. Names with placeholders are not compared, and neither is a
#   pod spec that a controller merges with another, for example that of a ServingRuntime.
# scope: package
# related_resources:
#   - ref: https://argo-workflows.readthedocs.io/en/latest/walk-through/the-structure-of-workflow-specs/
#     description: Argo Workflows on entrypoint and templates
#   - ref: https://kubernetes.io/docs/concepts/storage/volumes/#how-volumes-work
#     description: Kubernetes on volumes and mounts
# schemas:
#   - input: schema.input
# custom:
#   code: USH1493
#   about: unread keys
#   severity: high
#   why: The API server or the controller refuses the object, or the part that names it never starts.
#   closes: []
#   remediation: Correct the name, or add the part that it names.
package usher.checks.objects.name_leads_nowhere

deny contains finding if {
	some each in input.unreadKeys
	each.dangling
	each.important

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
