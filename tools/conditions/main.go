// Command conditions says which webhooks the API server would call about requests, by its own code.
//
// Standard input holds JSON objects, one a line: first a ValidatingWebhookConfiguration, then requests.
// For each request it prints a line: what the match conditions of every webhook say, by the name of the webhook. Rules
// and selectors are not looked at. Run it through scripts/conditions.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/client-go/kubernetes/scheme"
	kjson "sigs.k8s.io/json"
)

// The longest line; a Pod in etcd has at most 1.5 MiB.
const longest = 16 << 20

type request struct {
	Operation admission.Operation `json:"operation"`
	// Resource is the plural of the kind.
	Resource    string          `json:"resource"`
	Subresource string          `json:"subresource"`
	Namespace   string          `json:"namespace"`
	User        string          `json:"user"`
	Groups      []string        `json:"groups"`
	Object      json.RawMessage `json:"object"`
	OldObject   json.RawMessage `json:"oldObject"`
}

// An answer is `called`, `skipped` or what is wrong with a condition, by webhook; or why no API server takes the Pod.
type answer struct {
	Webhooks   map[string]string `json:"webhooks,omitempty"`
	Unreadable string            `json:"unreadable,omitempty"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "conditions: %v\n", err)
		os.Exit(1)
	}
}

func run(input io.Reader, output io.Writer) error {
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, longest)
	if !lines.Scan() {
		return errors.Join(errors.New("the first line must be a ValidatingWebhookConfiguration"), lines.Err())
	}
	var configuration admissionv1.ValidatingWebhookConfiguration
	if err := kjson.UnmarshalCaseSensitivePreserveInts(lines.Bytes(), &configuration); err != nil {
		return err
	}
	accessors := make([]webhook.WebhookAccessor, len(configuration.Webhooks))
	for index := range configuration.Webhooks {
		accessors[index] = webhook.NewValidatingWebhookAccessor("", configuration.Name, &configuration.Webhooks[index])
	}
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	encoder := json.NewEncoder(output)
	for lines.Scan() {
		var asked request
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		if err := encoder.Encode(ask(asked, accessors, compiler)); err != nil {
			return err
		}
	}
	return lines.Err()
}

func ask(asked request, accessors []webhook.WebhookAccessor, compiler cel.ConditionCompiler) answer {
	object, kind, err := read(asked.Object)
	if err != nil {
		return answer{Unreadable: err.Error()}
	}
	old, _, err := read(asked.OldObject)
	if err != nil {
		return answer{Unreadable: err.Error()}
	}
	resource := kind.GroupVersion().WithResource(asked.Resource)
	attributes := admission.NewAttributesRecord(object, old, kind, asked.Namespace, "", resource, asked.Subresource,
		asked.Operation, nil, false, &user.DefaultInfo{Name: asked.User, Groups: asked.Groups})
	versioned := &admission.VersionedAttributes{
		Attributes: attributes, VersionedKind: kind, VersionedObject: object, VersionedOldObject: old,
	}
	found := map[string]string{}
	for _, accessor := range accessors {
		result := accessor.GetCompiledMatcher(compiler).Match(context.Background(), versioned, nil, nil)
		switch {
		case result.Error != nil:
			found[accessor.GetName()] = result.Error.Error()
		case result.Matches:
			found[accessor.GetName()] = "called"
		default:
			found[accessor.GetName()] = "skipped"
		}
	}
	return answer{Webhooks: found}
}

// read gives an object as the API server does: with the types of its own kinds, and without those of other kinds.
// There is no object where there is no text.
func read(text json.RawMessage) (runtime.Object, schema.GroupVersionKind, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, schema.GroupVersionKind{}, nil
	}
	var untyped map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &untyped); err != nil {
		return nil, schema.GroupVersionKind{}, err
	}
	found := &unstructured.Unstructured{Object: untyped}
	kind := found.GroupVersionKind()
	if !scheme.Scheme.Recognizes(kind) {
		return found, kind, nil
	}
	typed, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, kind, err
	}
	return typed, kind, kjson.UnmarshalCaseSensitivePreserveInts(text, typed)
}
