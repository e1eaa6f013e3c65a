package usher.checks.queueing.kai_queue_promises_too_much_test

import data.examples.checks.queueing.kai_queue_promises_too_much as examples
import data.usher.checks.queueing.kai_queue_promises_too_much as check

test_a_quota_above_the_limit_of_its_queue_is_found if {
	check.deny == {{
		"path": "/spec/resources/gpu/quota",
		"message": "the queue is promised 8 GPUs, but its own limit is 4",
		"remedy": "raise the limit to the quota at least, or set it to -1",
	}} with input as examples.bad_above_its_limit
}

test_a_quota_above_the_limit_of_the_queue_above_is_found if {
	check.deny == {{
		"path": "/spec/resources/gpu/quota",
		"message": `the queue is promised 16 GPUs, but the queue "department" above it has a limit of 8`,
		"remedy": "ask for a quota of 8 at most, or raise the limit of the queue above it",
	}} with input as examples.bad_above_its_parent
}

test_quotas_that_exceed_the_limit_above_them_together_are_found if {
	check.deny == {{
		"path": "/spec/resources/gpu/limit",
		"message": `the limit is 4 GPUs, but the queues below it are promised 8: "speech", "vision"`,
		"remedy": "raise the limit to 8 at least, or lower the quotas below it",
	}} with input as examples.bad_sum
}

test_quotas_below_their_limits_are_good if {
	check.deny == set() with input as examples.good_queue
	check.deny == set() with input as examples.good_sum
}

test_without_a_limit_every_quota_is_good if {
	check.deny == set() with input as examples.good_without_limit
	unlimited := {"op": "replace", "path": "/cluster/kaiTree/parent", "value": {"name": "department"}}
	check.deny == set() with input as json.patch(examples.bad_above_its_parent, [unlimited])
}

test_without_facts_only_the_queue_itself_counts if {
	check.deny == set() with input as json.remove(examples.bad_above_its_parent, ["/cluster"])
	check.deny == set() with input as json.remove(examples.bad_sum, ["/cluster"])
}

test_a_child_without_a_quota_counts_nothing if {
	silent := {"op": "replace", "path": "/cluster/kaiTree/children", "value": [{"name": "vision"}]}
	check.deny == set() with input as json.patch(examples.bad_sum, [silent])
}
