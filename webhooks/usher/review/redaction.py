"""Objects without what no rule reads: of their texts only those in the lists below stay, everything else is replaced.

* Texts of fields that rules read stay if they look like a name, a path, a quantity, an image or a time. The list holds
  names of fields; `tests/policies/test_recorded_examples.py` compares decisions with and without the rest.
* Variables stay if their family is read, labels and annotations too. Names of variables and keys of maps always stay.
* Of commands and scripts the programs and flags stay that say what a workload is, and numbers.
* `data` of Secrets and ConfigMaps, `managedFields`, kubectl's copy of the manifest and addresses never stay.
"""

import fnmatch
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import orjson

from usher import errors, paths
from usher.documents import reader
from usher.kinds.reading import environment
from usher.policy.input.pod_sets import READ_KEYS
from usher.workloads import model_servers

REDACTED: Final = "not-recorded"
"""Replaces a value."""

_LONGEST_TEXT: Final = 16 * 1024
"""The most characters of a text: commands that rules read are shorter. Each pattern below takes time in proportion to
it.
"""
_LONGEST_NAME: Final = 253

_NIM: Final = tuple(model_servers.NIM_VARIABLES)

_DROPPED: Final = frozenset({"managedFields", "kubectl.kubernetes.io/last-applied-configuration"})
_DROPPED_OF_STATUS: Final = frozenset(
    {"addresses", "hostIP", "hostIPs", "images", "nodeInfo", "podIP", "podIPs"}
    | {"containerStatuses", "ephemeralContainerStatuses", "initContainerStatuses"}
)
"""Addresses, and the names of images on a node and in a pod. Rules read the other fields."""
_DATA: Final = frozenset({"data", "stringData", "binaryData"})
_VARIABLES: Final = frozenset({"env", "envvars", "environment", "envsecretkeyrefs", "extraenv", "env_vars"})
"""Names of fields, in lower case, whose lists and maps hold variables."""
_COMMANDS: Final = frozenset(
    {"command", "args", "entrypoint", "script", "source", "startup", "exec", "launcherCommand", "containerCommand"}
)
_TEMPLATE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,127}")
"""The name of the first template of an Argo Workflow; in other kinds `entrypoint` is a command."""
_LISTED: Final = "[]"
"""The field of texts in the list of an annotation."""
_MANIFESTS: Final = frozenset({"manifest", "serveConfigV2"})
"""Fields whose text is an object."""
_EXPRESSIONS: Final = frozenset({"expression", "extraConf", "when", "withParam", "nodeSelectorExpression"})
"""Fields whose text rules read as a whole."""

