package usher.checks.objects.keda_group_misspelt_test

import data.examples.checks.objects.keda_group_misspelt as examples
import data.usher.checks.objects.keda_group_misspelt as check

misspelt(version, kind) := {{
	"path": "/apiVersion",
	"message": $"the API {version} does not exist; KEDA's {kind} is in keda.sh/v1alpha1",
	"remedy": "write apiVersion: keda.sh/v1alpha1",
}}

test_the_group_of_annotations_is_no_api if {
	check.deny == misspelt("autoscaling.keda.sh/v1alpha1", "ScaledObject") with input as examples.bad_scaledobject
	check.deny == misspelt("autoscaling.keda.sh/v1", "ScaledJob") with input as examples.bad_scaledjob
	check.deny == misspelt("autoscaling.keda.sh/v1alpha1", "TriggerAuthentication") with input as examples.bad_authentication
}

test_the_group_of_keda_is_good if {
	check.deny == set() with input as examples.good_scaledobject
	check.deny == set() with input as examples.good_scaledjob
}
