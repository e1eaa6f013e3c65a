"""Prints the manifest of the plugin `kubectl usher` for krew, from the archive of scripts/pyz.

tools/krew_manifest.py --archive build/kubectl-usher-linux-amd64.tar.gz --from URL

The format: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/. The plugin is not in krew's index;
`kubectl krew install --manifest=usher.yaml` installs it.
"""

import argparse
import hashlib
import tomllib
from pathlib import Path
from typing import Any, Final

import release_notes
import yaml

PYPROJECT: Final = Path(__file__).parents[1] / "pyproject.toml"


def main() -> None:
    parser = argparse.ArgumentParser(description="Print the manifest of the plugin for krew.")
    parser.add_argument("--archive", type=Path, required=True, help="kubectl-usher-OS-ARCH.tar.gz of scripts/pyz")
    parser.add_argument("--from", dest="folder", required=True, help="the URL of the folder that serves the archive")
    arguments = parser.parse_args()
    print(yaml.safe_dump(manifest(arguments.archive, arguments.folder), sort_keys=False), end="")


def manifest(archive: Path, folder: str) -> dict[str, Any]:
    """The manifest for one archive."""
    project = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]
    system, arch = archive.name.removesuffix(".tar.gz").split("-")[-2:]
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "usher", "annotations": {"artifacthub.io/license": project["license"]}},
        "spec": {
            "version": f"v{release_notes.version()}",
            "homepage": project["urls"]["Homepage"],
            "shortDescription": "Ask a gpu-usher server about GPU workloads",
            "description": (
                "Shows what the admission policies of gpu-usher in your cluster would decide about a manifest, when "
                "its workloads could start, what a check means, and what a GPUQuota has left.\n"
            ),
            "caveats": "It needs the python3 that it was built for, and a server with `usher serve --portal`.\n",
            "platforms": [
                {
                    "selector": {"matchLabels": {"os": system, "arch": arch}},
                    "uri": f"{folder}/{archive.name}",
                    "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
                    "bin": "kubectl-usher",
                }
            ],
        },
    }


if __name__ == "__main__":
    main()
