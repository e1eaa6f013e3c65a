"""The schema of the status of a GPUQuota, which holds its account (`authorities.gpu_quota.status`)."""

from usher import paths
from usher.authorities.gpu_quota import entries, ledger
from usher.config import quotas


def schema() -> paths.Object:
    """The schema of `status`."""
    charged: paths.Object = {
        "type": "object",
        "maxProperties": quotas.MOST_UNITS,
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
                "maxItems": quotas.MOST_LIMITS,
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
                    },
                },
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
