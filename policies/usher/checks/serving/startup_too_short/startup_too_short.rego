# METADATA
# title: Startup probes leave the model time to load
# description: |
#   A startup probe kills the container when it has failed often enough: after initialDelaySeconds and failureThreshold
#   times periodSeconds, which is 30 seconds where nothing is said. A model server that is still loading by then starts
#   from the beginning, for ever, and holds its GPUs all the while. What KServe merges with a runtime or a preset, where
#   the other half of the probe may stand, is left alone.
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
#   why: The server restarts in a loop before its model is loaded, while its GPUs do nothing.
#   closes: [S33]
#   parameters:
#     loadSeconds:
#       default: 120
#       description: Seconds that a model may take to load.
#   remediation: |
#     Raise failureThreshold or periodSeconds of the startupProbe until their product covers the time that the model
#     takes to load. If all models of the namespace load faster, say so in usher.yaml (parameters, startup-too-short,
#     loadSeconds).
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
		"message": $"{workload.container_name(entry.podSet, entry.container)}: the startup probe kills it after {seconds} seconds, but a model may take {_load_seconds} to load",
		"remedy": $"raise failureThreshold until the probe waits for {_load_seconds} seconds",
	}
}

_load_seconds := parameters.serving.startup_too_short.loadSeconds
