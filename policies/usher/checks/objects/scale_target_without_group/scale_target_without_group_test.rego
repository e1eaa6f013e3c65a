package usher.checks.objects.scale_target_without_group_test

import data.examples.checks.objects.scale_target_without_group as examples
import data.usher.checks.objects.scale_target_without_group as check

missing(kind, such_as) := {{
	"path": "/spec/scaleTargetRef",
	"message": $"the API group of the {kind} is missing, so the autoscaler never finds it",
	"remedy": $"set apiVersion of the target{such_as}",
}}

not_in_apps(kind) := {{
	"path": "/spec/scaleTargetRef",
	"message": $"without apiVersion KEDA looks for the {kind} in apps/v1, where it never finds it",
	"remedy": "set apiVersion of the target",
}}

targeting(document, key, target) := json.patch(document, [{
	"op": "replace",
	"path": $"/object/{key}/spec/scaleTargetRef",
	"value": target,
}])

test_a_target_without_a_group_is_found if {
	check.deny == missing("Deployment", ": apps/v1") with input as examples.bad_hpa
	check.deny == missing("PyTorchJob", "") with input as examples.bad_hpa_with_a_version_alone
}

test_keda_looks_in_apps if {
	check.deny == not_in_apps("LeaderWorkerSet") with input as examples.bad_scaledobject
	check.deny == not_in_apps("LeaderWorkerSet") with input as targeting(
		examples.bad_scaledobject,
		"scaledObject",
		{"apiVersion": "", "kind": "LeaderWorkerSet", "name": "deepseek"},
	)
}

test_a_target_with_its_group_is_good if {
	check.deny == set() with input as examples.good_hpa
	check.deny == set() with input as targeting(
		examples.bad_scaledobject,
		"scaledObject",
		{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "name": "deepseek"},
	)
}

test_what_keda_finds_in_apps_is_good if {
	check.deny == set() with input as examples.good_scaledobject
	every kind in ["Deployment", "ReplicaSet", "StatefulSet"] {
		check.deny == set() with input as targeting(examples.bad_scaledobject, "scaledObject", {"kind": kind})
	}
}

test_a_replication_controller_has_no_group if {
	check.deny == set() with input as targeting(
		examples.bad_hpa,
		"horizontalPodAutoscaler",
		{"kind": "ReplicationController", "name": "chat"},
	)
}

test_what_cannot_be_scaled_is_for_another_check if {
	check.deny == set() with input as targeting(examples.bad_hpa, "horizontalPodAutoscaler", {"kind": "Pod"})
	every kind in ["DaemonSet", "Pod"] {
		check.deny == set() with input as targeting(examples.bad_scaledobject, "scaledObject", {"kind": kind})
	}
}
