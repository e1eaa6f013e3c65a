package usher.lib.operators_test

import data.usher.lib.operators

test_every_way_of_every_configuration_is_found if {
	mps := {"resources": []}
	slices := {"renameByDefault": true}
	both := {"sharing": {"mps": mps, "timeSlicing": slices}}
	one := {"sharing": {"mps": mps}}
	config_map := {"data": {"a~b/c": one, "any": both}}
	{entry | some entry in operators.shares} == {
		{"key": "a~b/c", "path": "/data/a~0b~1c", "configuration": one, "way": "mps", "said": mps},
		{"key": "any", "path": "/data/any", "configuration": both, "way": "mps", "said": mps},
		{"key": "any", "path": "/data/any", "configuration": both, "way": "timeSlicing", "said": slices},
	} with input as {"object": {"configMap": config_map}}
}

test_slices_are_known_with_and_without_the_prefix if {
	operators.is_mig({"name": "nvidia.com/mig-1g.10gb"})
	operators.is_mig({"name": "mig-1g.10gb"})
	not operators.is_mig({"name": "nvidia.com/gpu"})
	not operators.is_mig({"replicas": 2})
}
