package usher.checks.objects.webhook_with_one_server_test

import data.examples.checks.objects.webhook_with_one_server as examples
import data.usher.checks.objects.webhook_with_one_server as check

found(resources) := {{
	"path": "/webhooks/0",
	"message": $`webhook "pods.claims.example.com" fails closed on {resources}, and Deployment claims runs its only server: while that pod moves, nothing that it selects is made`,
	"remedy": "run at least 2 replicas of Deployment claims with a disruption budget, or set failurePolicy: Ignore",
}}

test_a_webhook_with_one_server_is_found if {
	check.deny == found("pods") with input as examples.bad_pods
	check.deny == found("deployments and jobs") with input as examples.bad_jobs_and_deployments
	check.deny == found("daemonsets and deployments and jobs and pods and replicasets and statefulsets") with input as examples.bad_everything
}

test_several_servers_are_good if {
	check.deny == set() with input as examples.good_two_servers
	check.deny == set() with input as examples.good_scaled
}

test_a_webhook_that_fails_open_is_good if {
	check.deny == set() with input as examples.good_open
}

test_other_kinds_and_operations_are_good if {
	check.deny == set() with input as examples.good_own_kind
	check.deny == set() with input as examples.good_deletions
}
