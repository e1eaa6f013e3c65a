"""Finds texts that usher does not edit: templates, and texts with line ends that editors read differently."""

import re
from typing import Final

# Argo, KServe and Tekton also write {{ }}, and resolve it in the cluster. Only Helm and Jinja use these forms.
_HELM: Final = re.compile(
    rb"\{\{-|-\}\}|\{\{\s*(?:/\*|\$|(?:if|else|end|range|with|define|block|template|include|toYaml|tpl)\b"
    rb"|\.(?:Values|Release|Chart|Capabilities|Files|Template|Subcharts)\b)"
)
_JINJA: Final = re.compile(rb"\{%-?\s*(?:if|for|set|raw|macro|include|import|block|extends)\b")
_ODD_LINE_END: Final = re.compile("\r(?!\n)|[\x85\u2028\u2029]")


def why_not(content: bytes) -> str:
    """Why usher does not edit a file; empty if it may."""
    for pattern, name in ((_HELM, "Helm"), (_JINJA, "Jinja")):
        if found := pattern.search(content):
            line = content.count(b"\n", 0, found.start()) + 1
            return f"the file is a template for {name} (line {line}), and usher edits no templates; change it by hand"
    return ""


def why_odd(text: str) -> str:
    """Why usher does not edit a document; empty if it may."""
    if found := _ODD_LINE_END.search(text):
        return f"the character U+{ord(found[0]):04X} ends lines for some programs only; save the text with line feeds"
    return ""
