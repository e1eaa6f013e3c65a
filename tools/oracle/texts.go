package main

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// What quantities are made of, legal and not, and the borders of Go's own arithmetic.
var (
	numerals = []string{
		"0", "1", "+1", "-1", "-0", "00", "007", "1.", ".5", "-.5", "+.5", "1.5", "-1.5", "1.50", "1.500", "0.1", "0.001",
		"0.0000000001", "0.9999999999", "1.0000000001", "-1.0000000001", "123456789.123456789", "999", "1000", "1023",
		"1024", "1025", "1536", "-2048", "2147483648", "9007199254740993", "999999999999999999", "9223372036854775807",
		"-9223372036854775808", "9223372036854775808", "18446744073709551616", "1000000000000000000000",
		"12345678901234567890.", "0.00000000000000000000000000000000000000000001",
		"", ".", "+", "-", "-.", "--1", "+-1", "1..5", "1.2.3", "1,5", "1 000", "1_000", "0x10", "NaN", "Inf",
	}
	suffixes = []string{
		"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
		"e0", "e3", "E3", "e+05", "e-3", "e-9", "e-10", "e1", "e17", "e18", "e19", "e21", "E-30", "e30", "e-31", "e31",
		"e300", "e-300", "e4294967296", "e9223372036854775807", "e9223372036854775808",
		"K", "ki", "mi", "i", "ni", "g", "e", "e+", "E-", "ee3", "e3k", "Gi5", "e1.5", "EE", "Gi ", "\u00b5", "m\x00",
	}
	legalSuffixes = suffixes[:16]
)

// Values that are no plain text: numbers, escapes, spaces, and what is no quantity at all.
var oddValues = []string{
	`null`, `true`, `false`, `[]`, `["1"]`, `{}`, `{"value":"1"}`, `""`, `" "`, `" 1"`, `"1 "`, `"  16Gi  "`, `"1 Gi"`,
	`"\t1"`, `"1\n"`, `"1\u2028"`, "\"1\u2028\"", "\"\u00a01\"", "\"1\u3000\"", `"\u0031"`, `"1\u0047i"`, `"1\u0000"`,
	"\"\ufeff1\"", "\"1\u200b\"", "\"\u0661\"", "\"\uff11\"", "\"\u0967Gi\"", `"\"1\""`, `"'1'"`, `"1\\n"`, `"<1>"`, `"1&"`,
	`"{{ gpus }}"`, `"$(GPUS)"`, `"\ud800"`, `"1\ud83d\ude00"`,
	`0`, `-0`, `1`, `-1`, `1.0`, `-0.0`, `1e0`, `1E3`, `1e+3`, `1e-3`, `0.5`, `0.1`, `1.5`, `-2.5`, `0.000001`, `0.0000001`,
	`0.00001`, `1e-5`, `1e-6`, `1e-7`, `1.5e-7`, `1e-9`, `1e-10`, `1e-30`, `1e-31`, `1e15`, `1e16`, `1e20`, `1e21`, `1.5e21`,
	`1e22`, `1e30`, `1e31`, `1e300`, `1e400`, `-1e400`, `9007199254740993`, `9223372036854775807`, `-9223372036854775808`,
	`9223372036854775808`, `18446744073709551616`, `100000000000000000000`, `1000000000000000000000`,
	`1000000000000000000000000000000`, `123456789.123456789`, `0.1234567890123456789`, `1024`, `1000`,
}

// quantityValues gives JSON values in the place of a quantity.
func quantityValues(random *rand.Rand) []string {
	values := append([]string{}, oddValues...)
	for _, numeral := range numerals {
		for _, suffix := range suffixes {
			values = append(values, quoted(numeral+suffix))
		}
	}
	for range 900 {
		values = append(values, quoted(legalText(random)))
	}
	for range 500 {
		values = append(values, quoted(damaged(random, legalText(random))))
	}
	for _, text := range []string{"9", "0", "0.0", ".0", "e", "1e", "Ki"} {
		values = append(values, quoted(strings.Repeat(text, 70)), quoted("1"+strings.Repeat(text, 25)))
	}
	return values
}

// legalText is a quantity that usher takes too: no more digits and no larger exponent than it allows.
func legalText(random *rand.Rand) string {
	text := pick(random, "", "", "", "", "-", "+")
	switch random.IntN(4) {
	case 0:
		text += digits(random, 4)
	case 1:
		text += digits(random, 4) + "." + digits(random, 4)
	case 2:
		text += pick(random, digits(random, 18)+pick(random, "", "."), "."+digits(random, 14))
	default:
		text += digits(random, 8) + strings.Repeat("0", random.IntN(8)) + pick(random, "", "."+digits(random, 10))
	}
	switch random.IntN(8) {
	case 0:
		return text + pick(random, "e", "E") + pick(random, "", "+", "-") + digits(random, 1)
	case 1:
		return text
	}
	if len(text) > 12 {
		return text + pick(random, legalSuffixes[:8]...)
	}
	return text + pick(random, legalSuffixes...)
}

// damaged changes one character of a text, which may leave it legal.
func damaged(random *rand.Rand, text string) string {
	characters := []rune(text)
	place := random.IntN(len(characters))
	other := pick(random, []rune("0123456789.+-_ ,eEinumkKMGTPxµ١\u00a0\u2028\t")...)
	switch random.IntN(3) {
	case 0:
		characters[place] = other
	case 1:
		characters = append(characters[:place], characters[place+1:]...)
	default:
		characters = append(characters[:place], append([]rune{other}, characters[place:]...)...)
	}
	return string(characters)
}

func quoted(text string) string {
	value, err := json.Marshal(text)
	if err != nil {
		panic(err) // No string fails to be one in JSON.
	}
	return string(value)
}
