"""The checks and the preset that a person chooses for one run, in place of those of usher.yaml."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from usher import errors
from usher.config import models, selection
from usher.policy import decision, excused_findings
from usher.policy.checks.catalogue import Catalogue, Entry

SELECT: Final = "--select"
IGNORE: Final = "--ignore"


class RuleChoice(Struct, frozen=True, kw_only=True):
    """The options --select, --ignore and --preset. Without any of them, usher.yaml decides alone."""

    selected: tuple[str, ...]
    """Codes, names and categories of the only checks that judge; empty for all."""
    ignored: tuple[str, ...]
    """Codes, names and categories of checks that do not judge, also if they are selected."""
    preset: str | None
    """The preset instead of that of usher.yaml."""

    def applied(self, config: models.Config, entries: Catalogue, *, judging: bool = True) -> models.Config:
        """The configuration with this choice. The chosen checks have the outcome that usher.yaml or the preset gives.

        It has no exception whose checks are all left out: nothing says whether an object needs it.

        Raises:
            InputError: a word names no check; or, where the checks judge, all selected checks are off.
        """
        if not (self.selected or self.ignored or self.preset):
            return config
        found = config.enforcement
        out = self.left_out(entries)
        keys = {each.key for each in out}
        judged = [each for key, each in entries.checks.items() if key not in keys]
        chosen = models.Enforcement.model_construct(
            **{
                **dict(found),
                "preset": self.preset or found.preset,
                "rules": [*found.rules, *(models.EnforcementRule(check=each.code, action="off") for each in out)],
                "exceptions": [
                    rule
                    for rule in found.exceptions
                    if any(excused_findings.exception_names_check(rule, each) for each in judged)
                ],
            }
        )
        if self.selected and judging:
            _require_some(self.selected, _keys(SELECT, self.selected, entries), chosen, entries)
        return config.model_copy(update={"enforcement": chosen})

    def left_out(self, entries: Catalogue) -> list[Entry]:
        """The checks that this choice leaves out, in the order of the catalogue.

        Raises:
            InputError: a word names no check.
        """
        ignored = _keys(IGNORE, self.ignored, entries)
        selected = _keys(SELECT, self.selected, entries) if self.selected else entries.checks.keys()
        return [each for key, each in entries.checks.items() if key in ignored or key not in selected]

    def why_off(self, entry: Entry, entries: Catalogue) -> str:
        """The option that leaves a check out; empty if no option does."""
        if entry.key in _keys(IGNORE, self.ignored, entries):
            return IGNORE
        if self.selected and entry.key not in _keys(SELECT, self.selected, entries):
            return SELECT
        return ""

    def describe(self) -> str:
        """The options as a person writes them; empty without any."""
        named = ((SELECT, self.selected), (IGNORE, self.ignored))
        return " ".join(f"{option} {word}" for option, words in named for word in words)


NO_CHOICE: Final = RuleChoice(selected=(), ignored=(), preset=None)


def why_on_or_off(entry: Entry, config: models.Config, choice: RuleChoice, entries: Catalogue) -> str:
    """The option, rule of usher.yaml or preset that decides about a check everywhere."""
    if option := choice.why_off(entry, entries):
        return option
    rules = config.enforcement.rules
    words = decision.check_words(entry)
    deciding = (number for number, rule in enumerate(rules) if rule.check in words and "*" in rule.namespaces)
    if (number := max(deciding, default=None)) is not None:
        return f"enforcement.rules[{number}]"
    preset = choice.preset or config.enforcement.preset
    if entry.strict_only and preset != "strict":
        return f"preset {preset}; only strict has it"
    return f"preset {preset}"


def _keys(option: str, words: Sequence[str], entries: Catalogue) -> set[str]:
    return {key for word in words for key in _keys_of_option(option, word, entries)}


def _keys_of_option(option: str, word: str, entries: Catalogue) -> Iterator[str]:
    keys = [key for key in entries.named(word) if key in entries.checks]
    if not keys:
        known = {name for each in entries.checks.values() for name in (each.code, each.name, each.category)}
        meant = selection.nearest_word(word, known) or "; `usher policies list` names them"
        raise errors.InputError(f"{option}: no check or category is called {word}{meant}")
    yield from keys


def _require_some(words: Sequence[str], keys: set[str], enforcement: models.Enforcement, entries: Catalogue) -> None:
    """Raises InputError if no selected check judges anywhere: the run would pass without a judgement."""
    for key in keys:
        entry = entries.checks[key]
        rules = [rule for rule in enforcement.rules if rule.check in decision.check_words(entry)]
        everywhere = max((number for number, rule in enumerate(rules) if "*" in rule.namespaces), default=None)
        preset = decision.outcome_of_preset(entry, enforcement.preset) is not decision.OFF
        last = rules[everywhere].action != "off" if everywhere is not None else preset
        later = rules[everywhere + 1 :] if everywhere is not None else rules
        if last or any(rule.action != "off" for rule in later):
            return
    raise errors.InputError(
        f"{SELECT} {' '.join(words)}: these checks are off, so nothing would be judged; --preset strict has all of "
        "them, unless usher.yaml switches them off"
    )
