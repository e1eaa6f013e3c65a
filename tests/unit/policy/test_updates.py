"""UPDATEs: what a mutation gave stays, nothing new comes, and nothing that is mended on the pods is denied."""

import pytest
import yaml

import builders
from usher import model, paths
from usher.cluster.facts.store import Store
from usher.config import models
from usher.policy import assembly
from usher.policy.decision import Operation, Request
from usher.policy.evaluator import Evaluator
from usher.policy.mutation.editing import copied

CONFIG = models.Config.model_validate(
    yaml.safe_load("""
pools:
  - name: h100
    nodeSelector: {nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3}
    taints: [{key: nvidia.com/gpu, value: present}]
    fabric: rails
fabrics:
  rails: {env: {NCCL_IB_HCA: "=mlx5_0"}}
queues:
  - {namespaces: [queued], localQueue: gpus}
""")
)
OWN_TOLERATION: paths.Json = {"key": "team", "operator": "Exists"}


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    return assembly.embedded(CONFIG)


def manifest(*, replicas: int = 1) -> paths.Object:
    """A Deployment with a toleration of its own, so that `kubectl apply` writes the whole list anew."""
    template = builders.template(builders.container(gpus=1), tolerations=[OWN_TOLERATION])
    return builders.deployment(template, replicas=replicas)


def created(evaluator: Evaluator, value: paths.Object) -> paths.Object:
    return evaluator.mutate(Request(value=value)).value


def updated(evaluator: Evaluator, value: paths.Object, old_value: paths.Object) -> paths.Object:
    return evaluator.mutate(Request(value=value, old_value=old_value, operation=Operation.UPDATE)).value


def applied_again(value: paths.Object, old_value: paths.Object) -> paths.Object:
    """The object after the same manifest is applied again: annotations of others stay, lists do not."""
    result = copied(value)
    metadata, old_metadata = result["metadata"], old_value["metadata"]
    assert isinstance(metadata, dict)
    assert isinstance(old_metadata, dict)
    metadata["annotations"] = old_metadata["annotations"]
    return result


def test_what_an_apply_takes_away_is_given_back(evaluator: Evaluator) -> None:
    stored = created(evaluator, manifest())

    assert updated(evaluator, applied_again(manifest(), stored), stored) == stored


def test_what_a_replace_takes_away_is_given_back_with_its_record(evaluator: Evaluator) -> None:
    stored = created(evaluator, manifest())

    assert updated(evaluator, manifest(), stored) == stored


def test_the_variables_and_the_queue_of_a_job_are_given_back(evaluator: Evaluator) -> None:
    worker = builders.template(builders.container("pytorch", gpus=8))
    job = builders.pytorch_job(worker, workers=4, namespace="queued")
    stored = created(evaluator, job)
    assert stored != job

    assert updated(evaluator, job, stored) == stored


def without_ours(stored: paths.Object, *, tolerations: paths.Json) -> paths.Object:
    """The object after a tool has applied its own list again while usher did not answer."""
    return builders.replaced(stored, "/spec/template/spec/tolerations", tolerations)


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
@pytest.mark.parametrize("own", [[], [OWN_TOLERATION]])
def test_tolerations_that_an_apply_without_usher_took_away_come_back_with_the_next_update(
    evaluator: Evaluator, kind: str, own: paths.Json
) -> None:
    template = builders.template(builders.container(gpus=1), tolerations=own)
    stored = created(evaluator, {**builders.deployment(template, replicas=1), "kind": kind})
    lost = without_ours(stored, tolerations=own)
    labelled = builders.replaced(lost, "/metadata/labels", {"team": "nlp"})

    assert updated(evaluator, labelled, lost) == builders.replaced(stored, "/metadata/labels", {"team": "nlp"})


def test_a_job_whose_template_cannot_change_stays_as_it_is(evaluator: Evaluator) -> None:
    """The API server would refuse the label."""
    stored = created(evaluator, builders.job(builders.template(builders.container(gpus=1))))
    lost = without_ours(stored, tolerations=[OWN_TOLERATION])
    labelled = builders.replaced(lost, "/metadata/labels", {"team": "nlp"})

    assert updated(evaluator, labelled, lost) == labelled


