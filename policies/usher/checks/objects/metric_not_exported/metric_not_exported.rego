# METADATA
# title: An autoscaler scales by a metric that the server exports
# description: |
#   A query for a metric that does not exist finds nothing, so the autoscaler never scales. vLLM and llama.cpp write a
#   colon after their name (`vllm:num_requests_waiting`), and llama.cpp no longer exports the use of its cache. usher
#   looks at queries of KEDA for Prometheus, and at metrics of a HorizontalPodAutoscaler, which an adapter may rename:
#   there only names with a colon count.
# scope: package
# related_resources:
#   - ref: https://docs.vllm.ai/en/stable/usage/metrics/
#     description: vLLM on its metrics
#   - ref: https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md#get-metrics-prometheus-compatible-metrics-exporter
#     description: llama.cpp on its metrics
# schemas:
#   - input: schema.input
# custom:
#   code: USH1537
#   about: unread keys
#   severity: medium
#   why: The service stays at its minimum while requests wait.
#   closes: []
#   remediation: Write the name that the server exports.
package usher.checks.objects.metric_not_exported

deny contains finding if {
	some each in input.unreadKeys
	each.topic == "metric"

	finding := {
		"path": each.path,
		"message": $"{input.workload.kind} {each.text}",
		"remedy": each.remedy,
	}
}
