# METADATA
# title: What a Volcano queue is promised fits into it
# description: |
#   A queue is guaranteed some resources, deserves as many or more, and may have as many or more again: `guarantee` is at
#   most `deserved`, and that at most `capability`. Volcano's webhook refuses a queue that says otherwise; where the webhook
#   is off or old, the queue reserves what it may not use, and nobody else gets it. A resource that `deserved` does not
#   name is compared with `capability`, and one that `capability` does not name has no limit.
# scope: package
# related_resources:
#   - ref: https://volcano.sh/en/docs/queue/
#     description: Volcano on the fields of a queue
#   - ref: https://github.com/volcano-sh/volcano/blob/master/pkg/webhooks/admission/queues/validate/validate_queue.go
#     description: What Volcano's webhook refuses
# schemas:
#   - input: schema.input
# custom:
#   code: USH1421
#   about: objects
#   kinds: [volcanoQueue]
#   severity: high
#   why: GPUs are kept for a queue that may not use them.
#   closes: [S27]
#   remediation: Make `guarantee` no more than `deserved`, and `deserved` no more than `capability`.
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
	"message": $"{amount.text} of {name} are more than its {bound}",
	"remedy": "make guarantee no more than deserved, and deserved no more than capability",
}
