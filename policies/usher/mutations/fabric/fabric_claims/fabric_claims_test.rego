package usher.mutations.fabric.fabric_claims_test

import data.examples.mutations.fabric.fabric_claims as examples
import data.usher.mutations.fabric.fabric_claims as mutation

worker := "/spec/pytorchReplicaSpecs/Worker/template"

container := $"{worker}/spec/containers/0"

given := {{
	"at": container,
	"field": "claim",
	"value": {"name": "imex-channel", "template": "training-channel"},
	"reason": "fabric nvl72 needs it, and the pod can run only on nodes with this fabric",
	"needs": [{
		"group": "resource.k8s.io",
		"kind": "ResourceClaimTemplate",
		"name": "training-channel",
		"namespace": "ml-research",
	}],
}}

skipped(at, reason) := {{"at": at, "reason": reason}}

test_a_training_container_gets_the_claims_of_its_fabric if {
	mutation.intents == given with input as examples.before_pytorchjob
	mutation.skips == set() with input as examples.before_pytorchjob
}

test_a_fabric_without_claims_gives_nothing if {
	plain := json.remove(examples.before_pytorchjob, ["/fabrics/nvl72/claims"])
	mutation.intents == set() with input as plain
	mutation.skips == {{"at": worker, "reason": "fabric nvl72 lists no claims"}} with input as plain
}

test_a_claim_is_for_the_roles_that_it_names if {
	served := json.patch(examples.before_pytorchjob, [{"op": "replace", "path": "/fabrics/nvl72/claims/0/roles", "value": ["batch", "inference"]}])
	mutation.intents == set() with input as served
	mutation.skips == skipped(container, "claim imex-channel is for batch and inference, and the role of the workload is training") with input as served
}

test_a_part_of_a_node_gets_no_claim if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_with_part_of_a_node
	mutation.skips == skipped(container, "its pods have a part of a node, and claim imex-channel is for a whole one") with input as examples.untouched_pytorchjob_with_part_of_a_node
}

test_a_pod_with_a_claim_of_its_own_gets_no_other if {
	mutation.intents == set() with input as examples.untouched_pytorchjob_with_its_own_claim
	mutation.skips == skipped(container, "its pods have claim channel already, which may be for the same devices") with input as examples.untouched_pytorchjob_with_its_own_claim
}

test_a_claim_for_accelerators_and_one_of_the_fabric_are_no_hindrance if {
	own := json.patch(examples.before_pytorchjob, [
		{"op": "add", "path": "/podSets/0/resourceClaims", "value": [
			{"name": "gpus", "resourceClaimTemplateName": "gpus"},
			{"name": "imex-channel", "resourceClaimTemplateName": "training-channel"},
		]},
		{"op": "add", "path": "/podSets/0/requests/-", "value": {
			"route": "device claim",
			"name": "gpu.nvidia.com",
			"path": $"{worker}/spec/resourceClaims/0",
			"minimum": {"value": 4},
		}},
	])
	mutation.intents == given with input as own
}
