# METADATA
# title: Variables have the values of the fabric profile
# description: |
#   If a container sets a variable of its pool's fabric profile, usher keeps the value of the container, because the
#   user may have a reason. Often, however, the value was copied from another cluster: it names a network card or an
#   interface that does not exist here. The check ignores NCCL's logging variables. It looks at training containers that
#   would get the profile.
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
#   why: A value from another cluster can make training slow, or make it fail when it starts.
#   closes: [S29]
#   remediation: Remove the variable. The profile of the pool then sets it.
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

	# The webhook withholds this value itself.
	not fabric.names_interface_of_pods(entry.podSet, value)

	finding := {
		"path": variable.path,
		"message": $"{workload.container_name(entry.podSet, entry.container)}: {name} is {text.excerpt(variable.value)}, but the fabric {entry.fabric} of its nodes has {text.excerpt(value)}",
		"remedy": $"remove {name}",
	}
}
