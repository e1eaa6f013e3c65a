package usher.checks.objects.probe_without_an_answer_test

import data.examples.checks.objects.probe_without_an_answer as examples
import data.usher.checks.objects.probe_without_an_answer as check

found(path, message, remedy) := {"path": path, "message": message, "remedy": remedy}

test_a_probe_of_another_port_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/readinessProbe/httpGet/port",
		"Deployment asks port 8000 in a probe, but the server listens on 8080",
		"ask port 8080",
	)} with input as examples.bad_deployment
	check.deny == {found(
		"/spec/template/spec/containers/0/readinessProbe/httpGet/port",
		"Deployment asks port 8000 in a probe, but the server listens on 11434",
		"ask port 11434",
	)} with input as examples.bad_deployment_of_ollama
}

test_a_probe_of_another_path_is_found if {
	check.deny == {found(
		"/spec/template/spec/containers/0/readinessProbe/httpGet/path",
		"Deployment asks /healthz in a probe, which the server does not answer with a success",
		"ask /health",
	)} with input as examples.bad_deployment_by_path
}

test_other_probes_pass if {
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment)
	check.deny == set() with input as object.union({"unreadKeys": []}, examples.good_deployment_of_another_program)
}
