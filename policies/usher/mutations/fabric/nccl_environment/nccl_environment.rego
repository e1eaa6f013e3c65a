# METADATA
# title: Give training pods the variables of their fabric
# description: |
#   NCCL falls back to slow sockets, quietly, when it is not told about the interconnect. Training containers of a
#   workload of several pods get the variables of the fabric profile that usher.yaml names for their node pool, if all
#   pools on which the pods could run have the same one. Containers without an accelerator, init containers and
#   sidecars are left alone, and so are ranks that would never see the variables: mpirun starts those of an MPIJob's
#   workers through sshd. A variable that the container sets in `env` stays as it is; one that it takes from elsewhere
#   by `envFrom` cannot be seen, and gives way to the profile.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the environment variables of NCCL
# schemas:
#   - input: schema.input
# custom:
#   code: USM701
package usher.mutations.fabric.nccl_environment

import data.usher.lib.workload

intents contains intent if {
	input.workload.role == "training"
	workload.makes_several_pods
	some pod_set in workload.accelerator_pod_sets
	pod_set.ranksInheritEnvironment
	some profile in _profiles(pod_set)
	some container in pod_set.containers
	container.type == "container"
	container.asksAccelerators
	some name, value in profile.variables

	intent := {
		"at": container.path,
		"field": "environment",
		"value": {"name": name, "value": value},
		"reason": $"fabric {profile.fabric} of the nodes on which the pod can run needs it",
	}
}

# The one profile that all pools share, as a set of one; empty where they differ or one has none.
_profiles(pod_set) := profiles if {
	profiles := {{"fabric": fit.fabric, "variables": fit.variables} | some fit in pod_set.fits}
	count(profiles) == 1
	every fit in pod_set.fits { fit.fabric }
}
