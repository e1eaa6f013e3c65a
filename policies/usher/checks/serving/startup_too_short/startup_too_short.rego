# METADATA
# title: Startup probes give the model time to load
# description: |
#   A startup probe kills the container after initialDelaySeconds plus failureThreshold times periodSeconds. By default
#   that is 30 seconds. A model server that is still loading then starts again, forever, and holds its GPUs all the
#   while. A large model takes longer: if its name says its size (70B), the check computes the time to read the weights. It
#   ignores probes that KServe merges with a runtime or a preset, because the rest of the probe may be there.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/probes/#startup-probe
#     description: Kubernetes on startup probes
# schemas:
#   - input: schema.input
# custom:
#   code: USH1003
#   about: accelerator pods
#   severity: medium
#   why: The server restarts in a loop before its model is loaded, and its GPUs do nothing.
#   closes: [S33]
#   parameters:
#     loadSeconds:
#       default: 120
#       description: Seconds that a model may take to load.
#   remediation: |
#     Raise failureThreshold or periodSeconds of the startupProbe until their product covers the time that the model
#     takes to load. If all models of the namespace load faster, set the time in usher.yaml (parameters,
#     startup-too-short, loadSeconds).
package usher.checks.serving.startup_too_short

import data.usher.lib.parameters
import data.usher.lib.serving
import data.usher.lib.workload

deny contains finding if {
	some entry in serving.model_servers
	probe := entry.container.startupProbe
	seconds := serving.seconds_until_failure(probe)
	seconds < _load_seconds
	not serving.merged(entry.container.path)

	finding := {
		"path": $"{entry.container.path}/startupProbe",
		"message": $"the startup probe kills {workload.container_name(entry.podSet, entry.container)} after {seconds} seconds, but a model may take {_load_seconds} seconds to load",
		"remedy": $"raise failureThreshold until the probe waits for {_load_seconds} seconds",
	}
}

deny contains finding if {
	some entry in serving.model_servers
	seconds := serving.seconds_until_failure(entry.container.startupProbe)
	seconds >= _load_seconds
	loading := serving.loading(entry.container)
	seconds < loading.seconds
	not serving.merged(entry.container.path)

	finding := {
		"path": $"{entry.container.path}/startupProbe",
		"message": $"the startup probe kills {workload.container_name(entry.podSet, entry.container)} after {seconds} seconds, but {loading.weights} may take {loading.seconds} seconds to load",
		"remedy": $"raise failureThreshold until the probe waits for {loading.seconds} seconds",
		"assumption": loading.assumption,
	}
}

_load_seconds := parameters.serving.startup_too_short.loadSeconds
