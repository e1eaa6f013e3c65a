package usher.lib.nodes_test

import data.usher.lib.nodes

worker := {"path": "/spec/template"}

knowing(pods) := {"cluster": {"nodes": {"pods": pods}}}

test_only_what_is_known_to_fit_nowhere_never_fits if {
	nodes.never_fits(worker) with input as knowing({"/spec/template": {"verdict": "never"}})
	not nodes.never_fits(worker) with input as knowing({"/spec/template": {"verdict": "unknown"}})
	not nodes.never_fits(worker) with input as knowing({"/spec/other": {"verdict": "never"}})
	not nodes.never_fits(worker) with input as {}
}
