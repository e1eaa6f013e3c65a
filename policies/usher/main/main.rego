# METADATA
# title: Entry points
# description: |
#   The two rules that usher evaluates. Both yield an object with a version for whatever is an input document, so that
#   an undefined result is an error of ours and never an answer. Every check and every mutation in the bundle takes
#   part, by the rules in dispatch.rego.
# scope: package
# schemas:
#   - input: schema.input
package usher.main

# METADATA
# title: Findings
# description: What every check says about the input, and what could not be evaluated.
# scope: document
# entrypoint: true
findings := {"version": 1, "findings": _findings, "unknown": _unknown} if is_array(input.podSets)

# METADATA
# title: Intents
# description: What every mutation wants of the input.
# scope: document
# entrypoint: true
intents := {"version": 1, "intents": _intents} if is_array(input.podSets)
