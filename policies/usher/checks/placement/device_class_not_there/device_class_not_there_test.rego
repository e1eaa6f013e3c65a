package usher.checks.placement.device_class_not_there_test

import data.examples.checks.placement.device_class_not_there as examples
import data.usher.checks.placement.device_class_not_there as check

found(path) := {{
	"path": path,
	"message": `the pod claims a device of class "gpu.nvidia.com", which does not exist, so no node can hold the pods`,
	"remedy": "name a class that `kubectl get deviceclasses` lists, or install the driver that makes it",
}}

test_a_class_that_is_not_there_is_found if {
	check.deny == found("/spec/resourceClaims/0") with input as examples.bad_pod
	check.deny == found("/spec/resourceClaims/1") with input as examples.bad_pod_with_two_claims
	check.deny == found("/spec/template/spec/resourceClaims/0") with input as examples.bad_job
}

test_a_class_that_is_there_is_good_also_as_an_alternative if {
	check.deny == set() with input as examples.good_pod
	check.deny == set() with input as examples.good_pod_with_an_alternative
}