_FIELDS: Final = frozenset({
    "accelerator", "acceleratorType", "accessModes", "action", "add", "admissionChecks", "allocationMode", "apiGroup",
    "apiGroups", "apiVersion", "autoscalerVersion", "batchScheduler", "board", "borrowWithinCohort", "claimName",
    "cleanPodPolicy", "clusterIP", "clusterQueue", "clusterScope", "cohort", "cohortName", "completionMode",
    "cliqueNames", "concurrencyPolicy", "configMapName", "containerName", "controllerKind", "controllerName", "count",
    "coveredResources", "dependencies", "depends", "deploymentMode", "deviceClassName", "devicePath", "dnsPolicy",
    "driver", "drop", "effect", "event", "events", "expandable", "fabric", "failurePolicy", "fieldPath", "flavor",
    "framework", "frameworks", "generateName", "gpus", "gpuType", "group", "groupName", "highestTierName", "hostname",
    "image", "imagePullPolicy", "instanceType", "key", "kind", "launcherCreationPolicy", "leadsTo", "level", "levels",
    "localQueue", "mainApplicationFile", "mainClass", "managedBy", "maxSurge", "maxUnavailable", "medium",
    "migStrategy", "minAvailable", "mode", "modelFormat", "mountPath", "mountPropagation", "mpiImplementation", "name",
    "namespace", "namespaces", "ngc", "nodeAffinityPolicy", "nodeLabel", "nodeName", "nodeTaintsPolicy",
    "nprocPerNode", "numProcPerNode", "onExit", "onExitCodes", "operation", "operations", "operator", "parentName",
    "parentQueue", "path", "pipelineRef", "pipelineTaskName", "placement_group_strategy", "plugins", "podGroup",
    "podGroupName", "podManagementPolicy", "podReplacementPolicy", "podSet", "podSetName", "policy", "preemptionPolicy",
    "prefix",
    "priorityClass", "priorityClassName", "procMount", "profile", "protocol", "protocolVersion", "provider", "queue",
    "queueingStrategy", "queueName", "rayStartParams", "rayVersion", "reason", "reclaimWithinCohort", "resource",
    "resourceClaimName", "resourceClaimTemplateName", "resourceName", "resources", "restartPolicy", "role",
    "rolloutStrategy", "runtime", "runtimeClassName", "runtimeRef", "scaleDown", "scaleTargetRef", "scaleUp",
    "schedulerName", "scheduling", "schedulingGroup", "scopeName", "scopes", "secretName", "selector",
    "serviceAccount", "serviceAccountName", "serviceType", "sparkVersion", "startPolicy", "status", "stopPolicy",
    "storageClassName", "strategy", "subdomain", "subGroupPolicyType", "submissionMode", "subPath", "subResource",
    "subresource", "taskName", "taskRef", "template", "templateName", "templateRef", "terminationMessagePolicy", "tier",
    "timezone", "topology",
    "topologyKey", "topologyName", "type", "uid", "upgradeStrategy", "values", "vendor", "version", "volumeMode",
    "volumeName", "whenCanBorrow", "whenCanPreempt", "whenUnsatisfiable", "withinClusterQueue", "workflowTemplateRef",
})  # fmt: skip
"""Names of fields whose texts rules read, or that tell objects apart."""

_VENDOR: Final = ".vendor"
"""The end of the property of Spark for the vendor of a resource."""

_SCHEDULE: Final = re.compile(r"[0-9*/, -]{1,80}")
"""A time of a trigger of KEDA, as cron writes it."""
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")
_OF_QUERY: Final = re.compile(r"(?:absent|vector)\w*\(|[a-z][a-z0-9_]*[:_][a-z0-9_:]+")
"""The names of metrics and labels in a query to Prometheus, and the functions that rules read."""

