# METADATA
# title: A server has the time that its requests need to end
# description: |
#   When a pod stops, the kubelet runs the preStop hook, sends SIGTERM, and kills the containers after
#   terminationGracePeriodSeconds, 30 by default. The time counts from the start of the hook. A server that may take 120
#   seconds for its last requests is killed before, and the answers are cut off, at every rollout and every drain.
#
#   The check adds the sleep of the hook and the time that a flag gives the server: --shutdown-timeout of vLLM,
#   --timeout-graceful-shutdown of uvicorn, --graceful-timeout of gunicorn and --exit-timeout-secs of Triton. Without
#   these flags it compares the sleep alone, because a hook as long as the grace period leaves no time for SIGTERM.
# scope: package
# related_resources:
#   - ref: https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#pod-termination
#     description: Kubernetes on the termination of pods
#   - ref: https://github.com/vllm-project/vllm/pull/43208
#     description: vLLM on the three times and how they depend on each other
# schemas:
#   - input: schema.input
# custom:
#   code: USH1063
#   about: accelerator pods
#   severity: medium
#   why: Every rollout cuts off requests that the server was about to answer.
#   remediation: |
#     Set terminationGracePeriodSeconds to more than the sleep of the hook and the time of the server together.
package usher.checks.serving.killed_while_draining

import data.usher.lib.workload

# Longer sleeps hold the accelerators, which leaves-too-late reports.
_longest_hook := 86400

deny contains finding if {
	not input.workload.owned
	some pod_set in workload.accelerator_pod_sets
	some container in pod_set.containers
	_takes_time(container)
	slept := object.get(container, ["lifecycle", "preStop", "sleepSeconds"], 0)
	slept < _longest_hook
	drained := object.get(container, "drainSeconds", 0)
	grace := object.get(pod_set, "terminationGracePeriodSeconds", 30)
	_too_long(slept, drained, grace)

	finding := {
		"path": container.path,
		"message": $"the kubelet kills {workload.container_name(pod_set, container)} {grace} seconds after the stop of its pod begins, but {_uses(slept, drained)}",
		"remedy": $"set terminationGracePeriodSeconds to more than {slept + drained}",
	}
}

_takes_time(container) if container.drainSeconds

_takes_time(container) if container.lifecycle.preStop

_too_long(slept, drained, grace) if {
	drained > 0
	slept + drained > grace
}

_too_long(slept, 0, grace) if {
	slept > 0
	slept >= grace
}

_uses(slept, drained) := $"its preStop hook sleeps for {slept} seconds, and its server may then need {drained} seconds for its requests" if {
	slept > 0
	drained > 0
}

_uses(0, drained) := $"its server may need {drained} seconds for its requests"

_uses(slept, 0) := $"its preStop hook sleeps for {slept} seconds, so the server has no time after SIGTERM"
