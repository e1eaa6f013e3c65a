package main

import (
	"math/big"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/api/resource"
)

type comparisonCase struct {
	Left  string `json:"left"`
	Right string `json:"right"`
	Order int    `json:"order"` // -1, 0 or 1
}

func comparisonCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for range 900 {
		left := legalText(random)
		right := pick(random, legalText(random), respelt(random, left))
		quantities, err := parseAll([]string{left, right})
		if err != nil {
			return nil, err
		}
		cases = append(cases, comparisonCase{left, right, quantities[0].Cmp(quantities[1])})
	}
	return cases, nil
}

// respelt is the same quantity, or almost, in other words.
func respelt(random *rand.Rand, text string) string {
	parsed := resource.MustParse(text)
	if chance(random, 3) {
		parsed.Add(resource.MustParse(pick(random, "1n", "-1n", "1", "-1")))
	}
	parsed.Format = pick(random, resource.DecimalSI, resource.BinarySI, resource.DecimalExponent)
	return canonical(parsed)
}

type sumCase struct {
	Addends   []string `json:"addends"`
	Nanos     *big.Int `json:"nanos"`
	Canonical string   `json:"canonical"`
}

func sumCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for range 700 {
		texts := make([]string, 1+random.IntN(5))
		for i := range texts {
			texts[i] = pick(random, legalText(random), legalText(random), "0", "0Gi")
		}
		if chance(random, 8) {
			texts = append([]string{texts[0], respelt(random, "-"+digits(random, 3)+"Gi")}, texts...)
		}
		addends, err := parseAll(texts)
		if err != nil {
			return nil, err
		}
		sum := addends[0].DeepCopy()
		for _, addend := range addends[1:] {
			sum.Add(addend)
		}
		cases = append(cases, sumCase{texts, nanos(sum), canonical(sum)})
	}
	return cases, nil
}

func parseAll(texts []string) ([]resource.Quantity, error) {
	var quantities []resource.Quantity
	for _, text := range texts {
		parsed, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, err
		}
		quantities = append(quantities, parsed)
	}
	return quantities, nil
}
