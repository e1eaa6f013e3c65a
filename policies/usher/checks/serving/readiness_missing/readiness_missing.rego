# METADATA
# title: Model servers have a readiness probe or a startup probe
# description: |
#   A model server loads its weights for minutes before it can answer. Without a readiness probe or a startup probe, its
#   pod counts as ready as soon as the process runs. Requests then go to a server without a model, and a rollout removes
#   the old pods before the new ones can replace them.
#
#   In a group of pods that share a model only the leader answers, so its workers need no probe. KServe, Knative,
#   KubeRay and the operators of NVIDIA and vLLM add their own probes, so the check ignores their kinds. It also ignores
#   containers of Deployments and StatefulSets that declare no port, unless the role of the workload is inference or a
#   Service of the same file sends requests to the pods. A headless Service does not count, because it names pods that
#   are not ready too. A Service or a port for SSH, TensorBoard or Jupyter does not count either. If another container of the pod declares a port, the Service may mean that one.
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
#   why: After every restart users get errors for minutes, because requests reach a server without a model.
#   closes: [S33]
#   remediation: |
#     Give the container a readinessProbe on a path that answers once the model is loaded (/health for vLLM, SGLang and
#     TGI). Also give it a startupProbe that gives the model time to load.
package usher.checks.serving.readiness_missing

import data.usher.lib.serving
import data.usher.lib.workload

# The operators of all other kinds add probes.
_groups := ["", "apps", "leaderworkerset.x-k8s.io", "disaggregatedset.x-k8s.io"]

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

_answers(_) if {
	input.beside.hasService
	_template
	every container in _template.spec.containers {
		count(object.get(container, "ports", [])) == 0
	}
}

_has_leader(name) if {
	leader := $"{trim_suffix(name, "worker")}leader"
	some pod_set in input.podSets
	pod_set.name == leader
}

_with_ports := [$"/spec/template/spec/containers/{index}" |
	some index, container in _template.spec.containers
	some port in container.ports
	not object.get(port, "containerPort", 0) in _ports_of_people
]

# SSH, TensorBoard and Jupyter, as for Services.
_ports_of_people := {22, 6006, 8888}

_template := input.object.deployment.spec.template

_template := input.object.statefulSet.spec.template
