package usher.checks.gang.pod_group_queue_unusable_test

import data.examples.checks.gang.pod_group_queue_unusable as examples
import data.usher.checks.gang.pod_group_queue_unusable as check

found(path, message) := {{
	"path": path,
	"message": message,
	"remedy": "name a leaf queue that `kubectl get queues.scheduling.volcano.sh` lists as Open",
}}

test_a_queue_that_is_not_there_is_found if {
	message := `Volcano queue "reserch" does not exist, so the group never starts`
	check.deny == found("/spec/queue", message) with input as examples.bad_name
	check.unknown == set() with input as examples.bad_name
}

test_without_a_queue_there_must_be_the_usual_one if {
	message := `Volcano queue "default" does not exist, so the group never starts`
	check.deny == found("/spec", message) with input as examples.bad_without_queue
}

test_a_queue_that_takes_nothing_new_is_found if {
	message := `Volcano queue "old" is "Closed", so it accepts no new PodGroups`
	check.deny == found("/spec/queue", message) with input as examples.bad_closed
}

test_only_leaves_start_anything if {
	message := `Volcano queue "lab" has queues below it, so it starts no pods`
	check.deny == found("/spec/queue", message) with input as examples.bad_parent
	of_root := `Volcano queue "root" is the root queue, so it starts no pods`
	check.deny == found("/spec/queue", of_root) with input as examples.bad_root
}

test_an_open_leaf_is_good if {
	check.deny == set() with input as examples.good_group
}

test_without_queues_among_the_facts_it_is_unknown if {
	blind := json.patch(examples.bad_name, [{"op": "replace", "path": "/cluster/podGroupObject/standing", "value": "not known"}])
	check.deny == set() with input as blind
	check.unknown == {{
		"path": "/spec/queue",
		"reason": `usher does not know whether Volcano queue "reserch" exists: the facts of the cluster contain no Volcano queues`,
	}} with input as blind
}
