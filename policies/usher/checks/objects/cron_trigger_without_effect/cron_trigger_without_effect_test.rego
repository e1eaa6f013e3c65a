package usher.checks.objects.cron_trigger_without_effect_test

import data.examples.checks.objects.cron_trigger_without_effect as examples
import data.usher.checks.objects.cron_trigger_without_effect as check

test_a_schedule_that_cannot_have_its_number_is_found if {
	check.deny == {{"path": "/spec/triggers/0/metadata", "message": "the cron trigger asks for 8 replicas, but maxReplicaCount is 4", "remedy": "set maxReplicaCount to 8 or more, or ask for fewer"}} with input as examples.bad_above_the_maximum
	check.deny == {{"path": "/spec/triggers/0/metadata", "message": "the cron trigger starts and ends at the same time, so KEDA refuses it", "remedy": "set another end"}} with input as examples.bad_no_time
	check.deny == {{"path": "/spec/triggers/0/metadata", "message": "the cron trigger lacks timezone, so KEDA refuses it", "remedy": "add timezone"}} with input as examples.bad_without_time_zone
}

test_a_whole_schedule_is_good if {
	check.deny == set() with input as examples.good_cron
	check.deny == set() with input as examples.good_other_trigger
}

test_what_an_operator_made_is_left_alone if {
	check.deny == set() with input as object.union(examples.bad_above_the_maximum, {"object": {"scaledObject": {"metadata": {"ownerReferences": [{}]}}}})
}