def test_a_lost_toleration_that_is_switched_off_or_was_never_given_does_not_come(evaluator: Evaluator) -> None:
    stored = created(evaluator, manifest())
    lost = without_ours(stored, tolerations=[OWN_TOLERATION])
    unrecorded = builders.replaced(lost, "/metadata/annotations", {"gpu-usher.io/mutations": "queue-label"})
    rules: paths.Json = [{"mutation": "gpu-toleration", "action": "off"}]
    off = assembly.embedded(models.Config.model_validate({"mutations": {"rules": rules}}))

    assert updated(off, lost, lost) == lost
    assert updated(evaluator, unrecorded, unrecorded) == unrecorded


def test_a_template_that_tolerates_an_accelerator_taint_has_lost_nothing(evaluator: Evaluator) -> None:
    """A pool whose taint changed, or that is declared later, must not roll out what somebody scales."""
    stored = created(evaluator, manifest())
    taints = [{"key": "example.com/new"}]
    pools = [{"name": "new", "nodeSelector": {"pool": "new"}, "taints": taints}]
    later = assembly.embedded(models.Config.model_validate({"pools": pools}))

    assert updated(later, stored, stored) == stored


def test_an_object_from_before_the_webhooks_is_left_as_it_is(evaluator: Evaluator) -> None:
    old = manifest()
    new = manifest(replicas=5)

    assert updated(evaluator, new, old) == new


def test_an_update_gets_nothing_that_the_object_did_not_have(evaluator: Evaluator) -> None:
    """A pool that is declared later must not roll out every Deployment that somebody scales."""
    stored = created(assembly.embedded(models.Config()), manifest())
    changed = copied(stored)
    assert isinstance(changed["spec"], dict)
    changed["spec"]["replicas"] = 5

    assert updated(evaluator, changed, stored) == changed


def test_two_pools_with_one_taint_bring_nothing_new_either(evaluator: Evaluator) -> None:
    """Both ask for the same toleration, each for a reason of its own."""
    taints = [{"key": "example.com/new"}]
    pools = [{"name": name, "nodeSelector": {"pool": name}, "taints": taints} for name in ("a", "b")]
    later = assembly.embedded(models.Config.model_validate({"pools": pools}))
    stored = created(evaluator, manifest())
    changed = copied(stored)
    assert isinstance(changed["spec"], dict)
    template = changed["spec"]["template"]
    assert isinstance(template, dict)
    assert isinstance(template["spec"], dict)
    template["spec"].pop("affinity")

    assert updated(later, changed, stored) == changed


def outcomes(evaluator: Evaluator, value: paths.Object, operation: Operation) -> dict[str, model.Outcome]:
    decision = evaluator.decide(Request(value=value, operation=operation, old_value=builders.deployment()))
    return {judgement.code: judgement.outcome for judgement in decision.judgements}


def test_a_template_that_lacks_what_its_pods_are_given_is_warned_about_on_update(evaluator: Evaluator) -> None:
    assert outcomes(evaluator, manifest(), Operation.CREATE)["USH301"] is model.Outcome.DENY
    assert outcomes(evaluator, manifest(), Operation.UPDATE)["USH301"] is model.Outcome.WARN


def test_what_nothing_mends_is_denied_on_update_too(evaluator: Evaluator) -> None:
    bad = builders.deployment(builders.template(builders.container(gpus="0.5")))

    assert outcomes(evaluator, bad, Operation.UPDATE)["USH101"] is model.Outcome.DENY


def test_what_usher_yaml_has_switched_off_since_is_given_back() -> None:
    """A Job's template cannot change, so that taking the toleration away would refuse every later apply."""
    stored = created(assembly.embedded(models.Config()), manifest())
    rules: paths.Json = [{"mutation": "*", "action": "off"}]
    off = assembly.embedded(models.Config.model_validate({"mutations": {"rules": rules}}))

    assert created(off, manifest()) == manifest()
    assert updated(off, applied_again(manifest(), stored), stored) == stored


