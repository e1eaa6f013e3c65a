package main

import "math/rand/v2"

// object is JSON as it travels, so that a case can hold null where Go's own types cannot.
type object = map[string]any

func pick[T any](random *rand.Rand, choices ...T) T {
	return choices[random.IntN(len(choices))]
}

// chance is true once in so many times.
func chance(random *rand.Rand, times int) bool {
	return random.IntN(times) == 0
}

func digits(random *rand.Rand, most int) string {
	text := make([]byte, 1+random.IntN(most))
	for i := range text {
		text[i] = byte('0' + random.IntN(10))
	}
	return string(text)
}
