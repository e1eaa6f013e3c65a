# METADATA
# title: Give training pods the device claims of their fabric
# description: |
#   Some networks are devices of DRA. NVLink between nodes needs a channel of a ComputeDomain, and some clouds offer
#   network cards as claims. Where the fabric profile lists `claims`, the webhook adds a claim of the site's
#   ResourceClaimTemplate to training pods of a workload with several pods, and its use to their containers that train.
#   usher has no claims of its own, so nothing changes until usher.yaml lists one. The webhook skips pods that take a
#   part of a node, because a template claims the devices of a whole one. It skips pods with a claim for anything but
#   accelerators, which may be the same device. A pod whose template is missing never starts, so the webhook adds
#   nothing where it knows that the template is missing.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/datacenter/cloud-native/gpu-operator/latest/dra-cds.html
#     description: NVIDIA on ComputeDomains
#   - ref: https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
#     description: Kubernetes on device claims
# schemas:
#   - input: schema.input
# custom:
#   code: USM709
#   order: 78
#   about: accelerator pods
package usher.mutations.fabric.fabric_claims

import data.usher.lib.fabric
import data.usher.lib.shares_of_nodes as shares

intents contains intent if {
	some entry in fabric.training_containers
	some claim in entry.profile.claims
	not _why_not(entry, claim)

	intent := {
		"at": entry.container.path,
		"field": "claim",
		"value": {"name": claim.name, "template": claim.template},
		"reason": fabric.reason(entry),
		"needs": [{
			"group": "resource.k8s.io",
			"kind": "ResourceClaimTemplate",
			"name": claim.template,
			"namespace": input.workload.namespace,
		}],
	}
}

_why_not(entry, claim) := $"claim {claim.name} is for {concat(" and ", claim.roles)}, and the role of the workload is {input.workload.role}" if {
	not input.workload.role in claim.roles
}

else := $"its pods have a part of a node, and claim {claim.name} is for a whole one" if shares.leaves_gpus(entry)

else := $"its pods have claim {_other(entry)} already, which may be for the same devices" if _other(entry)

# The first claim of the pods that is neither for accelerators nor one of the fabric.
_other(entry) := [claim.name |
	some index, claim in entry.podSet.resourceClaims
	not _for_accelerators(entry.podSet, index)
	not object.get(claim, "resourceClaimTemplateName", "") in {own.template | some own in entry.profile.claims}
][0]

_for_accelerators(pod_set, index) if {
	some request in pod_set.requests
	request.route == "device claim"
	endswith(request.path, $"/resourceClaims/{index}")
}

skips contains skip if some skip in fabric.skips

skips contains {"at": entry.podSet.path, "reason": $"fabric {entry.fabric} lists no claims"} if {
	some entry in fabric.training_containers
	not entry.profile.claims
}

skips contains {"at": entry.container.path, "reason": _why_not(entry, claim)} if {
	some entry in fabric.training_containers
	some claim in entry.profile.claims
}
