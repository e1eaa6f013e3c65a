# METADATA
# title: Slurm knows the GPUs of its nodes
# description: |
#   A NodeSet of Slinky makes Slurm nodes from pods. Slurm gives jobs only the GPUs that Gres in extraConf names. Without
#   it a node has Gres=(null), and no job gets a GPU of pods that hold them. With more GPUs in Gres than the pods have,
#   Slurm drains the node, because slurmd reports fewer. With fewer, the others idle.
#
#   The check compares Gres with the GPUs of slurmd. A file gres.conf names devices, but declares no Gres of a node. It
#   skips privileged pods that ask for no GPU, because they see those of their node.
# scope: package
# related_resources:
#   - ref: https://slurm.schedmd.com/gres.html
#     description: Slurm on generic resources
#   - ref: https://slinky.schedmd.com/projects/slurm-operator/en/latest/
#     description: Slinky on NodeSets
# schemas:
#   - input: schema.input
# custom:
#   code: USH1491
#   about: objects
#   kinds: [nodeSet]
#   severity: medium
#   why: Jobs that ask for GPUs wait for ever, while pods of Slurm hold GPUs.
#   remediation: |
#     Set extraConf to "Gres=gpu:8", with the number of GPUs that slurmd asks for in its limits. GresTypes=gpu is in the
#     configuration of the Controller.
package usher.checks.objects.slurm_gpus_other_than_pods

import data.usher.lib.amounts
import data.usher.lib.gpus

deny contains finding if {
	some pod_set in input.podSets
	some container in pod_set.containers
	number := gpus.of_container(pod_set, container)
	number > 0
	not _gpus

	finding := {
		"path": "/spec",
		"message": $"slurmd asks for {amounts.number_of(number, "GPU", "GPUs")}, but extraConf names no Gres, so Slurm gives no job a GPU of these nodes",
		"remedy": $"set extraConf to Gres=gpu:{number}",
	}
}

deny contains finding if {
	some pod_set in input.podSets
	some container in pod_set.containers
	number := gpus.of_container(pod_set, container)
	effect := _effect(_gpus, number)

	finding := {
		"path": "/spec/extraConf",
		"message": $"Gres has {amounts.number_of(_gpus, "GPU", "GPUs")}, but slurmd asks for {number}: {effect}",
		"remedy": $"set Gres to gpu:{number}, or ask for {amounts.number_of(_gpus, "GPU", "GPUs")}",
	}
}

deny contains finding if {
	_gpus > 0
	every pod_set in input.podSets {
		every container in pod_set.containers {
			not container.securityContext.privileged
		}
		count(pod_set.requests) == 0
	}

	finding := {
		"path": "/spec/extraConf",
		"message": $"Gres has {amounts.number_of(_gpus, "GPU", "GPUs")}, but the pods ask for none: slurmd finds no GPU, and Slurm drains the nodes",
		"remedy": $"ask for {amounts.number_of(_gpus, "GPU", "GPUs")} in the limits of slurmd, or remove Gres",
	}
}

_gpus := input.object.nodeSet.spec.extraConf.gpus

# Undefined where they match.
_effect(said, asked) := "slurmd reports fewer, and Slurm drains the nodes" if said > asked

_effect(said, asked) := "no job gets the others" if said < asked
