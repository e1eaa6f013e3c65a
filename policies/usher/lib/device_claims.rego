# METADATA
# title: Device claims
# description: The devices that a ResourceClaim or a ResourceClaimTemplate asks for, in all versions of the API.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.device_claims

# METADATA
# title: Requests
# description: Every request of the claim with its path and its name. A list, to keep their order.
requests := [entry |
	some index, request in _devices.spec.devices.requests
	entry := {
		"path": $"{_devices.path}/devices/requests/{index}",
		"name": object.get(request, "name", ""),
		"request": request,
	}
]

# METADATA
# title: Devices that the requests ask for
# description: |
#   One entry for each request, with its path. The fields come from the request itself (v1beta1), from `exactly`, or
#   from each alternative of `firstAvailable`.
asked := array.concat(array.concat(_inline, _exact), _alternatives)

_inline := [entry |
	some request in requests
	request.request.deviceClassName
	entry := {"path": request.path, "name": request.name, "asked": request.request}
]

_exact := [entry |
	some request in requests
	exactly := request.request.exactly
	entry := {"path": $"{request.path}/exactly", "name": request.name, "asked": exactly}
]

_alternatives := [entry |
	some request in requests
	some index, alternative in request.request.firstAvailable
	entry := {"path": $"{request.path}/firstAvailable/{index}", "name": request.name, "asked": alternative}
]

# METADATA
# title: How a claim asks NVIDIA's driver to share its GPUs
# description: One entry for each configuration that shares, with its path.
sharing := [entry |
	some sharing in _devices.spec.devices.config
	path := $"{_devices.path}/devices/config/{sharing.index}/opaque/parameters/sharing"
	entry := {"path": path, "sharing": sharing}
]

_devices := {"path": "/spec", "spec": input.object.resourceClaim.spec}

_devices := {"path": "/spec/spec", "spec": input.object.resourceClaimTemplate.spec.spec}

# METADATA
# title: API version of the claim
version := trim_prefix(api_version, "resource.k8s.io/") if {
	api_version := input.object.resourceClaim.apiVersion
} else := trim_prefix(api_version, "resource.k8s.io/") if {
	api_version := input.object.resourceClaimTemplate.apiVersion
}
