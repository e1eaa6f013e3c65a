"""Kueue's configuration is read from the text of its ConfigMap, with a problem for each error in it."""

from usher.authorities.kueue import flavors as kueue_configuration
from usher.authorities.kueue.flavors import Configuration
from usher.model.placement import selector_matches

KUEUE = {"kubernetes.io/metadata.name": "kueue-system"}


def test_an_empty_configuration_has_the_defaults() -> None:
    found = kueue_configuration.read_configuration("apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n")

    assert found.known
    assert found.problems == ()
    assert found.frameworks == ("batch/job",)
    assert (found.excluded_prefixes, dict(found.transformations), found.ignores_undeclared) == ((), {}, False)
    assert selector_matches(found.namespace_selector, KUEUE) is False
    assert selector_matches(found.namespace_selector, {"kubernetes.io/metadata.name": "research"}) is True


def test_frameworks_and_the_namespaces_that_are_managed_are_read() -> None:
    found = kueue_configuration.read_configuration(
        """
        integrations:
          frameworks: [pod, kubeflow.org/pytorchjob]
          externalFrameworks: [HyperPodPyTorchJob.v1.sagemaker.amazonaws.com]
        manageJobsWithoutQueueName: true
        managedJobsNamespaceSelector: {matchLabels: {team: research}}
        """
    )

    assert found.frameworks == ("pod", "kubeflow.org/pytorchjob")
    assert found.external_frameworks == ("HyperPodPyTorchJob.v1.sagemaker.amazonaws.com",)
    assert found.queues_unlabelled
    assert found.namespace_selector == {"matchLabels": {"team": "research"}}


def test_device_classes_of_whole_devices_are_mapped() -> None:
    found = kueue_configuration.read_configuration(
        """
        resources:
          deviceClassMappings:
          - {name: gpus, deviceClassNames: [gpu.nvidia.com, big.nvidia.com]}
          - {name: memory, deviceClassNames: [mig.nvidia.com], sources: [{counter: {name: memory}}]}
        """
    )

    assert dict(found.device_classes) == {"gpu.nvidia.com": "gpus", "big.nvidia.com": "gpus"}
    assert found.mapped_classes == {"gpu.nvidia.com", "big.nvidia.com", "mig.nvidia.com"}


def test_a_problem_names_the_place_of_an_unreadable_value() -> None:
    found = kueue_configuration.read_configuration(
        """
        integrations: {frameworks: batch/job}
        resources: {transformations: [{input: a, outputs: {b: many}}]}
        """
    )

    frameworks, factor = found.problems
    assert frameworks == "ConfigMap kueue-manager-config, integrations.frameworks: expected a list, found a string"
    assert factor.startswith("ConfigMap kueue-manager-config, resources.transformations[0].outputs.b: 'many' is not")


def test_text_that_is_not_yaml_is_a_problem_and_raises_no_error() -> None:
    bomb = "a: &a [x, x]\n" + "".join(
        f"b{n}: &b{n} [{', '.join(['*a' if n == 0 else f'*b{n - 1}'] * 20)}]\n" for n in range(12)
    )

    for text in ("{", "[]", "- 1", "\x00", bomb):
        assert kueue_configuration.read_configuration(text).problems, text
    assert kueue_configuration.read_configuration("") == kueue_configuration.read_configuration("{}")
    assert kueue_configuration.read_configuration(None) == Configuration(
        problems=("ConfigMap kueue-manager-config contains no configuration",)
    )
