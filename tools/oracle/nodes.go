package main

import (
	"math/rand/v2"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

type nodeCase struct {
	// Spec has the node selector and the affinity of a pod.
	Spec    object            `json:"spec"`
	Labels  map[string]string `json:"labels"`
	Name    string            `json:"name"`
	Matches bool              `json:"matches"`
	// Unparsable says that no term matches and one at least cannot be parsed.
	Unparsable bool `json:"unparsable"`
}

func nodeCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for range 1600 {
		one := nodeCase{Spec: placement(random), Labels: labels(random), Name: pick(random, nodeNames...)}
		var pod v1.Pod
		if err := decode(object{"spec": one.Spec}, &pod); err != nil {
			return nil, err
		}
		node := v1.Node{ObjectMeta: metav1.ObjectMeta{Name: one.Name, Labels: one.Labels}}
		matches, err := nodeaffinity.GetRequiredNodeAffinity(&pod).Match(&node)
		one.Matches, one.Unparsable = matches, err != nil
		cases = append(cases, one)
	}
	return cases, nil
}

var (
	nodeNames    = []string{"node-1", "node-1", "node-1", "node-2", ""}
	labelKeys    = []string{"zone", "zone", "count", "count", "count", "nvidia.com/gpu.product"}
	labelValues  = []string{"a", "b", "8", "16"}
	labelNumbers = []string{
		"-1", "+8", "08", "0", "9", "1_0", "1e1", "8.0", "9223372036854775807", "9223372036854775808",
		strings.Repeat("0", 40) + "8", strings.Repeat("9", 63),
	}
	badKeys = []string{
		"", "bad key", "UPPER/zone", "a/b/c", "/zone", "zone/", "-zone", "zone.", strings.Repeat("k", 64),
		strings.Repeat("p", 254) + "/zone", "x..y/zone", "z\u00f6ne", "zone\n",
	}
	// Legal, whatever they look like.
	rareKeys  = []string{"ZONE", "a.b-c.d/Zo_ne.1", strings.Repeat("k", 63), "9/9", "a--b/c__d"}
	badValues = []string{" a", "a ", "-a", "a-", "_", "\u00e4", "a/b", "a\n", strings.Repeat("v", 64), "{{ zone }}"}
	// Legal too.
	rareValues = []string{"", "", strings.Repeat("v", 63), "A_b.C-d", "8"}
)

func labels(random *rand.Rand) map[string]string {
	found := map[string]string{}
	for range random.IntN(5) {
		found[pick(random, labelKeys...)] = nodeValue(random)
	}
	if chance(random, 10) {
		found[pick(random, rareKeys...)] = nodeValue(random)
	}
	return found
}

// nodeValue may be one that the API server would not let a node have.
func nodeValue(random *rand.Rand) string {
	if chance(random, 8) {
		return pick(random, pick(random, labelNumbers...), pick(random, rareValues...))
	}
	return pick(random, labelValues...)
}

func placement(random *rand.Rand) object {
	spec := object{}
	if chance(random, 4) {
		spec["nodeSelector"] = nodeSelector(random)
	}
	if chance(random, 16) {
		spec["affinity"] = pick[any](random, nil, object{}, object{"nodeAffinity": nil}, object{"nodeAffinity": object{}},
			object{"nodeAffinity": object{required: nil}}, object{"nodeAffinity": object{required: object{}}},
			object{"nodeAffinity": object{required: object{"nodeSelectorTerms": nil}}},
			object{"nodeAffinity": object{required: object{"nodeSelectorTerms": []any{nil}}}},
			object{"podAffinity": object{}})
		return spec
	}
	terms := []any{}
	for range pick(random, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3) {
		terms = append(terms, term(random))
	}
	spec["affinity"] = object{"nodeAffinity": object{required: object{"nodeSelectorTerms": terms}}}
	return spec
}

const required = "requiredDuringSchedulingIgnoredDuringExecution"

func nodeSelector(random *rand.Rand) any {
	found := object{}
	for range random.IntN(3) {
		found[pick(random, labelKeys...)] = pick[any](random, "a", "b", "8", "", nil)
	}
	return pick[any](random, found, found, found, nil)
}

func term(random *rand.Rand) any {
	found := object{}
	if !chance(random, 5) {
		found["matchExpressions"] = requirements(random, 1+random.IntN(2), labelRequirement)
	}
	if chance(random, 5) {
		found["matchFields"] = requirements(random, 1, fieldRequirement)
	}
	if chance(random, 20) {
		found[pick(random, "matchExpressions", "matchFields")] = pick[any](random, nil, []any{}, []any{nil})
	}
	return found
}

func requirements(random *rand.Rand, number int, requirement func(*rand.Rand) object) []any {
	list := []any{}
	for range number {
		list = append(list, requirement(random))
	}
	return list
}

func labelRequirement(random *rand.Rand) object {
	requirement := object{"key": pick(random, labelKeys...)}
	if chance(random, 24) {
		requirement["key"] = pick[any](random, pick(random, badKeys...), pick(random, rareKeys...), nil)
	}
	operator := pick(random, "In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt", "Gt", "Lt", "Lt")
	var values []any
	switch operator {
	case "In", "NotIn":
		for range 1 + random.IntN(3) {
			values = append(values, nodeValue(random))
		}
	case "Gt", "Lt":
		values = []any{pick(random, "7", "8", "9", "15", "17", pick(random, labelNumbers...))}
	}
	if chance(random, 24) {
		operator = pick(random, "", "in", "Equals", "=", "Exists ", "notin")
	}
	requirement["operator"] = operator
	return withValues(random, requirement, values)
}

func fieldRequirement(random *rand.Rand) object {
	requirement := object{
		"key":      pick(random, "metadata.name", "metadata.name", "metadata.name", "metadata.name", "spec.nodeName", ""),
		"operator": pick(random, "In", "In", "In", "In", "In", "NotIn", "NotIn", "NotIn", "NotIn", "NotIn", "Exists", "Gt", ""),
	}
	return withValues(random, requirement, []any{pick(random, "node-1", "node-1", "node-2", "", "no name")})
}

// withValues gives a requirement its values, and now and then too few, too many or bad ones.
func withValues(random *rand.Rand, requirement object, values []any) object {
	switch random.IntN(48) {
	case 0:
		values = nil
	case 1:
		values = append(values, pick(random, labelValues...))
	case 2:
		values = append(values, pick(random, badValues...))
	case 3:
		values = []any{pick[any](random, nil, "", pick(random, badValues...))}
	}
	if values != nil {
		requirement["values"] = values
	} else if chance(random, 3) {
		requirement["values"] = pick[any](random, nil, []any{})
	}
	return requirement
}
