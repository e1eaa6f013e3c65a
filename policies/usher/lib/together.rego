# METADATA
# title: Totals of a workload
# description: Amounts that the pods of a workload take together, in messages.
# scope: package
# schemas:
#   - input: schema.input
package usher.lib.together

import data.usher.lib.amounts

# METADATA
# title: An amount of a resource
# description: Memory and storage in units of bytes.
shown(resource, amount) := amounts.bytes(amount.value) if _in_bytes(resource)

shown(resource, amount) := amount.text if not _in_bytes(resource)

_in_bytes(resource) if regex.match(`(^|\.)(memory|ephemeral-storage|storage|hugepages-.*)$`, resource)

# METADATA
# title: Parts of an amount
# description: For example ` (8 Worker x 8)`. Empty if the parts add nothing to the amount.
made_of(shortage) := $" ({concat(" + ", _products(shortage))})" if _products(shortage) != []

made_of(shortage) := "" if _products(shortage) == []

# METADATA
# title: The assumption of a shortage
# description: Joined to a finding.
assumption(shortage) := {"assumption": shortage.assumption}

assumption(shortage) := {} if not shortage.assumption

_products(shortage) := [$"{_pods(part)} x {shown(shortage.resource, part.each)}" |
	some part in object.get(shortage, "parts", [])
	not _single(shortage)
]

_single(shortage) if {
	count(shortage.parts) == 1
	shortage.parts[0].pods == 1
}

_pods(part) := $"{part.pods} {part.podSet}" if part.podSet != ""

_pods(part) := amounts.number_of(part.pods, "pod", "pods") if part.podSet == ""
