package usher.checks.gang.native_group_members_differ_test

import data.examples.checks.gang.native_group_members_differ as examples
import data.usher.checks.gang.native_group_members_differ as check

assumed := "usher assumes that both do not resolve to one priority"

test_pods_need_the_class_of_their_group if {
	check.deny == {{
		"path": "/spec/template/spec/priorityClassName",
		"message": "the pod has no priority class and PodGroup \"together\" has priority class \"training\", so the scheduler places no pod of the group",
		"remedy": `name the class of the group: priority class "training"`,
		"assumption": assumed,
	}} with input as examples.bad_job_without_the_class
	check.deny == set() with input as examples.good_job
}

test_the_default_class_of_the_cluster_may_be_left_out if {
	document := json.patch(examples.bad_job_without_the_class, [{"op": "add", "path": "/site/globalDefaultPriority", "value": "training"}])
	check.deny == set() with input as document
}

test_another_scheduler_does_not_read_the_group if {
	check.deny == {{
		"path": "/spec/template/spec/schedulerName",
		"message": "kai-scheduler places the pod and does not read PodGroup \"together\" of Kubernetes",
		"remedy": "remove schedulerName, or schedulingGroup and use the groups of that scheduler",
	}} with input as examples.bad_job_of_kai
}

test_a_job_needs_one_of_both_ways if {
	check.deny == {{
		"path": "/spec/scheduling",
		"message": "spec.scheduling has no effect, because the template names a PodGroup in schedulingGroup",
		"remedy": "remove one of them",
	}} with input as examples.bad_job_with_both
}

test_templates_of_one_group_need_one_scheduler_and_one_class if {
	pods := "/spec/replicatedJobs/1/template/spec/template/spec"
	check.deny == {
		{
			"path": $"{pods}/schedulerName",
			"message": "slurm-bridge-scheduler places workers and default-scheduler places driver, so no pod of PodGroup \"elsewhere\" is scheduled",
			"remedy": "name one scheduler in every template of the group",
		},
		{
			"path": $"{pods}/priorityClassName",
			"message": "workers has priority class \"training\" and driver has no priority class, so the scheduler places no pod of PodGroup \"elsewhere\"",
			"remedy": "name one priority class in every template of the group, and in the PodGroup",
			"assumption": assumed,
		},
	} with input as examples.bad_jobset
}

test_a_hierarchy_has_one_class_and_no_cycle if {
	group := "/spec/template/spec/schedulingGroup/podGroupName"
	check.deny == {
		{
			"path": group,
			"message": "CompositePodGroup \"round\" has priority class \"training\" and PodGroup \"leaf\" below it has no priority class, so the scheduler places no pod of the hierarchy",
			"remedy": "name one priority class in all groups of the hierarchy, and in their pods",
			"assumption": assumed,
		},
		{
			"path": group,
			"message": "the scheduler refuses the CompositePodGroups above PodGroup \"leaf\", because they have a cycle or more than 4 levels",
			"remedy": "correct parentCompositePodGroupName of the groups",
		},
	} with input as examples.bad_job_below_composite_groups
}
