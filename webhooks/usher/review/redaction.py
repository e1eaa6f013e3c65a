"""Removes possible secrets from an object, for a record of reviews. Pure; it makes a new object.

The record loses values of variables that no rule reads, also in shell scripts and in YAML within texts; values that
follow a flag named like a secret; user and password in URLs; the manifest that kubectl keeps in an annotation;
`managedFields`, addresses and images in a `status`, and the data of ConfigMaps and Secrets. Names of variables stay, so
checks about them hold.
"""

import re
from functools import lru_cache
from typing import Final

from usher import paths
from usher.kinds.reading import environment
from usher.workloads import model_servers

MARKER: Final = "not-recorded"
"""Replaces a value."""

_LONGEST_TEXT: Final = 16 * 1024
"""The most characters of a text: commands that rules read are shorter. Each pattern below takes time in proportion to
it.
"""

_READ: Final = (*environment.READ_VARIABLES, *model_servers.NIM_VARIABLES)
"""Prefixes of the variables whose values rules read."""

_DROPPED: Final = frozenset({"managedFields", "kubectl.kubernetes.io/last-applied-configuration"})
_DROPPED_OF_STATUS: Final = frozenset(
    {"addresses", "hostIP", "hostIPs", "images", "nodeInfo", "podIP", "podIPs"}
    | {"containerStatuses", "ephemeralContainerStatuses", "initContainerStatuses"}
)
"""Addresses, and the names of images on a node and in a pod. Rules read the other fields."""
_DATA: Final = frozenset({"data", "stringData", "binaryData"})
_VARIABLES: Final = frozenset({"env", "envvars", "environment", "envsecretkeyrefs", "extraenv", "env_vars"})
"""Names of fields, in lower case, whose lists and maps hold variables."""

_TELLTALE: Final = r"(?:token|secret|passw(?:or)?d|passphrase|credential|api-?_?key|access-?_?key|private-?_?key|auth)"
_SECRET_FIELD: Final = re.compile(_TELLTALE + r"s?$", re.IGNORECASE)
_SECRET_FLAG: Final = rf"(?<![\w.-])--?(?:[\w.-]{{0,60}}[-_.])?{_TELLTALE}"
"""`--hf-token`, and not `--tokenizer` or `--max-num-batched-tokens`."""
_FLAG: Final = re.compile(rf"^{_SECRET_FLAG}$", re.IGNORECASE)
_FLAG_VALUE: Final = re.compile(rf"({_SECRET_FLAG}(?:=|\s+))(\"[^\"]*\"|'[^']*'|[^\s\"']+)", re.IGNORECASE)
_ASSIGNMENT: Final = re.compile(r"\b([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s\"';&|]+)")
_ASSIGNED_UPPER: Final = re.compile(r"[A-Z_][A-Z0-9_]*\Z")
_YAML_VALUE: Final = re.compile(r"^([ \t]*(?:-[ \t]+)?[\"']?value[\"']?[ \t]*:[ \t]*)(\S.*)$", re.MULTILINE)
_JSON_VALUE: Final = re.compile(r"(\"value\"\s*:\s*)\"(?:[^\"\\]|\\.)*\"")
_ENTRY: Final = re.compile(r"""(["']?\b([A-Z][A-Z0-9_]{2,})["']?\s*:\s*)("[^"]*"|'[^']*'|[^\s,}]+)""")
"""A variable in a map of YAML or JSON: `HF_TOKEN: abc`."""
_URL_USER: Final = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@\s:]+(?::[^/@\s]*)?@")


def of(value: paths.Object) -> paths.Object:
    """The object without secrets."""
    is_data = value.get("kind") in ("Secret", "ConfigMap")
    return {
        key: _without_data(each) if is_data and key in _DATA else _of(_status(each) if key == "status" else each, key)
        for key, each in value.items()
    }


def _status(value: paths.Json) -> paths.Json:
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in value.items() if key not in _DROPPED_OF_STATUS}


def _without_data(value: paths.Json) -> paths.Json:
    return dict.fromkeys(value, MARKER) if isinstance(value, dict) else MARKER


def _of(value: paths.Json, key: str) -> paths.Json:
    if isinstance(value, str):
        return _text(value, key)
    if isinstance(value, dict):
        if key.lower() in _VARIABLES:
            return {name: _named(name, each) for name, each in value.items()}
        return {name: _of(each, name) for name, each in value.items() if name not in _DROPPED}
    if isinstance(value, list):
        if key.lower() in _VARIABLES:
            return [_variable(each, key) for each in value]
        return _list(value, key)
    return value


def _list(values: list[paths.Json], key: str) -> paths.Json:
    """A list in which the value after a flag named like a secret is removed."""
    kept: list[paths.Json] = []
    secret = False
    for each in values:
        is_text = isinstance(each, str)
        kept.append(MARKER if secret and is_text and not str(each).startswith("-") else _of(each, key))
        secret = isinstance(each, str) and _FLAG.match(each) is not None
    return kept


def _variable(entry: paths.Json, key: str) -> paths.Json:
    if isinstance(entry, str):
        return _text(entry, key)
    if not isinstance(entry, dict):
        return entry
    name = entry.get("name")
    return {
        field: _named(paths.text(name), each) if field == "value" else _of(each, field) for field, each in entry.items()
    }


def _named(name: str, value: paths.Json) -> paths.Json:
    """The value of a variable, unchanged if rules read it or it is empty."""
    if not value or _is_read(name) or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return _of(value, name)
    return MARKER


def _is_read(name: str) -> bool:
    """Whether rules read a variable. NVIDIA_API_KEY belongs to one of the families, but is a secret."""
    return name.startswith(_READ) and not _is_secret(name)


def _is_secret(name: str) -> bool:
    """Whether the end of a field's or variable's name is like that of a secret."""
    return _ends_as_secret(name[-32:])


@lru_cache(maxsize=4096)
def _ends_as_secret(end: str) -> bool:
    """Whether an end is like that of a secret. Names repeat, so a cache helps; short ends bound what strangers can put
    into it.
    """
    return _SECRET_FIELD.search(end) is not None


def _text(text: str, key: str) -> str:
    if len(text) > _LONGEST_TEXT or (text and _is_secret(key)):
        return MARKER
    if "=" in text or " " in text:
        text = _FLAG_VALUE.sub(rf"\1{MARKER}", text)
        text = _ASSIGNMENT.sub(_assigned, text)
    if ":" in text:
        text = _ENTRY.sub(_entered, text)
    if "value" in text:
        text = _JSON_VALUE.sub(rf'\1"{MARKER}"', _YAML_VALUE.sub(rf"\1{MARKER}", text))
    return _URL_USER.sub(rf"\1{MARKER}@", text) if "://" in text else text


def _assigned(match: re.Match[str]) -> str:
    name = match.group(1)
    kept = _is_read(name) or not _ASSIGNED_UPPER.match(name)
    return match.group() if kept else f"{name}={MARKER}"


def _entered(match: re.Match[str]) -> str:
    return match.group() if _is_read(match.group(2)) else f"{match.group(1)}{MARKER}"
