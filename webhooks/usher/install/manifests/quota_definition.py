"""The definition (CRD) of GPUQuota. It refuses the same values as `config.pools`; a test compares them.

Limits are one map of units, as in a ResourceQuota. In an object with fields, the API server would drop an unknown field
and its limit; it can refuse an unknown key of a map.
"""

from typing import Final

from usher import paths
from usher.authorities.gpu_quota import entries, ledger
from usher.authorities.gpu_quota.definitions import GROUP, KIND, VERSION
from usher.config import pools


def status_schema() -> paths.Object:
    charged: paths.Object = {
        "type": "object",
        "maxProperties": pools.MOST_UNITS,
        "additionalProperties": {"x-kubernetes-int-or-string": True},
    }
    return {
        "type": "object",
        "description": "Written by gpu-usher; docs/quota.md explains it.",
        "properties": {
            "version": {"type": "integer", "minimum": 1, "description": "The version of the format of charges."},
            "used": {
                "type": "array",
                "description": "The amounts in use of each limit, in their order.",
                "maxItems": pools.MOST_LIMITS,
                "x-kubernetes-list-type": "atomic",
                "items": charged,
            },
            "charges": {
                "type": "array",
                "description": "The charged objects and their amounts.",
                "maxItems": ledger.MOST_ENTRIES,
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["object"],
                    "properties": {
                        "object": {"type": "string", "maxLength": 1024, "description": "Kind.group/namespace/name"},
                        "uid": {"type": "string", "maxLength": 128},
                        "amounts": charged,
                        "classes": {"type": "object", "maxProperties": 256, "additionalProperties": charged},
                        "until": {"type": "integer", "format": "int64", "minimum": 0},
                        "forced": {"type": "boolean"},
                        "createdAgain": {"type": "boolean"},
                    },
                },
            },
            "counting": {
                "type": "boolean",
                "description": "Whether gpu-usher still charges what existed before the quota or its account.",
            },
            "conditions": _conditions(),
            **_parts(charged),
        },
    }


def _parts(charged: paths.Object) -> paths.Object:
    """The fields of an account whose entries are in several objects."""
    return {
        "partsFrom": {
            "type": "integer",
            "format": "int64",
            "description": "From when on the account may have parts; in seconds since 1970.",
        },
        "parts": {
            "type": "array",
            "description": "The ConfigMaps with the charges of a large account, in their order.",
            "maxItems": entries.MOST_PARTS,
            "x-kubernetes-list-type": "atomic",
            "items": {
                "type": "object",
                "required": ["name", "changes"],
                "properties": {
                    "name": {"type": "string", "maxLength": 253},
                    "changes": {"type": "integer", "minimum": 0},
                },
            },
        },
        "removed": {
            "type": "array",
            "description": "Charges of parts that do not count any more.",
            "maxItems": ledger.MOST_ENTRIES,
            "x-kubernetes-list-type": "atomic",
            "items": {"type": "string", "maxLength": 1024},
        },
        "sums": {
            "type": "object",
            "description": "The amounts of all charges.",
            "properties": {
                "amounts": charged,
                "classes": {"type": "object", "additionalProperties": charged},
            },
        },
    }


def _conditions() -> paths.Object:
    return {
        "type": "array",
        "maxItems": 16,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
            "properties": {
                "type": {"type": "string", "maxLength": 316},
                "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
                "lastTransitionTime": {"type": "string", "format": "date-time"},
                "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
                "message": {"type": "string", "maxLength": 32768},
            },
        },
    }


PLURAL: Final = "gpuquotas"

_LABEL_KEY: Final[paths.Object] = {"type": "string", "minLength": 1, "maxLength": 317}
_LABEL_VALUE: Final[paths.Object] = {
    "type": "string",
    "maxLength": 63,
    "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$",
}
_NAME: Final[paths.Object] = {
    "type": "string",
    "maxLength": 253,
    "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$",
}

_READY: Final = '.status.conditions[?(@.type=="Ready")].status'


