# Five rules for conftest, of the kind that platform teams write first.
package main

import rego.v1

containers contains container if some container in input.spec.containers

containers contains container if some container in input.spec.initContainers

deny contains message if {
	some container in containers
	some name, amount in container.resources.requests
	contains(name, "/")
	container.resources.limits[name] != amount
	message := sprintf("%s: requests and limits of %s differ", [container.name, name])
}

deny contains message if {
	some container in containers
	container.resources.limits["nvidia.com/gpu"]
	not tolerated
	message := "no toleration for nvidia.com/gpu"
}

tolerated if {
	some toleration in input.spec.tolerations
	toleration.key == "nvidia.com/gpu"
}

deny contains message if {
	some container in containers
	container.securityContext.privileged
	message := sprintf("%s: privileged", [container.name])
}

deny contains message if {
	some volume in input.spec.volumes
	startswith(volume.hostPath.path, "/dev")
	message := sprintf("%s: a device of the node", [volume.name])
}

warn contains message if {
	some container in containers
	not container.resources.limits.memory
	message := sprintf("%s: no memory limit", [container.name])
}
