# METADATA
# title: Liveness probes give the model time to load
# description: |
#   A liveness probe kills the container after initialDelaySeconds plus failureThreshold times periodSeconds. By default
#   that is 30 seconds. A model server that is still loading then starts again, forever, and holds its GPUs all the
#   while. A startup probe keeps the liveness probe inactive until the model is loaded. A large model takes longer: if its
#   name says its size (70B), the check computes the time to read the weights. It ignores probes that KServe merges with a
#   runtime or a preset, because a startup probe may be there.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/probes/#startup-probe
#     description: Kubernetes on startup probes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1002
#   about: accelerator pods
#   severity: medium
#   why: The server restarts in a loop before its model is loaded, and its GPUs do nothing.
#   closes: [S33]
#   parameters:
#     loadSeconds:
#       default: 120
#       description: Seconds that a model may take to load.
#     megabytesPerSecond:
#       default: 200
#       description: How fast a large model loads, in MB per second, from a disk of the network or a bucket.
#   remediation: |
#     Add a startupProbe that gives the model time to load (failureThreshold times periodSeconds), or raise
#     initialDelaySeconds of the livenessProbe. If all models of the namespace load faster, set the time in usher.yaml
#     (parameters, killed-while-loading, loadSeconds).
package usher.checks.serving.killed_while_loading

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some entry in serving.model_servers
	probe := entry.container.livenessProbe
	not entry.container.startupProbe
	seconds := serving.seconds_until_failure(probe)
	seconds < _load_seconds
	not serving.merged(entry.container.path)

	finding := {
		"path": $"{entry.container.path}/livenessProbe",
		"message": $"the liveness probe kills {workload.container_name(entry.podSet, entry.container)} after {seconds} seconds, but a model may take {_load_seconds} seconds to load",
		"remedy": "add a startupProbe, which keeps the liveness probe inactive until the model is loaded",
	}
}

deny contains finding if {
	some entry in serving.model_servers
	probe := entry.container.livenessProbe
	not entry.container.startupProbe
	seconds := serving.seconds_until_failure(probe)
	seconds >= _load_seconds
	loading := serving.loading(entry.container)
	seconds < loading.seconds
	not serving.merged(entry.container.path)

	finding := {
		"path": $"{entry.container.path}/livenessProbe",
		"message": $"the liveness probe kills {workload.container_name(entry.podSet, entry.container)} after {seconds} seconds, but {loading.weights} may take {loading.seconds} seconds to load",
		"remedy": "add a startupProbe, which keeps the liveness probe inactive until the model is loaded",
		"assumption": loading.assumption,
	}
}

_load_seconds := parameters.serving.killed_while_loading.loadSeconds
