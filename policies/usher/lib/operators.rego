# METADATA
# title: NVIDIA's operator and device plugin
# description: The configuration of NVIDIA's operator and device plugin, for checks of objects.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.operators

# METADATA
# title: Ways of sharing
# description: |
#   Every way of sharing GPUs that a configuration of the device plugin describes, with the configuration, its key in
#   the ConfigMap and the path of this key. Paths end at the key, because the configuration is a text.
shares := [entry |
	some key, configuration in input.object.configMap.data
	some way, said in configuration.sharing
	escaped := replace(replace(key, "~", "~0"), "/", "~1")

	entry := {"key": key, "path": $"/data/{escaped}", "configuration": configuration, "way": way, "said": said}
]

# METADATA
# title: Whether a shared resource is a MIG profile
# description: The name may lack the prefix nvidia.com/, because the device plugin adds it.
is_mig(resource) if startswith(trim_prefix(resource.name, "nvidia.com/"), "mig-")
