"""Findings about the coverage of usher's webhooks, and about other webhooks that block."""

from typing import Final

from usher.audit.standing.catalogue.entry import Entry

ENTRIES: Final = (
    Entry(
        code="USA050",
        name="webhooks-missing",
        title="usher judges nothing in this cluster",
        severity="high",
        category="coverage",
        why="No webhook of usher is registered, so every workload comes in unjudged.",
        remedy="Once a server answers: usher manifests webhooks | kubectl apply -f -",
        source="docs/operations.md",
    ),
    Entry(
        code="USA051",
        name="kind-not-covered",
        title="No webhook rule of usher covers a kind that makes pods",
        severity="high",
        category="coverage",
        why="Workloads of this kind come in unjudged; only their pods may be judged later.",
        remedy="Print the webhooks again with this version: usher manifests webhooks",
        source="docs/workloads.md",
    ),
    Entry(
        code="USA052",
        name="namespace-not-covered",
        title="usher's webhooks leave out a namespace with accelerators",
        severity="high",
        category="coverage",
        why="Workloads of the namespace come in unjudged.",
        remedy="Change the namespaceSelector of the webhook, or the labels of the namespace.",
        source="docs/domain/webhooks.md#configuration",
    ),
    Entry(
        code="USA053",
        name="exempt-namespace",
        title="An exempt namespace has accelerators",
        severity="medium",
        category="coverage",
        why="No rule holds for its workloads.",
        remedy="Remove the label of the namespace, or its entry in usher.yaml, where no operator needs it.",
        source="docs/configuration.md",
    ),
    Entry(
        code="USA054",
        name="webhook-timeouts",
        title="Webhooks together may take longer than a request",
        severity="medium",
        category="coverage",
        why="If they do not answer, the API server gives up the request before it calls the last of them.",
        remedy="Shorten their timeoutSeconds, the longest first, or narrow their rules.",
        source="docs/domain/webhooks.md#failures",
    ),
    Entry(
        code="USA055",
        name="webhook-blocks-recovery",
        title="A webhook fails closed on what it needs to come back",
        severity="high",
        category="coverage",
        why="After a failure of its own server, or of nodes, the cluster cannot heal without a person.",
        remedy="Let it fail open there, or exclude these objects by its selectors.",
        source="docs/domain/webhooks.md#failures",
    ),
)
