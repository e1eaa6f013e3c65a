# METADATA
# title: Variables are those of the fabric
# description: |
#   A container that sets a variable of its pool's fabric profile keeps its own value, because nobody knows better what a
#   user means. Mostly it is a value that was copied from another cluster: a card that is not there, an interface of
#   another name. What NCCL logs is everybody's own matter. Held to it are the training containers that would be given
#   the profile.
# scope: package
# related_resources:
#   - ref: https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html
#     description: NVIDIA on the environment variables of NCCL
# schemas:
#   - input: schema.input
# custom:
#   code: USH917
#   about: accelerator pods
#   severity: low
#   why: A value that was copied from another cluster makes training slow, or fail at its start.
#   closes: [S29]
#   remediation: Leave the variable out, and the profile of the pool sets it.
package usher.checks.fabric.variable_other_than_profile

import data.usher.lib.fabric
import data.usher.lib.text
import data.usher.lib.workload

deny contains finding if {
	some entry in fabric.training_containers
	some name, value in entry.profile.env
	variable := entry.container.environment[name]
	variable.value != value
	not startswith(name, "NCCL_DEBUG")

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} is {text.excerpt(variable.value)}, and fabric {entry.fabric} of its nodes has {text.excerpt(value)}",
		"remedy": $"leave {name} out",
	}
}
