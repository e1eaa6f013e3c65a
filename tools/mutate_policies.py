"""Changes every condition of every policy, one at a time, and asks whether a test notices. Run it as scripts/mutants.

If no test notices a change, the condition has no effect or a test is missing; the run prints each of these changes.
Changes that do not compile, or that the type checker refuses, do not count. Git keeps the results in
tests/data/mutants.json, and the run tries only policies whose result may have changed; mutation_records.py says when.
The run writes each result at once, so you can interrupt it, and the next run continues.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import build_policies
import change_rego
import mutation_records
import mutation_trials
from mutation_records import Record

_ONE_CORE: Final = {"GOMAXPROCS": "1", "GOGC": "400"}
"""For opa: several run side by side, each for less than a second, with little to collect."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--opa", type=Path, required=True)
    parser.add_argument("--policies", type=Path, required=True)
    parser.add_argument("--records", type=Path, required=True, help="the results that git keeps")
    parser.add_argument("--threshold", type=float, default=95.0, help="per cent of the changes that tests must notice")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="policies that are tried at the same time")
    parser.add_argument("--all", action="store_true", help="try the policies too whose result cannot have changed")
    parser.add_argument("keys", nargs="*", help="category/name of checks and mutations, lib/name of libraries; or all")
    arguments = parser.parse_args()
    policies: Path = arguments.policies
    everything = dict(mutation_trials.sources(policies))
    missing = set(arguments.keys).difference(everything)
    if missing:
        sys.exit(f"there is no policy {', '.join(sorted(missing))}")
    wanted = {key: source for key, source in everything.items() if key in arguments.keys or not arguments.keys}
    digests = mutation_records.Digests(policies, opa_version=build_policies.opa_version(arguments.opa))
    current = {key: digests.of(source) for key, source in wanted.items()}
    records = {key: record for key, record in mutation_records.read(arguments.records).items() if key in everything}
    due = [key for key in wanted if arguments.all or key not in records or records[key].digest != current[key]]
    for key, (changes, unnoticed) in tried(arguments.opa, policies, {key: wanted[key] for key in due}, arguments.jobs):
        records[key] = Record(digest=current[key], changes=changes, unnoticed=unnoticed)
        mutation_records.write(arguments.records, records)
    mutation_records.write(arguments.records, records)
    noticed = report({source: records[key] for key, source in wanted.items()})
    print(f"{len(due)} of these policies were tried now; the results of the others still hold")
    sys.exit(noticed < arguments.threshold)


def tried(
    opa: Path, policies: Path, wanted: Mapping[str, Path], jobs: int
) -> Iterator[tuple[str, tuple[int, list[str]]]]:
    """By key, how many changes of a policy compile, and those that no test notices; as soon as each is done."""
    with ThreadPoolExecutor(jobs) as pool:
        # Libraries take longest, and so come first.
        keys = sorted(wanted, key=lambda key: wanted[key].parent.name != mutation_trials.LIBRARY)
        running = {pool.submit(survivors, opa, policies, wanted[key]): key for key in keys}
        try:
            for done in as_completed(running):
                yield running[done], done.result()
        finally:
            pool.shutdown(cancel_futures=True)


def report(results: Mapping[Path, Record]) -> float:
    """Prints the changes that no test notices, and returns how many per cent of all changes tests do notice."""
    changes = sum(record.changes for record in results.values())
    unnoticed = [f"{source}: {change}" for source, record in results.items() for change in record.unnoticed]
    print("\n".join(unnoticed))
    noticed = 100.0 if changes == 0 else 100 * (changes - len(unnoticed)) / changes
    print(f"{changes} changes in {len(results)} policies, tests notice {noticed:.1f} % of them")
    return noticed


def survivors(opa: Path, policies: Path, source: Path) -> tuple[int, list[str]]:
    """How many changes of a policy compile, and those that no test notices."""
    made = 0
    unnoticed: list[str] = []
    with tempfile.TemporaryDirectory() as directory:
        trial = mutation_trials.prepare(policies, source, Path(directory))
        if not all(passes(opa, command) for command in (trial.check, *trial.tests)):
            # Otherwise every change would seem to be noticed.
            sys.exit(f"{source}: its tests fail without a change; see scripts/rego")
        for mutant in change_rego.mutants(opa, source):
            trial.rule.write_text(mutant.text, encoding="utf-8")
            if not passes(opa, trial.check):
                continue
            made += 1
            if all(passes(opa, test) for test in trial.tests):
                unnoticed.append(f"{mutant.before!r} -> {mutant.after!r}")
    return made, unnoticed


def passes(opa: Path, command: Sequence[str]) -> bool:
    environment = {**os.environ, **_ONE_CORE}
    return subprocess.run([opa, *command], check=False, capture_output=True, env=environment).returncode == 0


if __name__ == "__main__":
    main()
