# METADATA
# title: Text
# description: How messages show text that a manifest holds.
# scope: package
package usher.lib.text

# METADATA
# title: A value in a message
# description: Quoted, so that it stays on one line, and cut where it is long.
excerpt(value) := json.marshal(value) if count(value) <= 40

excerpt(value) := json.marshal($"{substring(value, 0, 37)}...") if count(value) > 40
