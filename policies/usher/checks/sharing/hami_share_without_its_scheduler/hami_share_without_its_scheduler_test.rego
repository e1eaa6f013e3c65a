package usher.checks.sharing.hami_share_without_its_scheduler_test

import data.examples.checks.sharing.hami_share_without_its_scheduler as examples
import data.usher.checks.sharing.hami_share_without_its_scheduler as check

finding(path, name, text, remedy) := {
	"path": path,
	"message": $"the pod asks for {name}, which only HAMi's scheduler counts, but {text}",
	"remedy": remedy,
}

cores := "/spec/containers/0/resources/limits/nvidia.com~1gpucores"

removed := "remove schedulerName, or set it to hami-scheduler"

test_another_scheduler_does_not_count_shares if {
	check.deny == {finding(
		"/spec/template/spec/containers/0/resources/limits/nvidia.com~1gpumem-percentage",
		"nvidia.com/gpumem-percentage",
		`"my-scheduler" places the pod`,
		removed,
	)} with input as examples.bad_job
	check.deny == {finding(
		"/spec/containers/0/resources/limits/hygon.com~1dcumem",
		"hygon.com/dcumem",
		`"volcano" places the pod`,
		removed,
	)} with input as examples.bad_dcu
}

test_a_pod_may_keep_the_webhook_away if {
	check.deny == {finding(
		cores,
		"nvidia.com/gpucores",
		"the label hami.io/webhook: ignore keeps HAMi's webhook away, so the default scheduler places the pod",
		"remove the label, or set schedulerName to hami-scheduler",
	)} with input as examples.bad_label
}

test_a_namespace_may_keep_the_webhook_away if {
	check.deny == {finding(
		cores,
		"nvidia.com/gpucores",
		"the label of the namespace hami.io/webhook: ignore keeps HAMi's webhook away, so the default scheduler places the pod",
		"remove the label, or set schedulerName to hami-scheduler",
	)} with input as examples.bad_namespace
	named := {"op": "replace", "path": "/podSets/0/schedulerName", "value": "hami-scheduler"}
	check.deny == set() with input as json.patch(examples.bad_namespace, [named])
}

test_nodes_without_hami_are_found if {
	check.deny == {finding(
		cores,
		"nvidia.com/gpucores",
		"HAMi has registered no node, so no scheduler places the pod",
		"install HAMi's device plugin and label the nodes for it (gpu=on), or ask for whole GPUs",
	)} with input as object.union(examples.good_pod, {"cluster": {"hami": {"registered": false}}})
	check.deny == set() with input as object.union(examples.good_pod, {"cluster": {"hami": {"registered": true}}})
}

test_hami_gives_a_pod_its_scheduler if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_default_scheduler
	check.deny == set() with input as examples.good_named
}

test_volcano_counts_its_own_shares if {
	check.deny == set() with input as examples.good_volcano
}

test_usher_yaml_says_which_schedulers_count_shares if {
	check.deny == set() with input as examples.bad_job
		with data.usher.lib.parameters.sharing.hami_share_without_its_scheduler.schedulers as ["my-scheduler"]
}
