package usher.checks.fabric.rendezvous_in_another_namespace_test

import data.examples.checks.fabric.rendezvous_in_another_namespace as examples
import data.usher.checks.fabric.rendezvous_in_another_namespace as check

test_a_first_rank_elsewhere_is_found if {
	check.deny == {{"path": "/spec/template/spec/containers/0/env/0", "message": `MASTER_ADDR of container train names the namespace "ml-vision", but the pods run in "ml-research"`, "remedy": "use the namespace of the pods, or a name without a namespace"}} with input as examples.bad_pod_of_a_job
	check.deny == {{"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env/0", "message": `MASTER_ADDR of container pytorch of Master names the namespace "ml-vision", but the pods run in "ml-research"`, "remedy": "use the namespace of the pods, or a name without a namespace"}, {"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0", "message": `MASTER_ADDR of container pytorch of Worker names the namespace "ml-vision", but the pods run in "ml-research"`, "remedy": "use the namespace of the pods, or a name without a namespace"}} with input as examples.bad_service
	check.deny == {{"path": "/spec/pytorchReplicaSpecs/Master/template/spec/containers/0/env/0", "message": `MASTER_ADDR of container pytorch of Master names the namespace "ml-vision", but the pods run in "ml-research"`, "remedy": "use the namespace of the pods, or a name without a namespace"}, {"path": "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/env/0", "message": `MASTER_ADDR of container pytorch of Worker names the namespace "ml-vision", but the pods run in "ml-research"`, "remedy": "use the namespace of the pods, or a name without a namespace"}} with input as examples.bad_short
}

test_the_own_namespace_and_none_are_good if {
	check.deny == set() with input as examples.good_anywhere
	check.deny == set() with input as examples.good_same
	check.deny == set() with input as examples.good_without_a_namespace
}

test_what_a_controller_made_was_judged_at_its_owner if {
	owned := [{"op": "replace", "path": "/workload/owned", "value": true}]
	check.deny == set() with input as json.patch(examples.bad_pod_of_a_job, owned)
}
