# METADATA
# title: Retries of GPU steps have a limit
# description: |
#   A retryStrategy without `limit` retries forever. A step with an error in its own program never succeeds and takes
#   its GPUs again and again. Any of these ends it: a limit, backoff.maxDuration, activeDeadlineSeconds of the whole
#   workflow, or an expression that decides about the next retry. The fields of templateDefaults count for every
#   template.
# scope: package
# related_resources:
#   - ref: https://argo-workflows.readthedocs.io/en/latest/retries/
#     description: Argo Workflows on retries
# schemas:
#   - input: schema.input
# custom:
#   code: USH1106
#   about: accelerator pods
#   severity: medium
#   why: A step that can never succeed takes GPUs again and again, until somebody notices.
#   closes: [S41]
#   remediation: Set `limit` of the retryStrategy to a few attempts.
package usher.checks.scaling.retry_without_limit

import data.usher.lib.argo
import data.usher.lib.workload

deny contains finding if {
	input.workload.group == "argoproj.io"
	not input.workload.owned
	not argo.spec.activeDeadlineSeconds
	some pod_set in workload.accelerator_pod_sets
	some strategy in _strategies
	strategy.template == pod_set.path
	not strategy.fields.limit
	not strategy.fields.expression
	not strategy.fields.backoff.maxDuration

	finding := {
		"path": strategy.path,
		"message": $"{workload.pod_set_name(pod_set)} asks for accelerators and retries forever, because its retryStrategy has no limit",
		"remedy": "set limit of the retryStrategy",
	}
}

_strategies := array.concat(_own, _by_default)

_own := [{"template": path, "path": $"{path}/retryStrategy", "fields": object.union(_default, own)} |
	some index, template in argo.spec.templates
	path := $"{argo.path}/templates/{index}"
	own := template.retryStrategy
]

_by_default := [{"template": path, "path": $"{argo.path}/templateDefaults/retryStrategy", "fields": fields} |
	fields := argo.spec.templateDefaults.retryStrategy
	some index, template in argo.spec.templates
	not template.retryStrategy
	path := $"{argo.path}/templates/{index}"
]

_default := object.get(argo.spec, ["templateDefaults", "retryStrategy"], {})
