package usher.checks.gang.key_of_a_scheduler_unread_test

import data.examples.checks.gang.key_of_a_scheduler_unread as examples
import data.usher.checks.gang.key_of_a_scheduler_unread as check

test_a_queue_of_kai_as_annotation_is_found if {
	check.deny == {{
		"path": "/metadata/annotations/kai.scheduler~1queue",
		"message": `KAI-Scheduler does not read the annotation kai.scheduler/queue ("research")`,
		"remedy": "name it in the label kai.scheduler/queue",
	}} with input as examples.bad_pod_of_kai
}

test_labels_of_an_old_plugin_are_found if {
	check.deny == {
		{
			"path": "/spec/template/metadata/labels/pod-group.scheduling.sigs.k8s.io~1name",
			"message": `the coscheduling plugin does not read the label pod-group.scheduling.sigs.k8s.io/name ("tf")`,
			"remedy": "name it in the label scheduling.x-k8s.io/pod-group",
		},
		{
			"path": "/spec/template/metadata/labels/pod-group.scheduling.sigs.k8s.io~1min-available",
			"message": `the coscheduling plugin does not read the label pod-group.scheduling.sigs.k8s.io/min-available ("2")`,
			"remedy": "name it in minMember of a PodGroup",
		},
	} with input as examples.bad_job_of_an_old_plugin
}

test_an_annotation_written_as_label_is_found if {
	check.deny == {{
		"path": "/metadata/labels/alpha.jobset.sigs.k8s.io~1exclusive-topology",
		"message": `JobSet does not read the label alpha.jobset.sigs.k8s.io/exclusive-topology ("rack")`,
		"remedy": "name it in the annotation alpha.jobset.sigs.k8s.io/exclusive-topology",
	}} with input as examples.bad_jobset
}

test_an_annotation_named_like_the_label_of_a_node_is_found if {
	memory := [{"op": "add", "path": "/workload/annotations", "value": {"nvidia.com/gpu.memory": "8000Mi"}}]
	check.deny == {{
		"path": "/metadata/annotations/nvidia.com~1gpu.memory",
		"message": `KAI-Scheduler does not read the annotation nvidia.com/gpu.memory ("8000Mi")`,
		"remedy": "name it in the annotation gpu-memory",
	}} with input as json.patch(examples.good_job_of_the_plugin, memory)
}

test_keys_in_their_place_are_good_also_beside_others if {
	check.deny == set() with input as examples.good_job_of_the_plugin
	check.deny == set() with input as examples.good_pod_with_both
}

test_grove_hands_the_annotation_on if {
	check.deny == set() with input as examples.good_clique_set
}

test_annotations_of_pods_on_a_job_are_found_and_a_group_of_another_scheduler if {
	check.deny == {
		{
			"path": "/metadata/annotations/kueue.x-k8s.io~1podset-required-topology",
			"message": `Kueue reads the annotation kueue.x-k8s.io/podset-required-topology ("cloud.provider.com/rack") of pods, and Job does not hand it on to its pods`,
			"remedy": "move it to /spec/template/metadata/annotations",
		},
		{
			"path": "/metadata/annotations/cluster-autoscaler.kubernetes.io~1safe-to-evict",
			"message": `the Cluster Autoscaler reads the annotation cluster-autoscaler.kubernetes.io/safe-to-evict ("false") of pods, and Job does not hand it on to its pods`,
			"remedy": "move it to /spec/template/metadata/annotations",
		},
		{
			"path": "/spec/template/metadata/labels/karpenter.sh~1do-not-disrupt",
			"message": `Karpenter does not read the label karpenter.sh/do-not-disrupt ("true")`,
			"remedy": "name it in the annotation karpenter.sh/do-not-disrupt",
		},
		{
			"path": "/spec/template/metadata/labels/scheduling.x-k8s.io~1pod-group",
			"message": `the scheduler of Kubernetes places these pods, and does not read the label scheduling.x-k8s.io/pod-group ("train") of the coscheduling plugin`,
			"remedy": "name the scheduler that runs it (scheduler-plugins-scheduler) in schedulerName",
			"assumption": "usher assumes that the scheduler of Kubernetes runs without this plugin",
		},
	} with input as examples.bad_job_whose_pods_do_not_know
}

test_keys_of_kai_on_other_kinds_and_without_its_scheduler_are_found if {
	check.deny == {
		{
			"path": "/metadata/annotations/kai.scheduler~1batch-min-member",
			"message": `KAI-Scheduler does not read the annotation kai.scheduler/batch-min-member ("4") of a StatefulSet`,
			"remedy": "use kai.scheduler/min-member, from the version that reads it",
		},
		{
			"path": "/metadata/labels/kai.scheduler~1queue",
			"message": `the scheduler of Kubernetes places these pods, and does not read the label kai.scheduler/queue ("inference") of KAI-Scheduler`,
			"remedy": "name kai-scheduler in schedulerName",
		},
	} with input as examples.bad_stateful_set_of_kai
	check.deny == set() with input as json.patch(examples.bad_stateful_set_of_kai, [
		{"op": "add", "path": "/site/route", "value": {"scheduler": "kai"}},
		{"op": "replace", "path": "/workload/annotations", "value": {}},
	])
}

test_annotations_of_pods_are_good_also_beside_those_of_the_object if {
	check.deny == set() with input as examples.good_job_whose_pods_know
}

test_a_group_of_volcano_under_the_scheduler_of_kubernetes_is_found if {
	group := [
		{"op": "add", "path": "/workload/annotations", "value": {}},
		{"op": "add", "path": "/podSets/0/annotations", "value": {"scheduling.k8s.io/group-name": "train"}},
		{"op": "add", "path": "/podSets/0/labels", "value": {}},
	]
	check.deny == {{
		"path": "/spec/template/metadata/annotations/scheduling.k8s.io~1group-name",
		"message": `the scheduler of Kubernetes places these pods, and does not read the annotation scheduling.k8s.io/group-name ("train") of Volcano`,
		"remedy": "name volcano in schedulerName",
	}} with input as json.patch(examples.bad_job_whose_pods_do_not_know, group)
}
