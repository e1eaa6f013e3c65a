# METADATA
# title: Model servers say when they are ready
# description: |
#   A model server loads its weights for minutes before it can answer. Without a readiness probe or a startup probe its
#   pod counts as ready as soon as the process runs: requests go to a server that has no model yet, and a rollout takes
#   the old pods away before the new ones can replace them. Of a group of pods that share a model the leader answers, so
#   its workers need no probe. KServe, Knative, KubeRay and the operators of NVIDIA and vLLM add probes of their own;
#   their kinds are left alone, and so are containers of Deployments and StatefulSets that declare no port.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/probes/
#     description: Kubernetes on probes
#   - ref: https://kubernetes.io/docs/tasks/configure-pod-container/configure-liveness-readiness-startup-probes/
#     description: Kubernetes on how to configure them
# schemas:
#   - input: schema.input
# custom:
#   code: USH1001
#   about: accelerator pods
#   severity: medium
#   why: Users get errors for minutes after every restart, because requests reach a server without a model.
#   closes: [S33]
#   remediation: |
#     Give the container a readinessProbe on a path that answers once the model is loaded (of vLLM, SGLang and TGI
#     /health), and a startupProbe that leaves the model time to load.
package usher.checks.serving.readiness_missing

import data.usher.lib.serving
import data.usher.lib.workload

# For the kinds of all others something adds probes.
_groups := {"", "apps", "leaderworkerset.x-k8s.io", "disaggregatedset.x-k8s.io"}

deny contains finding if {
	input.workload.group in _groups
	some entry in serving.model_servers
	_answers(entry)
	not entry.container.readinessProbe
	not entry.container.startupProbe

	finding := {
		"path": entry.container.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)} has neither a readiness probe nor a startup probe, so it gets requests before its model is loaded",
		"remedy": "add a readinessProbe that succeeds once the model is loaded",
	}
}

_answers(entry) if {
	input.workload.role == "inference"
	not _has_leader(entry.podSet.name)
}

_answers(entry) if entry.container.path in _with_ports

_has_leader(name) if {
	leader := $"{trim_suffix(name, "worker")}leader"
	some pod_set in input.podSets
	pod_set.name == leader
}

_with_ports := [$"/spec/template/spec/containers/{index}" |
	some index, container in _template.spec.containers
	count(container.ports) > 0
]

_template := input.object.deployment.spec.template

_template := input.object.statefulSet.spec.template
