package usher.lib.together_test

import data.usher.lib.together

eight := {"text": "8", "value": 8, "milli": 8000, "whole": true}

half := {"text": "536870912", "value": 536870912, "milli": 536870912000, "whole": true}

test_memory_is_told_in_bytes if {
	together.shown("requests.memory", half) == "512Mi"
	together.shown("hugepages-2Mi", half) == "512Mi"
	together.shown("requests.nvidia.com/gpu", eight) == "8"
}

test_a_sum_tells_its_parts if {
	workers := {"podSet": "Worker", "pods": 8, "each": eight}
	anybody := {"podSet": "", "pods": 1, "each": eight}
	together.made_of({"resource": "cpu", "parts": [workers]}) == " (8 Worker x 8)"
	together.made_of({"resource": "cpu", "parts": [workers, anybody]}) == " (8 Worker x 8 + 1 pod x 8)"
	together.made_of({"resource": "cpu", "parts": [anybody, workers]}) == " (1 pod x 8 + 8 Worker x 8)"
}

test_one_pod_is_no_sum if {
	together.made_of({"resource": "cpu", "parts": [{"podSet": "", "pods": 1, "each": eight}]}) == ""
	together.made_of({"resource": "cpu"}) == ""
}

test_an_assumption_is_handed_on if {
	together.assumption({"assumption": "so"}) == {"assumption": "so"}
	together.assumption({}) == {}
}
