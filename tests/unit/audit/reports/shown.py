"""The HTML of a page, and the words that its readers see."""

import re

from usher.audit.document import Audit
from usher.audit.reports import audit_page


def page(audit: Audit) -> str:
    return audit_page.text(audit)


def words(html: str) -> str:
    """The text of the page without its data, style and program."""
    shown = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", html, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", shown))


def section(html: str, name: str) -> str:
    return words(re.findall(rf'<section id="{name}".*?</section>', html, re.DOTALL)[0])
