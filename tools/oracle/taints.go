package main

import (
	"math/rand/v2"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
)

type tolerationCase struct {
	Toleration object   `json:"toleration"`
	Taint      v1.Taint `json:"taint"`
	Tolerates  bool     `json:"tolerates"`
	// WithoutComparison is the answer where the feature gate TaintTolerationComparisonOperators is off, as it is unless
	// somebody switches it on (1.36).
	WithoutComparison bool `json:"withoutComparison"`
	// Refused says that no pod can have this toleration, because the API server does not take it.
	Refused bool `json:"refused"`
}

func tolerationCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for range 1900 {
		taint := anyTaint(random)
		wire := anyToleration(random, taint)
		var toleration v1.Toleration
		if err := decode(wire, &toleration); err != nil {
			return nil, err
		}
		refused, err := isRefused(toleration)
		if err != nil {
			return nil, err
		}
		cases = append(cases, tolerationCase{
			Toleration:        wire,
			Taint:             taint,
			Tolerates:         toleration.ToleratesTaint(klog.Logger{}, &taint, true),
			WithoutComparison: toleration.ToleratesTaint(klog.Logger{}, &taint, false),
			Refused:           refused,
		})
	}
	return cases, nil
}

func isRefused(toleration v1.Toleration) (bool, error) {
	var internal core.Toleration
	if err := corev1.Convert_v1_Toleration_To_core_Toleration(&toleration, &internal, nil); err != nil {
		return false, err
	}
	options := validation.PodValidationOptions{AllowTaintTolerationComparisonOperators: true}
	return len(validation.ValidateTolerations([]core.Toleration{internal}, nil, options)) > 0, nil
}

type taintCase struct {
	Tolerations []object   `json:"tolerations"`
	Taints      []v1.Taint `json:"taints"`
	// Untolerated is the first taint that keeps the pod off the node; null where none does.
	Untolerated *v1.Taint `json:"untolerated"`
}

func taintCases(random *rand.Rand) ([]any, error) {
	var cases []any
	for range 400 {
		one := taintCase{Tolerations: []object{}, Taints: []v1.Taint{}}
		for range 1 + random.IntN(3) {
			one.Taints = append(one.Taints, anyTaint(random))
		}
		var tolerations []v1.Toleration
		for range random.IntN(5) {
			var toleration v1.Toleration
			wire := anyToleration(random, pick(random, append(one.Taints, anyTaint(random))...))
			if err := decode(wire, &toleration); err != nil {
				return nil, err
			}
			if refused, err := isRefused(toleration); err != nil || refused {
				continue // The single tolerations have those.
			}
			one.Tolerations, tolerations = append(one.Tolerations, wire), append(tolerations, toleration)
		}
		taint, found := corev1helpers.FindMatchingUntoleratedTaint(
			klog.Logger{}, one.Taints, tolerations, keepsPodsOff, true)
		if found {
			one.Untolerated = &taint
		}
		cases = append(cases, one)
	}
	return cases, nil
}

// keepsPodsOff is the scheduler's filter (plugins/helper DoNotScheduleTaintsFilterFunc), whose package would take longer to
// build than all the rest.
func keepsPodsOff(taint *v1.Taint) bool {
	return taint.Effect == v1.TaintEffectNoSchedule || taint.Effect == v1.TaintEffectNoExecute
}

var (
	taintKeys   = []string{"nvidia.com/gpu", "gpu", "spot"}
	taintValues = []string{"", "present", "true"}
	wholeValues = []string{
		"0", "1", "4", "5", "7", "10", "80", "-1", "-7", "9223372036854775807", "-9223372036854775808",
	}
	oddKeys = []string{"", "", "nvidia.com/GPU", "nvidia.com", "a/b/c", "gpu ", "gp\u00fc"}
	// What only looks like a number is none to Gt and Lt; the last ones are no values at all.
	oddTaintValues = []string{
		"9223372036854775808", "-9223372036854775809", "9999999999999999999", "-0", "00", "+5", "05", "1_0", "1e1", "5.0",
		" 5", "5 ", "0x5", "\uff15", "\u0665", "-", strings.Repeat("9", 63), "Present", " present", strings.Repeat("v", 64),
	}
	oddEffects   = []string{"", "noschedule", "NoSchedule ", "Evict"}
	oddOperators = []string{"", "exists", "equal", "In", "Exists ", "gt", "=="}
)

func anyTaint(random *rand.Rand) v1.Taint {
	taint := v1.Taint{
		Key:    pick(random, taintKeys...),
		Value:  pick(random, pick(random, taintValues...), pick(random, wholeValues...)),
		Effect: pick(random, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute, v1.TaintEffectPreferNoSchedule),
	}
	switch random.IntN(12) {
	case 0:
		taint.Key = pick(random, oddKeys...)
	case 1, 2:
		taint.Value = pick(random, oddTaintValues...)
	case 3:
		taint.Effect = v1.TaintEffect(pick(random, oddEffects...))
	}
	return taint
}

// anyToleration is more often than not about the taint.
func anyToleration(random *rand.Rand, taint v1.Taint) object {
	toleration := object{"key": taint.Key}
	if slices.Contains(wholeValues, taint.Value) && !chance(random, 4) {
		toleration["operator"] = pick(random, "Gt", "Lt")
		toleration["value"] = pick(random, wholeValues...)
	} else {
		toleration["operator"] = pick(random, "Equal", "Equal", "Exists", "Gt")
		toleration["value"] = pick(random, taint.Value, taint.Value, pick(random, taintValues...))
	}
	if toleration["operator"] == "Exists" && !chance(random, 4) {
		delete(toleration, "value")
	}
	if chance(random, 3) {
		toleration["effect"] = pick(random, string(taint.Effect), string(taint.Effect), "NoSchedule", "NoExecute")
	}
	switch random.IntN(8) {
	case 0:
		toleration["key"] = pick(random, pick(random, taintKeys...), pick(random, oddKeys...))
	case 1:
		toleration["operator"] = pick(random, oddOperators...)
	case 2:
		toleration["value"] = pick(random, oddTaintValues...)
	case 3:
		toleration["effect"] = pick(random, oddEffects...)
	}
	switch field := pick(random, "key", "operator", "value", "effect"); random.IntN(16) {
	case 0:
		toleration[field] = nil
	case 1, 2:
		delete(toleration, field)
	}
	return toleration
}
