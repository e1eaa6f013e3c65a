# METADATA
# title: guarantee, deserved and capability of a Volcano queue are in order
# description: |
#   A queue is guaranteed some resources (`guarantee`), deserves at least as many (`deserved`), and may use at least as
#   many again (`capability`). guarantee must be at most deserved, and deserved at most capability. Volcano's webhook
#   refuses other queues. If the webhook is off or old, the queue reserves resources that it may not use, and no other
#   queue gets them. If `deserved` does not name a resource, `guarantee` is compared with `capability`. A resource that
#   `capability` does not name has no limit.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on the fields of a queue
#   - ref: https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/queues/validate/validate_queue.go
#     description: The queues that Volcano's webhook refuses
# schemas:
#   - input: schema.input
# custom:
#   code: USH1421
#   about: objects
#   kinds: [volcanoQueue]
#   severity: high
#   why: Volcano reserves GPUs for a queue that may not use them.
#   closes: [S27]
#   remediation: Set `guarantee` to at most `deserved`, and `deserved` to at most `capability`.
package usher.checks.objects.volcano_queue_capability

deny contains finding if {
	some name, amount in _deserved
	amount.milli > _capability[name].milli
	finding := _finding("deserved", name, amount, $"capability of {_capability[name].text}")
}

deny contains finding if {
	some name, amount in _guaranteed
	amount.milli > _deserved[name].milli
	finding := _finding("guarantee/resource", name, amount, $"deserved {_deserved[name].text}")
}

deny contains finding if {
	some name, amount in _guaranteed
	not _deserved[name]
	amount.milli > _capability[name].milli
	finding := _finding("guarantee/resource", name, amount, $"capability of {_capability[name].text}")
}

_spec := input.object.volcanoQueue.spec

_capability := object.get(_spec, "capability", {})

_deserved := object.get(_spec, "deserved", {})

_guaranteed := object.get(_spec, ["guarantee", "resource"], {})

_finding(place, name, amount, bound) := {
	"path": $"/spec/{place}/{replace(name, "/", "~1")}",
	"message": $"{amount.text} of {name} is more than its {bound}",
	"remedy": "set guarantee to at most deserved, and deserved to at most capability",
}
