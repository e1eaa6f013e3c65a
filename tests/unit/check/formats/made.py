"""Reports made by hand, so that the formats are tested without the checks that fill them."""

from collections import Counter
from collections.abc import Sequence
from datetime import date

from msgspec.structs import replace

from usher import model, paths
from usher.check import devices as scan_devices
from usher.check import findings as check_findings
from usher.policy.mutation.editing import Operation
from usher.policy.mutation.merge import Merged, Skipped

GPU = "nvidia.com/gpu"
WORKER = check_findings.PodSet(name="Worker", pods=model.Count(minimum=8, maximum=8))


def place(line: int, text: str, marked: str) -> check_findings.Place:
    """Where `marked` stands in a line."""
    column = text.index(marked) + 1
    excerpt = check_findings.Excerpt(text=text, column=column, end_column=column + len(marked))
    return check_findings.Place(line=line, column=column, end_column=column + len(marked), excerpt=excerpt)


LIMIT = place(41, '                  nvidia.com/gpu: "4"', '"4"')


def finding(
    message: str = "container pytorch of Worker: nvidia.com/gpu requests 8, limits 4",
    *,
    outcome: model.Outcome = model.Outcome.DENY,
    code: str = "USH103",
    name: str = "gpu-requests-equal-limits",
    remedy: str = "set both to the same number",
    because: str = "",
    path: str = "/spec/pytorchReplicaSpecs/Worker/template/spec/containers/0/resources/limits/nvidia.com~1gpu",
    at: check_findings.Place | None = LIMIT,
    pod_set: check_findings.PodSet | None = WORKER,
) -> check_findings.Finding:
    found = model.Finding(check=f"resources/{name.replace('-', '_')}", path=path, message=message, remedy=remedy)
    judgement = model.Judgement(finding=found, outcome=outcome, code=code, name=name, because=because)
    return check_findings.Finding(judgement=judgement, place=at, pod_set=pod_set)


def toleration_missing(**changes: check_findings.Place | None) -> check_findings.Finding:
    return finding(
        "Worker does not tolerate the taint nvidia.com/gpu",
        outcome=model.Outcome.WARN,
        code="USH301",
        name="gpu-toleration-present",
        remedy="tolerate nvidia.com/gpu with operator Exists",
        because="no node pools are declared in usher.yaml",
        path="/spec/pytorchReplicaSpecs/Worker/template/spec",
        at=changes.get("at", place(33, "        spec:", "spec")),
    )


def added() -> check_findings.Finding:
    """A finding about a field that the webhook adds."""
    path = "/spec/pytorchReplicaSpecs/Worker/template/spec/priorityClassName"
    found = finding(
        "Worker has priority class lost, which does not exist",
        outcome=model.Outcome.WARN,
        code="USH621",
        name="class-unknown",
        remedy="create it",
        path=path,
        at=place(33, "        spec:", "spec"),
    )
    return replace(found, added=True)


def not_judged(
    reason: str, *, path: str, check: str = "", at: check_findings.Place | None = None
) -> check_findings.NotJudged:
    return check_findings.NotJudged(unknown=model.Unknown(path=path, reason=reason, check=check), place=at)


def result(
    *findings: check_findings.Finding,
    source: str = "jobs/bert.yaml",
    line: int = 1,
    kind: str = "PyTorchJob",
    namespace: str = "ml-research",
    name: str = "bert",
    pods: model.Count = WORKER.pods,
    accelerators: scan_devices.Devices | None = None,
    unknowns: Sequence[check_findings.NotJudged] = (),
    exemption: str = "",
    change: check_findings.Change | None = None,
) -> check_findings.Result:
    return check_findings.Result(
        source=source,
        line=line,
        identity=check_findings.Identity(api_version="kubeflow.org/v1", kind=kind, namespace=namespace, name=name),
        role=model.Role.TRAINING,
        pods=pods,
        accelerators={GPU: scan_devices.Amount(number=72)} if accelerators is None else accelerators,
        findings=findings,
        not_judged=tuple(unknowns),
        exemption=exemption,
        change=change,
    )


