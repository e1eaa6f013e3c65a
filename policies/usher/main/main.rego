# METADATA
# title: Entry points
# description: |
#   The rules that usher evaluates. All yield an object with a version for whatever is an input document, so that
#   an undefined result is an error of ours and never an answer. Every check and every mutation in the bundle takes
#   part, by the rules in dispatch.rego.
# scope: package
# schemas:
#   - input: schema.input
package usher.main

# METADATA
# title: Findings
# description: |
#   What every check says about the input, and what could not be evaluated. `unprotected` is true where a mutation that
#   protects others, and whose absence no check finds, has something to add.
# scope: document
# entrypoint: true
findings := {
	"version": 1,
	"findings": _findings,
	"unknown": _unknown,
	"unprotected": _unprotected,
} if is_array(input.podSets)

# METADATA
# title: Intents
# description: What every mutation wants of the input, and what it has to say to the user.
# scope: document
# entrypoint: true
intents := {"version": 1, "intents": _intents, "warnings": _warnings} if is_array(input.podSets)

# METADATA
# title: Skips
# description: Why mutations leave the input or a part of it alone; asked for people only, who want to understand.
# scope: document
# entrypoint: true
skips := {"version": 1, "skips": _skips} if is_array(input.podSets)
