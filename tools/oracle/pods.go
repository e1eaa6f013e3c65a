package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	v1 "k8s.io/api/core/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-helpers/resource"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/features"
	kjson "sigs.k8s.io/json"
)

type podCase struct {
	Spec object `json:"spec"`
	// Requests are what the scheduler looks for on a node, after the API server's defaulting.
	Requests map[v1.ResourceName]string `json:"requests"`
}

func podCases(random *rand.Rand) ([]any, error) {
	if !utilfeature.DefaultFeatureGate.Enabled(features.PodLevelResources) {
		return nil, fmt.Errorf("the feature gate %s is off", features.PodLevelResources)
	}
	var cases []any
	for range 1200 {
		spec := podSpec(random)
		var pod v1.Pod
		if err := decode(object{"spec": spec}, &pod); err != nil {
			return nil, err
		}
		corev1.SetObjectDefaults_Pod(&pod)
		requests := map[v1.ResourceName]string{}
		for name, quantity := range resource.PodRequests(&pod, resource.PodResourcesOptions{}) {
			requests[name] = canonical(quantity)
		}
		cases = append(cases, podCase{spec, requests})
	}
	return cases, nil
}

// decode reads an object as the API server does.
func decode(from object, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return kjson.UnmarshalCaseSensitivePreserveInts(text, into)
}

// The amounts that pods ask for, by resource; several spellings, fractions of a thousandth, and zero.
var amounts = map[string][]any{
	"cpu":                   {"1", 2, "500m", 0.5, "1.5", "0.0004", "250u", "1n", "0", "1e1", "0.1"},
	"memory":                {"1Gi", "512Mi", "1.5Gi", "1e9", 134217728, "0", "100M", "0.1Ki", "1", "2500u"},
	"ephemeral-storage":     {"10Gi", "1G", "0"},
	"hugepages-2Mi":         {"2Mi", "64Mi", "1Gi", "0"},
	"hugepages-1Gi":         {"1Gi", "4Gi"},
	"nvidia.com/gpu":        {1, "1", "8", 4, "1000m", "1e0", " 2", "0", 0},
	"nvidia.com/mig-1g.5gb": {1, "2", "7", "0"},
	"rdma/ib":               {"1", 1, "1k"},
	"example.com/fraction":  {"300m", "0.25", "1", "0.0001"},
}

var (
	resourceNames = []string{
		"cpu", "cpu", "memory", "memory", "nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/mig-1g.5gb", "ephemeral-storage",
		"hugepages-2Mi", "hugepages-1Gi", "rdma/ib", "example.com/fraction",
	}
	podLevelNames = []string{"cpu", "cpu", "memory", "memory", "hugepages-2Mi", "hugepages-1Gi", "nvidia.com/gpu"}
)

func podSpec(random *rand.Rand) object {
	spec := object{"containers": containers(random, 1+random.IntN(3), "")}
	if chance(random, 2) {
		spec["initContainers"] = containers(random, 1+random.IntN(4), "Always")
	}
	if chance(random, 10) {
		spec["ephemeralContainers"] = []object{{"resources": resources(random)}}
	}
	if chance(random, 4) {
		spec["overhead"] = amountsOf(random, resourceNames, 2)
	}
	if chance(random, 3) {
		podLevel := object{}
		if chance(random, 2) {
			podLevel["requests"] = amountsOf(random, podLevelNames, 3)
		}
		if chance(random, 2) {
			podLevel["limits"] = amountsOf(random, podLevelNames, 3)
		}
		spec["resources"] = podLevel
	}
	return spec
}

// containers gives some, of which a few have the restart policy, if there is one; Always makes a sidecar of them.
func containers(random *rand.Rand, number int, policy string) []object {
	list := make([]object, number)
	for i := range list {
		list[i] = object{}
		if !chance(random, 8) {
			list[i]["resources"] = resources(random)
		}
		if policy != "" && chance(random, 2) {
			list[i]["restartPolicy"] = policy
		}
	}
	return list
}

func resources(random *rand.Rand) object {
	found := object{}
	if !chance(random, 3) {
		found["requests"] = amountsOf(random, resourceNames, 3)
	}
	if !chance(random, 3) {
		found["limits"] = amountsOf(random, resourceNames, 3)
	}
	return found
}

func amountsOf(random *rand.Rand, names []string, most int) object {
	found := object{}
	for range random.IntN(most + 1) {
		name := pick(random, names...)
		found[name] = pick(random, amounts[name]...)
	}
	return found
}
