"""The workloads of the synthetic cluster. Each is a small story that a report has to find."""

from enum import StrEnum
from typing import Final

from usher.audit.demo.nodes import GPU
from usher.dataclass import dataclass


class Rhythm(StrEnum):
    """How the activity of a workload changes."""

    STEADY = "steady"
    OFFICE_HOURS = "office hours"
    """Busy from 8 to 18 o'clock UTC on working days, almost idle at other times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """One workload. `wanted` pods ask for `devices` of `resource` each; `running` of them have a node of `pool`."""

    kind: str
    """Job, PyTorchJob, Deployment, StatefulSet or Notebook."""
    namespace: str
    name: str
    pool: str
    resource: str = GPU
    devices: int = 1
    wanted: int = 1
    running: int = 1
    age_hours: int = 200
    waiting_hours: int = 0
    """How many hours ago the other pods began to wait."""
    activity: float = 0.0
    """Mean activity of its boards while they are busy, from 0 to 1."""
    rhythm: Rhythm = Rhythm.STEADY
    memory: float = 0.5
    """Largest share of the memory of a board that it uses."""
    image: str = "registry.example.com/ml/pytorch:2.9"
    queue: str = ""
    priority: str = ""
    suspended: bool = False
    """Kueue has not admitted it: it has no pods yet."""
    careless: bool = False
    """It requests GPUs without a toleration, CPU or memory, like many first drafts."""


STORIES: Final = (
    Story(
        kind="PyTorchJob", namespace="llm-pretrain", name="atlas-70b", pool="h100", devices=8, wanted=8, running=8,
        age_hours=270, activity=0.88, memory=0.93, queue="pretraining", priority="training",
    ),
    Story(
        kind="Job", namespace="llm-pretrain", name="eval-suite", pool="h100", devices=8, wanted=4, running=0,
        age_hours=26, waiting_hours=26, queue="pretraining", priority="training", suspended=True,
    ),
    Story(
        kind="PyTorchJob", namespace="vision", name="detector-sweep", pool="a100", devices=8, wanted=4, running=2,
        age_hours=77, waiting_hours=77, activity=0.02, memory=0.06,
    ),
    Story(
        kind="Notebook", namespace="vision", name="alice", pool="a100", age_hours=412, activity=0.01, memory=0.07,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Notebook", namespace="vision", name="bob", pool="a100", age_hours=290, activity=0.02, memory=0.11,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Notebook", namespace="vision", name="chen", pool="a100", age_hours=91, activity=0.0, memory=0.02,
        image="registry.example.com/jupyter/pytorch:4.4",
    ),
    Story(
        kind="Deployment", namespace="vision", name="labeling-api", pool="l40s", wanted=4, running=4, age_hours=900,
        activity=0.44, rhythm=Rhythm.OFFICE_HOURS, memory=0.42, image="registry.example.com/vision/serve:7",
        priority="inference",
    ),
    Story(
        kind="PyTorchJob", namespace="speech", name="whisper-tune", pool="a100", devices=4, wanted=4, running=4,
        age_hours=58, activity=0.72, memory=0.81, queue="research", priority="training",
    ),
    Story(
        kind="StatefulSet", namespace="speech", name="notebook-dana", pool="h100", devices=2, age_hours=530,
        activity=0.0, memory=0.03, image="registry.example.com/jupyter/pytorch:4.4", careless=True,
    ),
    Story(
        kind="Job", namespace="speech", name="tts-export", pool="h100", devices=16, running=0, age_hours=49,
        waiting_hours=49,
    ),
    Story(
        kind="Deployment", namespace="search", name="ranker", pool="l40s", wanted=6, running=6, age_hours=1400,
        activity=0.61, rhythm=Rhythm.OFFICE_HOURS, memory=0.66, image="registry.example.com/search/triton:25.10",
        priority="inference",
    ),
    Story(
        kind="Deployment", namespace="search", name="embedder", pool="a100", wanted=2, running=2, age_hours=640,
        activity=0.09, memory=0.1, image="registry.example.com/search/embed:3", priority="inference",
    ),
    Story(
        kind="Deployment", namespace="search", name="spelling", pool="h100-mig", resource="nvidia.com/mig-1g.10gb",
        wanted=5, running=5, age_hours=640, activity=0.07, memory=0.09, image="registry.example.com/search/spell:12",
        priority="inference",
    ),
    Story(
        kind="Job", namespace="search", name="reindex", pool="h100-mig", resource="nvidia.com/mig-2g.20gb", wanted=2,
        running=0, age_hours=120, waiting_hours=120,
    ),
    Story(
        kind="Job", namespace="robotics", name="sim-batch", pool="a100", wanted=8, running=8, age_hours=30,
        activity=0.65, memory=0.34, image="registry.example.com/robotics/sim:31", queue="research",
    ),
    Story(
        kind="Deployment", namespace="robotics", name="viewer", pool="h100", age_hours=700, activity=0.04, memory=0.05,
        image="registry.example.com/robotics/viewer:2", careless=True,
    ),
)  # fmt: skip

TEAMS: Final = {
    "llm-pretrain": "foundation",
    "vision": "vision",
    "speech": "speech",
    "search": "search",
    "robotics": "robotics",
}
"""The team of each namespace, as in its label."""