def definition() -> paths.Object:
    """The CustomResourceDefinition."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{PLURAL}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Cluster",
            "names": {"kind": KIND, "listKind": f"{KIND}List", "plural": PLURAL, "singular": KIND.lower()},
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        _column("Hard", "The first limit.", ".spec.limits[0].hard"),
                        _column("Used", "The amounts in use of the first limit.", ".status.used[0]"),
                        _column("Ready", "Whether the quota works; its condition says why not.", _READY),
                        {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                    "schema": {"openAPIV3Schema": _schema()},
                }
            ],
        },
    }


def _column(name: str, description: str, path: str) -> paths.Object:
    return {"name": name, "type": "string", "description": description, "jsonPath": path}


def _schema() -> paths.Object:
    return {
        "type": "object",
        "description": "How many GPUs of a cluster the workloads of some namespaces may hold together.",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string"},
            "kind": {"type": "string"},
            "metadata": {"type": "object"},
            "spec": _spec(),
            "status": status_schema(),
        },
    }


def _spec() -> paths.Object:
    return {
        "type": "object",
        "required": ["limits"],
        "properties": {
            "namespaces": {
                "type": "array",
                "description": "Namespaces, in which * stands for any characters.",
                "maxItems": 256,
                "x-kubernetes-list-type": "set",
                "items": {"type": "string", "maxLength": 253, "pattern": "^[-a-z0-9.*]+$"},
            },
            "namespaceSelector": _selector(),
            "limits": {
                "type": "array",
                "description": "All of them apply.",
                "minItems": 1,
                "maxItems": pools.MOST_LIMITS,
                "x-kubernetes-list-type": "atomic",
                "items": _limit(),
            },
            "assumes": _assumption(),
            "chargesSuspended": {
                "type": "boolean",
                "default": True,
                "description": "Whether a workload is charged while it is suspended.",
            },
        },
        "x-kubernetes-validations": [
            _rule(
                "(has(self.namespaces) && size(self.namespaces) > 0) || has(self.namespaceSelector)",
                "the quota is for no namespace; set namespaces or a namespaceSelector",
            )
        ],
    }


def _limit() -> paths.Object:
    return {
        "type": "object",
        "required": ["hard"],
        "properties": {
            "hard": {
                "type": "object",
                "description": "The largest amounts in use at the same time, by unit: gpus, slices, memoryGiB, or "
                "profiles. with the name of a MIG profile (profiles.1g.10gb).",
                "minProperties": 1,
                "maxProperties": pools.MOST_UNITS,
                "additionalProperties": _amount(),
                "x-kubernetes-validations": [
                    _rule(
                        f"self.all(unit, unit.matches('{pools.UNIT_PATTERN.replace(chr(92), chr(92) * 2)}'))",
                        "a unit is gpus, slices, memoryGiB, or profiles. with the name of a MIG profile",
                    )
                ],
            },
            "priorityClasses": {
                "type": "array",
                "description": "Only for pods of these PriorityClasses; by default for all pods.",
                "maxItems": 16,
                "x-kubernetes-list-type": "set",
                "items": _NAME,
            },
        },
    }


def _amount() -> paths.Object:
    return {
        "x-kubernetes-int-or-string": True,
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "pattern": pools.AMOUNT_PATTERN,
        "minimum": 0,
        "maximum": pools.MOST,
    }


def _selector() -> paths.Object:
    return {
        "type": "object",
        "description": "Namespaces by their labels; with namespaces as well, both must match.",
        "properties": {
            "matchLabels": {"type": "object", "maxProperties": 64, "additionalProperties": _LABEL_VALUE},
            "matchExpressions": {
                "type": "array",
                "maxItems": 64,
                "x-kubernetes-list-type": "atomic",
                "items": {
                    "type": "object",
                    "required": ["key", "operator"],
                    "properties": {
                        "key": _LABEL_KEY,
                        "operator": {"type": "string", "enum": ["In", "NotIn", "Exists", "DoesNotExist"]},
                        "values": {
                            "type": "array",
                            "maxItems": 256,
                            "x-kubernetes-list-type": "atomic",
                            "items": _LABEL_VALUE,
                        },
                    },
                    "x-kubernetes-validations": [
                        _rule(
                            "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
                            "In and NotIn take values; Exists and DoesNotExist do not",
                        )
                    ],
                },
            },
        },
    }


def _assumption() -> paths.Object:
    return {
        "type": "object",
        "description": "The assumed board of whole devices whose board neither nodes nor pools name.",
        "minProperties": 1,
        "properties": {
            "board": {"type": "string", "maxLength": 64, "description": "A board that MIG can divide: H100-80."},
            "slices": {"type": "integer", "minimum": 1, "maximum": 64},
            "memoryGiB": {"type": "integer", "minimum": 1, "maximum": 65536},
        },
        "x-kubernetes-validations": [
            _rule(
                "!has(self.board) || !(has(self.slices) || has(self.memoryGiB))",
                "the board decides slices and memory; leave out either the board or both of these",
            )
        ],
    }


def _rule(rule: str, message: str) -> paths.Object:
    return {"rule": rule, "message": message}
