"""The files of an audit. Dumps of a cluster are read twice and never held; manifests are held, as they are few."""

from collections.abc import Iterable, Iterator, Sequence

from usher.dataclass import dataclass
from usher.scan import sources
from usher.scan.batches import Batch
from usher.scan.dumps import Survey, is_dump
from usher.scan.sources import File, Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files after the first reading."""

    survey: Survey
    """Their statements about the cluster."""
    together: Batch
    """What follows from all of them."""
    found: Sequence[Found]
    """In their order: the dumps as files, the others with their objects, settled."""

    @property
    def manifests(self) -> Sequence[Batch]:
        """The files that say something about each other, because they are applied together."""
        return [each for each in self.found if isinstance(each, Batch)]

    def batches(self) -> Iterator[Batch]:
        """All files in their order, settled; a dump is read once more when its turn comes."""
        for each in self.found:
            yield each if isinstance(each, Batch) else self.survey.settled(sources.load(each))


def read(found: Iterable[Found], *, survey: Survey) -> Files:
    """The files, which the survey has taken.

    Raises:
        InputError: they hold two clusters.
    """
    surveyed = [_surveyed(each, survey) for each in found]
    together = survey.finished()
    settled = [survey.settled(each) if isinstance(each, Batch) else each for each in surveyed]
    return Files(survey=survey, together=together, found=settled)


def _surveyed(found: Found, survey: Survey) -> Found:
    batch = sources.load(found)
    survey.add(batch)
    again = isinstance(found, File) and found.is_regular and is_dump(batch.items)
    return found if again else batch
