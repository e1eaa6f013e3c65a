"""The policies that a command names: the site's own checks and Gatekeeper policies, in files or bundles."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from usher import errors
from usher.extensions.own_checks.folders import Compiler
from usher.extensions.policy_archive import VerifyKey
from usher.policy.checks.catalogue import OwnChecks


class Bundle(Struct, frozen=True, kw_only=True):
    """The content of a bundle. With a key, its signature is already verified."""

    source: str
    content: bytes


class Given(Struct, frozen=True, kw_only=True):
    """The arguments of `--policies`, divided."""

    own_folders: tuple[Path, ...] = ()
    own_bundles: tuple[Bundle, ...] = ()
    files: tuple[str, ...] = ()
    """Files and directories with policies of Gatekeeper."""
    bundles: tuple[Bundle, ...] = ()
    """Bundles with policies of Gatekeeper."""

    @property
    def of_gatekeeper(self) -> bool:
        return bool(self.files or self.bundles)


def divided(arguments: Sequence[str], *, key: VerifyKey | None = None) -> Given:
    """The policies by their kind.

    Args:
        key: the owner of this key must have signed all of them, so all must be bundles.

    Raises:
        InputError: a bundle cannot be read, or is not signed by the owner of the key.
    """
    if not arguments:
        return Given()
    from usher.extensions import policy_archive
    from usher.extensions.own_checks import folders as own_check_bundles

    own_folders, own_bundles, files, of_gatekeeper = list[Path](), list[Bundle](), list[str](), list[Bundle]()
    for argument in dict.fromkeys(arguments):
        content = _archive(argument)
        if content is None and key is not None:
            raise errors.InputError(
                f"{argument}: is not a bundle, so it cannot be signed, and a key to verify was given; build a bundle "
                "with `usher policies build --sign-key`"
            )
        if content is None:
            if _is_own(argument):
                own_folders.append(Path(argument))
            else:
                files.append(argument)
            continue
        if key is not None:
            policy_archive.verify(content, key, source=argument)
        found = Bundle(source=argument, content=content)
        (own_bundles if own_check_bundles.is_own_bundle(content, source=argument) else of_gatekeeper).append(found)
    return Given(
        own_folders=tuple(own_folders),
        own_bundles=tuple(own_bundles),
        files=tuple(files),
        bundles=tuple(of_gatekeeper),
    )


def own_checks(given: Given, *, compiler: "Callable[[], Compiler]") -> list[OwnChecks]:
    """The own checks among them, compiled. If all are in bundles, it needs no compiler.

    Raises:
        InputError: a check is wrong, or a bundle is damaged or of another version.
        BundleError: METADATA are wrong.
    """
    if not (given.own_folders or given.own_bundles):
        return []
    from usher.extensions.own_checks import folders

    read = [folders.read_folder(folder) for folder in given.own_folders]
    compile_ = compiler().compiled if read else None
    made = [compile_(folder) for folder in read] if compile_ else []
    return [*made, *(folders.read_bundle(each.content, source=each.source) for each in given.own_bundles)]


def _is_own(argument: str) -> bool:
    from usher.extensions.own_checks import folders

    try:
        return folders.is_folder(Path(argument))
    except (OSError, ValueError):
        return False


def _archive(argument: str) -> bytes | None:
    """The content of a bundle; None for other files and unreadable ones, which usher reports elsewhere."""
    from usher.extensions import policy_archive

    file = Path(argument)
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            start = stream.read(4)
            if not policy_archive.is_archive(start):
                return None
            return start + stream.read(policy_archive.LARGEST + 1 - len(start))
    except (OSError, ValueError):
        return None
