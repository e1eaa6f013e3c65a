# METADATA
# title: Direct access to network cards
# description: Whether the author of a container switched the fast network off, and what then has no use.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.rdma

# METADATA
# title: Variable by which the author of a container switched InfiniBand or all fast networks off
# description: |
#   Undefined if the author did not, or if the fabric itself sets the value. NCCL_IB_DISABLE switches off the cards that
#   NCCL uses itself; NCCL_NET=Socket switches off plugins too. A value from elsewhere is unknown.
switched_off(entry) := switches[0] if {
	switches := [name |
		some name in ["NCCL_NET", "NCCL_IB_DISABLE"]
		variable := entry.container.environment[name]
		_switches_off(name, lower(variable.value))
		object.get(entry.profile.env, name, "") != variable.value
	]
	count(switches) > 0
}

_switches_off("NCCL_NET", "socket")

_switches_off("NCCL_IB_DISABLE", value) if not value in ["", "0"]

# METADATA
# title: Whether a container has no use for a device of the fabric
# description: EFA is a plugin of NCCL, so NCCL_IB_DISABLE does not switch it off.
has_no_use_for(entry, name) if {
	variable := switched_off(entry)
	not _is_plugin(variable, name)
}

_is_plugin("NCCL_IB_DISABLE", name) if endswith(name, "/efa")

# METADATA
# title: Whether a variable of the fabric is only for InfiniBand cards
is_for_infiniband(name) if startswith(name, "NCCL_IB_")

is_for_infiniband("UCX_NET_DEVICES")

is_for_infiniband("NCCL_COLLNET_ENABLE")
