package usher.checks.objects.webhook_of_all_pods_fails_closed_test

import data.examples.checks.objects.webhook_of_all_pods_fails_closed as examples
import data.usher.checks.objects.webhook_of_all_pods_fails_closed as check

found(what) := {{
	"path": "/webhooks/0",
	"message": $`webhook "admission.example.com" fails closed on {what} there`,
	"remedy": "set failurePolicy: Ignore, or limit it by a label that namespaces or pods opt in with",
}}

test_a_webhook_of_pods_everywhere_is_found if {
	check.deny == found("pods of every namespace: while its server is away, no pod is made") with input as examples.bad_webhook
	check.deny == found("pods/binding of every namespace: while its server is away, no pod gets a node") with input as examples.bad_webhook_of_bindings
	check.deny == found("jobs of every namespace: while its server is away, no Job is made") with input as examples.bad_webhook_of_jobs
	check.deny == found("pods of every namespace but infrastructure: while its server is away, no pod is made") with input as examples.bad_webhook_that_leaves_a_namespace_out
	check.deny == found("pods of every namespace: while its server is away, no pod is made") with input as examples.bad_webhook_that_leaves_pods_out
}

test_one_that_fails_open_or_is_limited_is_good if {
	check.deny == set() with input as examples.good_webhook_that_fails_open
	check.deny == set() with input as examples.good_webhook_of_chosen_namespaces
	check.deny == set() with input as examples.good_webhook_of_chosen_pods
	check.deny == set() with input as examples.good_webhook_of_pods_that_say_so
	check.deny == set() with input as examples.good_webhook_of_labelled_namespaces
	check.deny == set() with input as examples.good_webhook_with_conditions
	check.deny == set() with input as examples.good_webhook_of_deployments
}
