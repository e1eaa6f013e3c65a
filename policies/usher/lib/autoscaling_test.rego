package usher.lib.autoscaling_test

import data.usher.lib.autoscaling

hpa(spec) := {"object": {"horizontalPodAutoscaler": {"spec": spec}}}

scaled(spec) := {"object": {"scaledObject": {"spec": spec}}}

target(group, kind) := {"group": group, "kind": kind, "path": "/spec/scaleTargetRef"}

owned := {"ownerReferences": [{}]}

test_an_autoscaler_names_the_group_and_the_kind_of_its_target if {
	autoscaling.target == target("apps", "Deployment") with input as hpa({"scaleTargetRef": {
		"apiVersion": "apps/v1",
		"kind": "Deployment",
	}})
	autoscaling.target == target("", "ReplicationController") with input as hpa({"scaleTargetRef": {
		"apiVersion": "v1",
		"kind": "ReplicationController",
	}})
	autoscaling.target == target("", "Deployment") with input as hpa({"scaleTargetRef": {"kind": "Deployment"}})
	not autoscaling.target with input as hpa({"scaleTargetRef": {"apiVersion": "apps/v1"}})
	not autoscaling.target with input as hpa({})
}

test_keda_takes_a_deployment_where_nothing_is_said if {
	autoscaling.target == target("apps", "Deployment") with input as scaled({"scaleTargetRef": {"name": "chat"}})
	autoscaling.target == target("apps", "Deployment") with input as scaled({"scaleTargetRef": {
		"apiVersion": "",
		"kind": "",
	}})
	autoscaling.target == target("ray.io", "RayCluster") with input as scaled({"scaleTargetRef": {
		"apiVersion": "ray.io/v1",
		"kind": "RayCluster",
	}})
	not autoscaling.target with input as scaled({})
}

test_bounds_have_the_defaults_of_their_kind if {
	autoscaling.bounds == {
		"minimum": 1,
		"maximum": 4,
		"minimumField": "minReplicas",
		"maximumField": "maxReplicas",
	} with input as hpa({"maxReplicas": 4})
	autoscaling.bounds.minimum == 2 with input as hpa({"minReplicas": 2, "maxReplicas": 4})
	not autoscaling.bounds with input as hpa({"minReplicas": 2})
	autoscaling.bounds == {
		"minimum": 0,
		"maximum": 100,
		"minimumField": "minReplicaCount",
		"maximumField": "maxReplicaCount",
	} with input as scaled({})
	autoscaling.bounds.minimum == 3 with input as scaled({"minReplicaCount": 3})
	autoscaling.bounds.maximum == 5 with input as scaled({"maxReplicaCount": 5})
}

test_what_an_operator_made_is_left_alone if {
	every key in ["horizontalPodAutoscaler", "scaledObject"] {
		made := {"object": {key: {"metadata": owned, "spec": {
			"maxReplicas": 4,
			"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment"},
		}}}}
		not autoscaling.bounds with input as made
		not autoscaling.target with input as made
	}
}