def made(
    *results: check_findings.Result,
    command: check_findings.Command = check_findings.Command.CHECK,
    origin: str = "",
    failures: Sequence[check_findings.Failure] = (),
    problems: Sequence[check_findings.Problem] = (),
    notes: Sequence[check_findings.Note] = (),
    not_evaluated: Sequence[check_findings.NotEvaluated] = (),
    exceptions: Sequence[check_findings.ExceptionUse] = (),
    configuration: str = "",
    admitted: bool = True,
    diff: bool = False,
    owned: int = 0,
    ignored: int = 0,
) -> check_findings.Report:
    """A report whose totals fit its results."""
    outcomes = [each.judgement.outcome for one in results for each in one.findings]
    return check_findings.Report(
        command=command,
        version="1.2.3",
        configuration=check_findings.Configuration(source=configuration, preset="recommended"),
        origin=origin,
        admitted=admitted,
        diff=diff,
        results=results,
        failures=tuple(failures),
        problems=tuple(problems),
        notes=tuple(notes),
        exceptions=tuple(exceptions),
        not_evaluated=tuple(not_evaluated),
        totals=check_findings.Totals(
            files=len({one.source for one in results}),
            objects=len(results) + len(failures) + owned,
            workloads=len(results),
            pods=scan_devices.total(scan_devices.Amount(number=one.pods.maximum or 0) for one in results),
            accelerators=_summed(results),
            accelerators_with_errors=_summed([one for one in results if one.worst is model.Outcome.DENY]),
            errors=outcomes.count(model.Outcome.DENY),
            warnings=outcomes.count(model.Outcome.WARN),
            notes=outcomes.count(model.Outcome.AUDIT),
            exempt=sum(bool(one.exemption) for one in results),
            exemptions=Counter(one.exemption for one in results if one.exemption),
            owned=owned,
            ignored=ignored,
        ),
    )


def _summed(results: Sequence[check_findings.Result]) -> scan_devices.Devices:
    resources = sorted({resource for one in results for resource in one.accelerators})
    return {
        resource: scan_devices.total(one.accelerators.get(resource, scan_devices.Amount()) for one in results)
        for resource in resources
    }


def full(command: check_findings.Command = check_findings.Command.CHECK) -> check_findings.Report:
    """One of everything that a report can hold."""
    second = place(57, '                  nvidia.com/gpu: "2"', '"2"')
    key = not_judged("expected a mapping, found a text", path="/spec/template/spec", at=place(9, "    spec: x", "x"))
    found = made(
        result(
            finding(),
            finding("container sidecar of Worker: nvidia.com/gpu requests 1, limits 2", at=second),
            toleration_missing(),
            added(),
        ),
        result(source="jobs/fine.yaml", name="fine", accelerators={GPU: scan_devices.Amount(number=24)}),
        result(
            finding(
                "no label team",
                outcome=model.Outcome.AUDIT,
                code="USH901",
                name="team-label",
                remedy="",
                at=place(2, "kind: Job", "Job"),
                pod_set=None,
            ),
            source="jobs/more.yaml",
            line=12,
            kind="Job",
            namespace="team-b",
            name="tune",
            pods=model.Count(minimum=1, maximum=None, reason="grows with its input"),
            accelerators={"nvidia.com/mig-1g.10gb": scan_devices.Amount(number=1, unbounded=True)},
            unknowns=[key],
        ),
        result(source="jobs/more.yaml", line=40, namespace="kube-system", name="exempt", exemption="it is exempt"),
        command=command,
        configuration="usher.yaml",
        failures=[
            check_findings.Failure(
                source="jobs/slow.yaml",
                line=3,
                identity=check_findings.Identity(api_version="v1", kind="Pod", namespace="team-b", name="slow"),
                reason="the policy engine took longer than 1 s",
            )
        ],
        problems=[
            check_findings.Problem(
                source="jobs/broken.yaml", line=7, column=3, reason="the quote that opens here never closes"
            )
        ],
        notes=[check_findings.Note(source="charts/llm", reason="a Helm chart, whose templates usher does not render")],
        not_evaluated=[
            check_findings.NotEvaluated(
                check="placement/gpu_node_affinity_present",
                code="USH302",
                name="gpu-node-affinity-present",
                reason="usher.yaml declares no node pool that offers what the pods ask for",
                workloads=2,
            )
        ],
        exceptions=[
            excused(check_findings.ExceptionState.USED, ticket="OPS-1", findings=2),
            excused(check_findings.ExceptionState.UNUSED, ticket="OPS-2"),
            excused(check_findings.ExceptionState.EXPIRED, ticket="OPS-3"),
        ],
        owned=3,
        ignored=2,
    )
    is_check = command is check_findings.Command.CHECK
    return replace(found, without_fields={"Training (example.com/v1)": 2}) if is_check else found