def test_what_is_missing_since_is_given_back(evaluator: Evaluator) -> None:
    worker = builders.template(builders.container("pytorch", gpus=8))
    job = builders.pytorch_job(worker, namespace="queued")
    stored = created(evaluator, job)
    other = builders.custom("kueue.x-k8s.io/v1beta2", "LocalQueue", {}, name="other", namespace="queued")
    without_queue = assembly.embedded(CONFIG, facts=Store.of([other]))

    merged = without_queue.mutate(Request(value=job))
    (skipped,) = [each for each in merged.skipped if each.warned]
    assert skipped.reason == "LocalQueue queued/gpus does not exist"
    assert "labels" not in str(merged.value["metadata"])
    assert updated(without_queue, applied_again(job, stored), stored) == stored


def test_what_its_author_refuses_by_an_update_is_taken_away() -> None:
    opt_outs: paths.Json = [{"mutations": ["*"], "namespaces": ["*"]}]
    lenient = assembly.embedded(models.Config.model_validate({"mutations": {"optOuts": opt_outs}}))
    stored = created(lenient, manifest())
    refusing = builders.deployment(
        builders.template(builders.container(gpus=1), tolerations=[OWN_TOLERATION]),
        replicas=1,
        annotations={"gpu-usher.io/skip-mutations": "*"},
    )

    assert updated(lenient, refusing, stored) == refusing


def pod(*, scheduled: bool = False) -> paths.Object:
    """With lists of its own, which `kubectl apply` writes anew."""
    own = builders.node_affinity(builders.term(builders.expression("kubernetes.io/os", "In", "linux")))
    made = builders.pod(builders.container(gpus=1), tolerations=[OWN_TOLERATION], affinity=own)
    if not scheduled:
        return made
    bound = builders.replaced(made, "/spec/nodeName", "gpu-0")
    return builders.replaced(bound, "/status", {"conditions": [{"type": "PodScheduled", "status": "True"}]})


@pytest.mark.parametrize("scheduled", [False, True])
def test_an_apply_takes_nothing_out_of_the_lists_of_a_pod(evaluator: Evaluator, *, scheduled: bool) -> None:
    """The API server would refuse it: tolerations and affinity of a pod can only grow."""
    given = created(evaluator, pod())
    spec, placed = given["spec"], pod(scheduled=scheduled)
    assert isinstance(spec, dict)
    assert isinstance(placed["spec"], dict)
    stored = {**placed, "metadata": given["metadata"], "spec": {**placed["spec"], **spec}}

    assert updated(evaluator, applied_again(placed, stored), stored)["spec"] == stored["spec"]


def test_an_update_beside_the_spec_of_a_pod_is_nothing_to_us(evaluator: Evaluator) -> None:
    stored = created(evaluator, pod())
    labelled = builders.replaced(stored, "/metadata/labels", {"team": "nlp"})

    assert updated(evaluator, labelled, stored) == labelled


def wrapped(field: str, *, gpus: int = 1) -> paths.Object:
    """An AppWrapper, whose definition takes any field in the objects that it wraps."""
    container = builders.container(gpus=gpus)
    renamed = {field if key == "resources" else key: value for key, value in container.items()}
    template = builders.template(renamed)
    return builders.custom(
        "workload.codeflare.dev/v1beta2", "AppWrapper", {"components": [{"template": builders.job(template)}]}
    )


def unread_keys(evaluator: Evaluator, request: Request) -> list[model.Outcome]:
    found = evaluator.decide(request).judgements
    return [each.outcome for each in found if each.finding.check == "objects/deciding_key_unread"]


def test_the_webhook_denies_a_misspelt_key_that_the_api_server_keeps(evaluator: Evaluator) -> None:
    assert unread_keys(evaluator, Request(value=wrapped("resource"), place="admission")) == [model.Outcome.DENY]
    assert unread_keys(evaluator, Request(value=wrapped("resources"), place="admission")) == []


def test_an_old_misspelt_key_does_not_block_a_change(evaluator: Evaluator) -> None:
    old, new = wrapped("resource"), wrapped("resource", gpus=2)
    request = Request(value=new, old_value=old, operation=Operation.UPDATE, place="admission")
    assert unread_keys(evaluator, request) == [model.Outcome.WARN]
