package usher.checks.queueing.pod_set_group_of_wrong_members_test

import data.examples.checks.queueing.pod_set_group_of_wrong_members as examples
import data.usher.checks.queueing.pod_set_group_of_wrong_members as check

key := "annotations/kueue.x-k8s.io~1podset-group-name"

test_a_group_of_one_is_found if {
	check.deny == {{
		"path": $"/spec/mpiReplicaSpecs/Worker/template/metadata/{key}",
		"message": `pod set group "ring" consists of Worker, but Kueue accepts only groups of exactly 2 pod sets`,
		"remedy": "name the group on the leader and its workers only",
	}} with input as examples.bad_mpijob
}

test_a_group_of_three_is_found if {
	check.deny == {{
		"path": $"/spec/headGroupSpec/template/metadata/{key}",
		"message": `pod set group "ring" consists of head and fast and slow, but Kueue accepts only groups of exactly 2 pod sets`,
		"remedy": "name the group on the leader and its workers only",
	}} with input as examples.bad_raycluster
}

test_two_templates_of_several_pods_are_found if {
	check.deny == {{
		"path": $"/spec/replicatedJobs/0/template/spec/template/metadata/{key}",
		"message": `pod set group "pair": neither of parameter-servers and workers has a single pod, so Kueue refuses it`,
		"remedy": "give one of the two a single pod, or place them separately",
	}} with input as examples.bad_jobset
}

test_a_leader_and_its_workers_are_good if {
	check.deny == set() with input as examples.good_jobset
}

test_every_group_of_a_leader_worker_set_has_one_leader if {
	check.deny == set() with input as examples.good_leaderworkerset
}

test_a_kind_whose_groups_nobody_looks_at_is_left_alone if {
	check.deny == set() with input as examples.good_pod
}
