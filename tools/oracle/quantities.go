package main

import (
	"encoding/json"
	"math/big"
	"math/rand/v2"

	inf "gopkg.in/inf.v0"
	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"
)

// quantity is what Kubernetes makes of a value.
type quantity struct {
	Canonical string `json:"canonical"`
	// Nanos is the exact number; null where it would have a million digits.
	Nanos *big.Int `json:"nanos"`
	Value int64    `json:"value"`
	Milli int64    `json:"milli"`
}

type quantityCase struct {
	JSON     string    `json:"json"`
	Quantity *quantity `json:"quantity"` // null where the value is refused
}

func quantityCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for _, value := range quantityValues(random) {
		found := quantityCase{JSON: value}
		if parsed, err := embedded(value); err == nil {
			found.Quantity = &quantity{
				Canonical: canonical(parsed), Value: parsed.Value(), Milli: parsed.MilliValue(), Nanos: nanos(parsed),
			}
		}
		cases = append(cases, found)
	}
	return cases, nil
}

// embedded reads a quantity that stands in a custom resource: the API server decodes and stores it without knowing what
// it is, and whoever makes the pod decodes what the API server wrote. kubectl sends every manifest likewise.
func embedded(value string) (resource.Quantity, error) {
	var unknown any
	if err := kjson.UnmarshalCaseSensitivePreserveInts([]byte(value), &unknown); err != nil {
		return resource.Quantity{}, err
	}
	written, err := json.Marshal(unknown)
	if err != nil {
		return resource.Quantity{}, err
	}
	var parsed resource.Quantity
	err = kjson.UnmarshalCaseSensitivePreserveInts(written, &parsed)
	return parsed, err
}

// canonical is the canonical form even of a quantity that has kept the text which it was parsed from.
func canonical(parsed resource.Quantity) string {
	number, suffix := parsed.CanonicalizeBytes(nil)
	return string(number) + string(suffix)
}

func nanos(parsed resource.Quantity) *big.Int {
	decimal := parsed.AsDec()
	if decimal.Scale() < -1000 {
		return nil
	}
	return new(inf.Dec).Round(decimal, 9, inf.RoundUp).UnscaledBig()
}
