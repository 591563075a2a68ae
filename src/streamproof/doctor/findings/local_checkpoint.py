"""A checkpoint on the disk of one machine, while the job runs on a cluster."""

import re
from collections.abc import Iterator

from streamproof.config.places import is_remote
from streamproof.doctor.finding import Code, Place, Severity, Symptom
from streamproof.doctor.mistake import Mistake, Way
from streamproof.doctor.patient import Part, Patient
from streamproof.doctor.text.checkpoints import mentioned

_LOCAL = re.compile(r"local(?:\[.*\])?(?:-cluster\[.*\])?")
_OWN_DISK = re.compile(r"(?:spark|k8s)://.*")
"""Masters where a path without a scheme is most often a disk of each machine's own; on YARN it is in HDFS."""


def _by_configuration(patient: Patient) -> Iterator[Symptom]:
    master, path = patient.bound.spark.get("spark.master", ""), patient.bound.checkpoint
    if master and not _LOCAL.fullmatch(master) and not is_remote(path):
        yield _symptom(master, path, patient.key("job", "checkpoint"))


def _by_text(patient: Patient) -> Iterator[Symptom]:
    master = patient.settings.get("spark.master", "")
    if not master or _LOCAL.fullmatch(master) or patient.config is not None:
        return
    for program in patient.programs:
        for mention in mentioned(program):
            path = mention.text or ""
            if path.startswith("file:") or (path and not is_remote(path) and _OWN_DISK.fullmatch(master)):
                yield _symptom(master, path, program.place(mention.node))


def _symptom(master: str, path: str, where: Place) -> Symptom:
    return Symptom(
        Severity.WARN,
        "The job runs on a cluster, and its checkpoint is a path of this machine.",
        where,
        "A path in HDFS or an object store (hdfs://, s3a://, abfss://), or a disk that every machine mounts at the same place.",
        f"the master is {master}, the checkpoint {path}",
    )


LOCAL_CHECKPOINT = Mistake(
    Code.LOCAL_CHECKPOINT,
    "a local checkpoint on a cluster",
    "Executors write state to their own disks, and a driver that starts on another machine finds nothing: the job begins anew.",
    (Way((Part.CONFIGURATION,), _by_configuration), Way((Part.TEXT,), _by_text)),
)
