package usher.lib.kubeflow_test

import data.usher.lib.kubeflow

test_the_settings_of_every_kind_are_found if {
	every kind in ["pytorchJob", "tfJob", "xgboostJob", "paddleJob", "jaxJob", "mpiJob"] {
		job := {"spec": {"runPolicy": {"schedulingPolicy": {"queue": "research"}}}}
		kubeflow.job == job with input as {"object": {kind: job}}
		kubeflow.scheduling_policy == {"queue": "research"} with input as {"object": {kind: job}}
	}
}

test_other_kinds_have_none if {
	not kubeflow.job with input as {"object": {"volcanoJob": {"spec": {}}}}
	not kubeflow.scheduling_policy with input as {"object": {"pytorchJob": {"spec": {}}}}
}
