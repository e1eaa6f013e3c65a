"""ConstraintTemplates, constraints and suites of Gatekeeper."""

from typing import Any

Object = dict[str, Any]

TARGET = "admission.k8s.gatekeeper.sh"

REQUIRED_LABELS = """package requiredlabels

violation[{"msg": msg, "details": {"missing": missing}}] {
	missing := {key | key := input.parameters.labels[_]} - {key | input.review.object.metadata.labels[key]}
	count(missing) > 0
	msg := sprintf("%v lacks the labels %v", [input.review.object.metadata.name, missing])
}
"""

UNIQUE_NAME = """package uniquename

import data.lib.others

violation[{"msg": msg}] {
	other := others.services[_]
	other.metadata.name == input.review.object.metadata.name
	other.metadata.namespace != input.review.object.metadata.namespace
	msg := sprintf("the namespace %s has a Service with this name", [other.metadata.namespace])
}
"""
UNIQUE_NAME_LIBRARY = """package lib.others

services[service] {
	service := data.inventory.namespace[_]["v1"]["Service"][_]
}
"""


def template(
    kind: str = "RequiredLabels",
    rego: str = REQUIRED_LABELS,
    *,
    libs: tuple[str, ...] = (),
    schema: Object | None = None,
    **spec: Any,
) -> Object:
    """A template in the short form; `spec` replaces fields of its spec."""
    validation = {} if schema is None else {"validation": {"openAPIV3Schema": schema}}
    target: Object = {"target": TARGET, "rego": rego, **({"libs": list(libs)} if libs else {})}
    return {
        "apiVersion": "templates.gatekeeper.sh/v1",
        "kind": "ConstraintTemplate",
        "metadata": {"name": kind.lower()},
        "spec": {"crd": {"spec": {"names": {"kind": kind}, **validation}}, "targets": [target], **spec},
    }


def code(engine: str, **source: Any) -> Object:
    """A target in the form with engines."""
    return {"target": TARGET, "code": [{"engine": engine, "source": source}]}


def constraint(kind: str = "RequiredLabels", name: str = "labels", **spec: Any) -> Object:
    return {
        "apiVersion": "constraints.gatekeeper.sh/v1beta1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def suite(*tests: Object) -> Object:
    return {
        "apiVersion": "test.gatekeeper.sh/v1alpha1",
        "kind": "Suite",
        "metadata": {"name": "suite"},
        "tests": list(tests),
    }


def case(name: str, file: str, *assertions: Object, **fields: Any) -> Object:
    return {"name": name, "object": file, "assertions": list(assertions), **fields}
