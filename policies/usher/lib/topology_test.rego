package usher.lib.topology_test

import data.usher.lib.topology

annotated := {"annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}}

test_kueue_keeps_the_pods_of_a_job_together if {
	topology.kept_in(annotated) == "rack" with input.workload.group as "batch"
	topology.kept_in(annotated) == "rack" with input.workload.group as "kubeflow.org"
}

test_of_other_kinds_it_keeps_smaller_groups_together if {
	not topology.kept_in(annotated) with input.workload.group as "apps"
	not topology.kept_in(annotated) with input.workload.group as "leaderworkerset.x-k8s.io"
}

test_without_the_annotation_nothing_is_kept_together if {
	preferred := {"annotations": {"kueue.x-k8s.io/podset-preferred-topology": "rack"}}
	not topology.kept_in(preferred) with input.workload.group as "batch"
}

test_pods_without_bound_are_more_than_any_number if {
	topology.makes_more_than({"pods": {"minimum": 1, "maximum": 5}}, 4)
	not topology.makes_more_than({"pods": {"minimum": 1, "maximum": 4}}, 4)
	topology.makes_more_than({"pods": {"minimum": 1}}, 4)
}

test_a_label_is_one_within_its_own_domain_and_all_smaller_ones if {
	topology.is_one_within("rack", "rack")
	topology.is_one_within("rack", "kubernetes.io/hostname")
	topology.is_one_within("topology.kubernetes.io/zone", "rack")
	topology.is_one_within("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
}

test_it_is_not_within_larger_ones_and_those_that_nobody_knows if {
	not topology.is_one_within("kubernetes.io/hostname", "rack")
	not topology.is_one_within("rack", "topology.kubernetes.io/zone")
	not topology.is_one_within("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
	not topology.is_one_within("rack", "block")
}

test_only_that_domains_of_a_cluster_lie_within_a_zone_is_assumed if {
	topology.assumption("topology.kubernetes.io/zone", "rack") == {
		"assumption": "usher assumes that each domain of rack lies inside one domain of topology.kubernetes.io/zone",
	}
	topology.assumption("rack", "rack") == {}
	topology.assumption("rack", "kubernetes.io/hostname") == {}
	topology.assumption("topology.kubernetes.io/region", "topology.kubernetes.io/zone") == {}
}
