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

test_a_shortage_names_what_daemon_sets_take if {
	found := {"resource": "cpu", "asked": "8", "most": "7", "daemons": "1 (kube-system/agent)"}
	nodes.shortage_text(found) == "one pod asks for 8 of cpu, and one node has at most 7 beside its DaemonSets, which take 1 (kube-system/agent)"
	nodes.shortage_text(object.union(found, {"most": ""})) == "one pod asks for 8 of cpu, and one node has no more of it beside its DaemonSets, which take 1 (kube-system/agent)"
	nodes.shortage_text(object.remove(found, ["daemons"])) == "one pod asks for 8 of cpu, and one node has at most 7"
}
