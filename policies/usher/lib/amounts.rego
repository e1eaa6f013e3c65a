# METADATA
# title: Amounts
# description: What containers and pods ask for, in numbers for checks and in words for messages.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.amounts

# METADATA
# title: An amount of bytes in a message
# description: In Gi or Mi with at most one decimal, or as a plain number below 1 Mi.
bytes(number) := $"{round((number * 10) / _gi) / 10}Gi" if number >= _gi

bytes(number) := $"{round((number * 10) / _mi) / 10}Mi" if {
	number >= _mi
	number < _gi
}

bytes(number) := $"{number}" if number < _mi

_gi := 1073741824

_mi := 1048576

# METADATA
# title: An amount of cpu or memory in a message
shown("memory", amount) := bytes(amount.value)

shown("cpu", amount) := amount.text

# METADATA
# title: Whole devices of one pod
# description: |
#   The maximum that one pod of a set takes, by resources and device claims together. The minimum, if the maximum has no
#   bound. Slices and shares do not count.
whole_devices(pod_set) := sum([object.get(request, "maximum", request.minimum).value |
	some request in pod_set.requests
	request.route in ["extended resource", "device claim"]
])

# METADATA
# title: Amount that a container asks for
# description: The request, or the limit if there is no request; `resource` is an entry of the container's resources.
effective(resource) := resource.requests if resource.requests

effective(resource) := resource.limits if not resource.requests

# METADATA
# title: A number with its noun, in the singular or the plural
number_of(number, one, _) := $"1 {one}" if number == 1

number_of(number, _, many) := $"{number} {many}" if number != 1
