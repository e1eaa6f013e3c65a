"""Prints the provenance of an image as an in-toto statement with SLSA's predicate, for `scripts/image`.

It is not signed. The fields are those of https://slsa.dev/spec/v1.0/provenance.
"""

import argparse
import hashlib
import json
import subprocess
import tarfile
from datetime import UTC, datetime
from pathlib import Path

BUILD_TYPE = "https://gpu-usher.io/build/image/v1"
SOURCES = ("Containerfile", "scripts/image", "policies/policy.wasm")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--archive", type=Path, required=True, help="the OCI archive")
    parser.add_argument("--base", type=Path, required=True, help="the archive of the base's files")
    parser.add_argument("--name", required=True, help="of the image")
    parser.add_argument("--version", required=True)
    parser.add_argument("--lock", type=Path, required=True, help="the lock file of its Python packages")
    print(json.dumps(_statement(parser.parse_args()), indent=2))


def _statement(given: argparse.Namespace) -> dict[str, object]:
    sources = [Path(each) for each in SOURCES]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": f"{given.name}:{given.version}", "digest": {"sha256": _manifest_digest(given.archive)}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"name": given.name, "version": given.version},
                "resolvedDependencies": [
                    {"uri": f"git+commit:{_git('rev-parse', 'HEAD')}", "annotations": {"changed": _changed()}},
                    {"uri": "file:base.tar", "digest": {"sha256": _sha256(given.base)}},
                    *({"uri": f"file:{each}", "digest": {"sha256": _sha256(each)}} for each in [*sources, given.lock]),
                ],
            },
            "runDetails": {
                "builder": {"id": "https://gpu-usher.io/build/scripts/image"},
                "metadata": {"finishedOn": datetime.now(UTC).isoformat(timespec="seconds")},
            },
        },
    }


def _manifest_digest(archive: Path) -> str:
    with tarfile.open(archive) as tar:
        index = tar.extractfile("index.json")
        if index is None:
            raise SystemExit(f"{archive}: index.json is not a file; build the image again")
        digest: str = json.load(index)["manifests"][0]["digest"]
    return digest.removeprefix("sha256:")


def _changed() -> bool:
    """Whether files differ from the commit, so that the commit alone does not make this image."""
    return bool(_git("status", "--porcelain", "--untracked-files=no"))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


if __name__ == "__main__":
    main()
