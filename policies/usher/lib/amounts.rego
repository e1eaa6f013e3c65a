# METADATA
# title: Amounts
# description: What containers and pods ask for, as checks compare it and as people say it.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.amounts

# METADATA
# title: Bytes, as people say them
# description: In Gi or Mi, with at most one decimal; the number itself where it is smaller than both.
bytes(number) := $"{round((number * 10) / _gi) / 10}Gi" if number >= _gi

bytes(number) := $"{round((number * 10) / _mi) / 10}Mi" if {
	number >= _mi
	number < _gi
}

bytes(number) := $"{number}" if number < _mi

_gi := 1073741824

_mi := 1048576

# METADATA
# title: An amount of cpu or memory, as people say it
shown("memory", amount) := bytes(amount.value)

shown("cpu", amount) := amount.text

# METADATA
# title: Whole devices of one pod
# description: |
#   The most that one pod of a set takes, by resources and device claims together; where nothing bounds it, the least.
#   Slices and shares are no whole devices.
whole_devices(pod_set) := sum([object.get(request, "maximum", request.minimum).value |
	some request in pod_set.requests
	request.route in {"extended resource", "device claim"}
])

# METADATA
# title: What a container asks of a resource
# description: Its request, or its limit where it has no request; `resource` is an entry of its resources.
effective(resource) := resource.requests if resource.requests

effective(resource) := resource.limits if not resource.requests

# METADATA
# title: A number of things, as people say it
number_of(number, one, _) := $"1 {one}" if number == 1

number_of(number, _, many) := $"{number} {many}" if number != 1