_NAME: Final = re.compile(r"[A-Za-z0-9_*/.~$][\w./:*~$(){}%+@-]*")
_PLAIN: Final = re.compile(
    r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,9})?(?:[eE][+-]?[0-9]{1,2})?"
    r"(?:[KMGTPE]i?|[kmnu]|[%smhd]|ms|MB|GB|gb?)?(?:[0-9]{1,4}[smh]){0,2}"
    r"|true|false|True|False|Always|Never|Exists|Equal"
)
"""Numbers, quantities, durations and truth values stay everywhere."""
_PLACEHOLDER: Final = re.compile(r"\$\([\w.*'\[\]-]{1,253}\)|\{\{[\w.=' -]{1,253}\}\}")
"""A parameter or result of Tekton or Argo that fills a text."""
_REQUIREMENT: Final = frozenset({"key", "operator", "effect"})
"""Fields of tolerations and taints; other objects with a `value` are variables or parameters."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)")
_READ_DOMAINS: Final = re.compile(
    r"(?:[\w.-]+\.)?(?:kubernetes\.io|k8s\.io|x-k8s\.io|nvidia\.com|amd\.com|intel\.com|volcano\.sh|google\.com|gke\.io"
    r"|amazonaws\.com|azure\.com|ray\.io|run\.ai|kubeflow\.org|karpenter\.sh|aws|habana\.ai|knative\.dev|jupyter\.org"
    r"|coreos\.com|tekton\.dev|argoproj\.io)/.*"
    r"|runai/.*|notebook-name|component|workload|k8s-app|app|gpu-.*"
)
"""Labels that say what an object is, or where it runs. Labels are names, and never texts."""

_TELLTALE: Final = r"(?:token|secret|passw(?:or)?d|passphrase|credential|api-?_?key|access-?_?key|private-?_?key|auth)"
_SECRET_FIELD: Final = re.compile(_TELLTALE + r"s?$", re.IGNORECASE)
_URL_USER: Final = re.compile(r"(?<![A-Za-z0-9+.-])([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/@\s:]+(?::[^/@\s]*)?@")


def without_secrets(value: paths.Object) -> paths.Object:
    """The object without what no rule reads."""
    is_data = value.get("kind") in ("Secret", "ConfigMap")
    is_node = value.get("kind") == "Node"
    return {
        key: _without_data(each)
        if is_data and key in _DATA
        else _without(_status(each) if key == "status" else each, key, is_node=is_node)
        for key, each in value.items()
    }


def _status(value: paths.Json) -> paths.Json:
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in value.items() if key not in _DROPPED_OF_STATUS}


def _without_data(value: paths.Json) -> paths.Json:
    return dict.fromkeys(value, REDACTED) if isinstance(value, dict) else REDACTED


def _without(value: paths.Json, key: str, *, is_node: bool = False) -> paths.Json:
    if isinstance(value, str):
        return _text(value, key)
    if isinstance(value, list):
        if key.lower() in _VARIABLES:
            return [_variable(each) for each in value]
        if key in _COMMANDS:
            return _command(value)
        return [_without(each, key, is_node=is_node) for each in value]
    return _mapping(value, key, is_node=is_node) if isinstance(value, dict) else value


def _mapping(value: paths.Object, key: str, *, is_node: bool) -> paths.Json:
    if key.lower() in _VARIABLES:
        return {name: _redact_variable(name, each) for name, each in value.items()}
    if key == "annotations":
        return {name: _annotation(name, each) for name, each in value.items() if name not in _DROPPED}
    if key in ("labels", "matchLabels", "nodeSelector", "nodeLabels"):
        every = is_node or key in ("nodeSelector", "nodeLabels")
        return {name: _label(name, each, every=every) for name, each in value.items()}
    if "value" in value:
        is_requirement = not _REQUIREMENT.isdisjoint(value)
        return {name: _requirement(name, each) for name, each in value.items()} if is_requirement else _variable(value)
    return {name: _without(each, name, is_node=is_node) for name, each in value.items() if name not in _DROPPED}


def _requirement(name: str, value: paths.Json) -> paths.Json:
    """A field of a toleration or taint, whose `value` is that of a label."""
    if name != "value" or not isinstance(value, str):
        return _without(value, name)
    return value if not value or _is_name(value) else REDACTED


def _label(name: str, value: paths.Json, *, every: bool) -> paths.Json:
    """The value of a label, if rules read it: all labels of nodes, and else those of read families."""
    if not isinstance(value, str) or not value or _PLAIN.fullmatch(value):
        return value if isinstance(value, str) else _without(value, name)
    kept = every or name.startswith(READ_KEYS) or _READ_DOMAINS.fullmatch(name)
    return value if kept and not _is_secret(name) and _is_name(value) else REDACTED


def _annotation(name: str, value: paths.Json) -> paths.Json:
    """The value of an annotation if rules read it: names, or an object or list of them as text."""
    if not isinstance(value, str) or not value or _PLAIN.fullmatch(value):
        return value if isinstance(value, str) else _without(value, name)
    if not name.startswith(READ_KEYS) or _is_secret(name) or len(value) > _LONGEST_TEXT:
        return REDACTED
    if all(_is_device(each.strip()) for each in value.split(",")):
        return value
    return _object_text(value) if value.lstrip().startswith(("[", "{", "-")) or "\n" in value else REDACTED


def _is_device(text: str) -> bool:
    """Whether a text is a name, or the name of a device: `nvidia.com/gpu=0`."""
    return all(map(_is_name, text.split("=", 1)))


def _variable(entry: paths.Json) -> paths.Json:
    if isinstance(entry, str):
        return _assigned(entry)
    if not isinstance(entry, dict):
        return entry
    name = paths.text(entry.get("name"))
    return {
        field: _redact_variable(name, each) if field == "value" else _without(each, field)
        for field, each in entry.items()
    }


def _redact_variable(name: str, value: paths.Json) -> paths.Json:
    """The value of a variable, unchanged if rules read it or it is empty."""
    if not value or isinstance(value, bool):
        return value
    if isinstance(value, dict | list):
        return _without(value, "value")
    stays = _is_read(name) or not isinstance(value, str) or _PLACEHOLDER.fullmatch(value) or _SMALL.fullmatch(value)
    return value if stays else REDACTED


def _is_read(name: str) -> bool:
    """Whether rules read a variable. NVIDIA_API_KEY belongs to one of the families, but is a secret."""
    return (environment.is_read(name) or name.startswith(_NIM)) and not _is_secret(name)


def _is_secret(name: str) -> bool:
    """Whether the end of a field's or variable's name is like that of a secret."""
    return _ends_as_secret(name[-32:])


@lru_cache(maxsize=4096)
def _ends_as_secret(end: str) -> bool:
    """Whether an end is like that of a secret. Names repeat, so a cache helps; short ends bound what strangers can put
    into it.
    """
    return _SECRET_FIELD.search(end) is not None


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and _NAME.fullmatch(text) is not None and not _URL_USER.search(text)


def _text(text: str, key: str) -> str:
    """A text that stands in a field, or in a list in it."""
    if not text or _PLAIN.fullmatch(text) or _PLACEHOLDER.fullmatch(text):
        return text
    if len(text) > _LONGEST_TEXT or _is_secret(key):
        return REDACTED
    if key == _LISTED or (key == "source" and text.startswith("/")):  # devices, and mounts of an annotation
        return text if _is_device(text) else REDACTED
    if key == "entrypoint" and _TEMPLATE.fullmatch(text):
        return text
    if key in _COMMANDS:
        return _words(text)
    if key in _MANIFESTS:
        return _object_text(text)
    if key == "query":
        return " ".join(_OF_QUERY.findall(_QUOTED.sub("", text))) or REDACTED
    if key in ("start", "end") and _SCHEDULE.fullmatch(text):
        return text
    if key in _EXPRESSIONS or (key.endswith(("Time", "Timestamp")) and _TIME.fullmatch(text)):
        return text
    return text if (key in _FIELDS or "/" in key or key.endswith(_VENDOR)) and _is_name(text) else REDACTED


def _object_text(text: str) -> str:
    """The text of an object or list without what no rule reads; REDACTED for any other text."""
    try:
        found = [each.value for each in reader.parse(text, source="")]
        if len(found) == 1 and isinstance(found[0], dict | list):
            given = found[0]
            kept = without_secrets(given) if isinstance(given, dict) else _without(given, _LISTED)
            # A comment is not part of the object.
            return text if kept == given and "#" not in text else orjson.dumps(kept).decode()
    except (errors.UsherError, orjson.JSONEncodeError):
        pass
    return REDACTED


_WORD: Final = re.compile(r"[^\s\"';|&<>,()`]+")
_SHELL: Final = frozenset({
    "!", "--", "-c", "-e", "-ec", "-env", "-f", "-genv", "-i", "-l", "-lc", "-m", "-n", "-np", "-o", "-u", "-x",
    ".", "/dev/null", ":", "=", "[", "[[", "]", "]]", "ash", "bash", "case", "cat", "catatonit", "cd", "chmod",
    "cp", "dash", "date", "do", "done", "dumb-init", "echo", "else", "env", "esac", "exec", "exit", "export",
    "false", "fi", "for", "hostname", "if", "in", "inf", "infinity", "ksh", "let", "ls", "mkdir", "mpiexec",
    "mpirun", "mv", "nohup", "nvidia-smi", "printf", "pwd", "python", "read", "rm", "rocm-smi", "set", "sh",
    "sleep", "source", "srun", "sudo", "tail", "test", "then", "time", "timeout", "tini", "trap", "true", "ulimit",
    "unset", "until", "wait", "while", "yes", "zsh", "{", "}",
})  # fmt: skip
"""Words of shells, and programs that only start or wait for others."""
_NUMBERS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,6})?[smhd]?|infinity")
_SMALL: Final = re.compile(r"[0-9]{1,3}", re.ASCII)
"""A number that commands may take from a variable, for example a parallel size; too short for a secret."""
_REFERENCE: Final = re.compile(r"\$(?:\(\w+\)|\{\w+\}|\w+)|\$\{?\(?")
_ASSIGNMENT: Final = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_FLAG: Final = re.compile(r"(--?[A-Za-z][\w.-]{0,60})(?:=(.*))?", re.DOTALL)
_READ_FLAGS: Final = re.compile(
    r"--(?:nproc|nnodes|nodes|num|node|tensor|pipeline|data|expert|context|model|tp|pp|dp|ep|sharded|world|machine"
    r"|distributed|gpus?|devices?|replicas?|port|host|rdzv|max|block|swap|dtype|enable|disable|quantization"
    r"|shutdown|timeout|graceful|exit)[\w-]{0,40}"
    r"|-(?:tp|pp|dp[abehlnr]?|pcp|ep|np|n|N|x|m|c|f|e|env|genv)"
)
"""Flags that stay; of others neither the name nor the value does."""
_MODEL: Final = re.compile(
    r"(?=(?:[^\s]{0,100}[-_/])?[0-9]{1,4}(?:\.[0-9]{1,2})?[bBmM](?:[-_.:]|$))(?:[a-z0-9]{1,10}://)?[A-Za-z0-9][\w./-]{0,120}",
    re.ASCII,
)
"""The name of a model with its size: `meta-llama/Llama-3.1-70B-Instruct-AWQ`."""
_PROGRAM_FOLDER: Final = re.compile(r"(?:/(?:usr|local|opt|bin|sbin|venv|conda|env|app))+/")


def _command(words: list[paths.Json]) -> paths.Json:
    return [_words(each) if isinstance(each, str) else _without(each, "") for each in words]


def _words(text: str) -> str:
    """A command or script with the words that rules read."""
    return REDACTED if len(text) > _LONGEST_TEXT else _WORD.sub(lambda found: _word(found.group()), text)


def _word(word: str) -> str:
    if word in _SHELL or _NUMBERS.fullmatch(word) or _REFERENCE.fullmatch(word) or word == REDACTED:
        return word
    if (flag := _FLAG.fullmatch(word)) is not None:
        return _flag(flag)
    if _ASSIGNMENT.fullmatch(word) is not None:
        return _assigned(word)
    if _is_program(word) or _MODEL.fullmatch(word) or (word.isupper() and _is_read(word)):
        return word
    folder, name = word.rpartition("/")[::2]
    if name != word and _PROGRAM_FOLDER.fullmatch(f"{folder}/") and (name in _SHELL or _is_program(name)):
        return word
    return REDACTED


def _flag(found: re.Match[str]) -> str:
    """A flag with its value, if rules read flags of the name."""
    name, value = found.groups()
    if not _READ_FLAGS.fullmatch(name) or _is_secret(name):
        return REDACTED
    if value is None:
        return name
    return f"{name}={value if _NUMBERS.fullmatch(value) or _REFERENCE.fullmatch(value) else _word(value)}"


def _assigned(text: str) -> str:
    """An assignment: the name stays, and the value of a variable that rules read."""
    found = _ASSIGNMENT.fullmatch(text)
    if found is None:
        return REDACTED
    name, value = found.groups()
    return text if not value or _is_read(name) or _SMALL.fullmatch(value) else f"{name}={REDACTED}"


def _patterns() -> Iterator[str]:
    """The words of commands by which usher knows programs, as patterns."""
    for family in model_servers.ALL:
        for command in family.commands:
            yield from (word for word in command.split() if len(word.replace("*", "")) > 1)


_PROGRAMS: Final = re.compile("|".join(sorted({fnmatch.translate(each) for each in _patterns()})))
_PYTHON: Final = re.compile(r"python[0-9.]{0,5}")


def _is_program(word: str) -> bool:
    """Whether usher knows a purpose by this word of a command."""
    return (
        len(word) <= _LONGEST_NAME
        and _is_name(word)
        and (_PYTHON.fullmatch(word) is not None or _PROGRAMS.match(word) is not None)
    )
