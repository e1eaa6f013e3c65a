# METADATA
# title: Text
# description: Text from a manifest in messages.
# scope: package
package usher.lib.text

# METADATA
# title: A value in a message
# description: Quoted, so that it stays on one line, and cut after 37 characters if it is longer than 40.
excerpt(value) := json.marshal(value) if count(value) <= 40

excerpt(value) := json.marshal($"{substring(value, 0, 37)}...") if count(value) > 40

# METADATA
# title: Names in a message
# description: |
#   Sorted. Of more than 20 names it shows the first one and the number of the others, because the time to sort them
#   grows with the square of their number.
names(list, _) := $"{min(list)} and {count(list) - 1} others" if count(list) > 20

names(list, between) := concat(between, sort(list)) if count(list) <= 20
