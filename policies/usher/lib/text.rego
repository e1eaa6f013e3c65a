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