def excused(state: check_findings.ExceptionState, *, ticket: str, findings: int = 0) -> check_findings.ExceptionUse:
    """An exception of usher.yaml for the check privileged-container."""
    return check_findings.ExceptionUse(
        checks=("privileged-container",),
        namespaces=("legacy-*",),
        ticket=ticket,
        owner="team-vision",
        expires=date(2027, 3, 31),
        state=state,
        findings=findings,
    )


def intent(mutation: str, field: str, value: paths.Json, reason: str, *, at: str = "") -> model.Intent:
    return model.Intent(mutation=mutation, at=at, field=field, value=value, reason=reason)


def merged(after: paths.Object, toleration: paths.Object) -> Merged:
    """An added toleration, an intent that is skipped for each of three reasons, and two that disagree."""
    operations: list[Operation] = [{"op": "add", "path": "/spec/tolerations", "value": [toleration]}]
    topology: paths.Object = {
        "volume": {"name": "usher-nccl-topology", "configMap": {"name": "nccl-topology"}},
        "mountPath": "/etc/nccl-topo.xml",
        "subPath": "nccl-topo.xml",
        "variable": {"name": "NCCL_TOPO_FILE", "value": "/etc/nccl-topo.xml"},
    }

    return Merged(
        value=after,
        operations=tuple(operations),
        applied=(intent("placement/gpu_toleration", "toleration", toleration, "nodes of pool h100 carry it"),),
        skipped=(
            Skipped(
                intent=intent(
                    "fabric/nccl_environment",
                    "environment",
                    {"name": "NCCL_DEBUG", "value": "WARN"},
                    "fabric infiniband",
                    at="/spec/containers/0",
                ),
                reason="the user set another value",
            ),
            Skipped(
                intent=intent("fabric/topology_file", "mount", topology, "fabric infiniband", at="/spec/containers/0"),
                reason="ConfigMap ml/nccl-topology does not exist",
                warned=True,
            ),
            Skipped(
                intent=intent("gang/other_routing", "schedulerName", {"name": "kai"}, "team label"),
                reason="it is off unless usher.yaml says apply",
                off=True,
            ),
        ),
        warnings=(model.Note(mutation="gang/other_routing", at="", reason="no gang is made of a Pod"),),
        conflicts=(
            (
                intent("gang/volcano_routing", "schedulerName", {"name": "volcano"}, "namespace simulation-a"),
                intent("gang/other_routing", "schedulerName", {"name": "kai"}, "team label"),
            ),
        ),
    )


def changed(*, diff: bool) -> check_findings.Report:
    """A workload that the webhook would change, with an intent that it would skip and two that disagree."""
    before: paths.Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "notebook"},
        "spec": {
            "containers": [{"name": "main", "image": "jupyter", "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}],
            "restartPolicy": "Never",
        },
    }
    toleration: paths.Object = {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
    spec = before["spec"]
    assert isinstance(spec, dict)
    after: paths.Object = {**before, "spec": {**spec, "tolerations": [toleration]}}
    names = {
        "placement/gpu_toleration": "gpu-toleration",
        "fabric/nccl_environment": "nccl-environment",
        "gang/volcano_routing": "volcano-routing",
        "gang/other_routing": "other-routing",
        "fabric/topology_file": "topology-file",
    }
    places = {"": "the pod", "/spec/containers/0": "container main"}
    change = check_findings.Change(before=before, merged=merged(after, toleration), names=names, places=places)
    one = model.Count(minimum=1, maximum=1)
    return made(
        result(
            source="pod.yaml",
            kind="Pod",
            name="notebook",
            pods=one,
            accelerators={GPU: scan_devices.Amount(number=1)},
            change=change,
        ),
        diff=diff,
    )
