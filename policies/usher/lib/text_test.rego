package usher.lib.text_test

import data.usher.lib.text

test_a_value_is_quoted_and_stays_on_one_line if {
	text.excerpt("all") == `"all"`
	text.excerpt("0\n1") == `"0\n1"`
}

test_a_long_value_is_cut_to_forty_characters if {
	text.excerpt("GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f") == `"GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f"`
	text.excerpt("GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4e5f,") == `"GPU-0a1b2c3d-0a1b-0a1b-0a1b-0a1b2c3d4..."`
}

test_very_many_names_are_counted if {
	text.names(["b", "a"], " and ") == "a and b"
	text.names([$"name-{number}" | some number in numbers.range(10, 31)], ", ") == "name-10 and 21 others"
}
