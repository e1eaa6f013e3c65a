package usher.lib.queues_test

import data.usher.lib.queues

in_queue(queue) := {
	"workload": {"group": "batch", "kind": "Job", "queueLabelPath": "/metadata"},
	"cluster": {"kueue": {"configurationKnown": true, "queue": queue}},
}

test_a_queue_that_is_named_stands_in_its_label if {
	queues.path == "/metadata/labels/kueue.x-k8s.io~1queue-name" with input as in_queue({"byDefault": false})
}

test_a_queue_by_default_is_told_where_its_label_would_stand if {
	queues.path == "/metadata" with input as in_queue({"byDefault": true})
}
