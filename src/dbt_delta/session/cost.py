"""What Spark's executors did for each node of a run.

Spark keeps the metrics of its last stages (1,000 by default) in the driver, with or without its web
page, and each job carries the label of the connection that asked for it. So nothing is measured a
second time: the figures are read in two calls when the run ends, and before Spark forgets them.
"""

import json
from contextlib import suppress
from typing import Any

from dbt_delta.session import spark

# Spark forgets jobs and stages beyond 1,000; a node has a few of them.
_MOST_JOBS = 200
_EACH_NODES = 8
_API = "org.apache.spark.status.api.v1."
# What is left of Spark's records.
_OF_STAGE = {
    "stageId": "id",
    "attemptId": "attempt",
    "executorCpuTime": "cpu",
    "inputBytes": "read",
    "outputBytes": "written",
    "shuffleWriteBytes": "shuffled",
    "diskBytesSpilled": "spilled",
}
_OF_JOB = ("jobId", "jobGroup", "stageIds")
FIGURES = ("cpu", "read", "written", "shuffled", "spilled")


class Meter:
    """The figures of one run, of jobs that begin after this object was made."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._jobs: dict[int, tuple[str, list[int]]] = {}
        self._stages: dict[tuple[int, int], dict[str, int]] = {}
        self._read_at = _jobs_so_far()
        self._nodes = 0

    def look(self) -> None:
        """Reads before Spark forgets; called after each node, and cheap. Never fails a node."""
        self._nodes += 1
        if self._nodes % _EACH_NODES:
            return
        with suppress(Exception):
            if _jobs_so_far() - self._read_at >= _MOST_JOBS:
                self._read()

    def by_name(self) -> dict[str, dict[str, float]]:
        """{name of a connection: {cpu, read, written, shuffled, spilled}}.

        ``cpu`` is in seconds of the executors, all else in bytes. A node's connection has its id.
        """
        if not _jobs_so_far():
            return {}
        spark._context().listenerBus().waitUntilEmpty()
        self._read()
        return summed(self._run, self._jobs, self._stages)

    def _read(self) -> None:
        context = spark._context()
        self._read_at = _jobs_so_far()
        jobs, stages = told(spark._root.sparkContext._jvm, context.statusStore())
        self._jobs.update(
            {job["jobId"]: (job.get("jobGroup", ""), job["stageIds"]) for job in jobs}
        )
        for stage in stages:
            own = {name: stage[key] for key, name in _OF_STAGE.items()}
            self._stages[own.pop("id"), own.pop("attempt")] = own


def summed(
    run: str, jobs: dict[int, tuple[str, list[int]]], stages: dict[tuple[int, int], dict[str, int]]
) -> dict[str, dict[str, float]]:
    """See ``Meter.by_name``.

    ``jobs`` are labels and stages by the job's number, ``stages`` figures by number and attempt,
    with ``cpu`` in nanoseconds. A stage that several jobs name was run by the first of them.
    """
    names: dict[int, str] = {}
    for job in sorted(jobs):
        label, numbers = jobs[job]
        name, found, _ = label.partition(f" {run} ")
        for number in numbers:
            names.setdefault(number, name if found else "")
    sums: dict[str, dict[str, float]] = {}
    for (number, _), figures in sorted(stages.items()):
        if name := names.get(number, ""):
            own = sums.setdefault(name, dict.fromkeys(FIGURES, 0))
            for key in FIGURES:
                own[key] += figures[key] / 1e9 if key == "cpu" else figures[key]
    return sums


def told(jvm: Any, store: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Jobs and ended stages as Spark's own REST service would write them, less what is large."""
    mapper = jvm.org.apache.spark.status.api.v1.JacksonMessageWriter().mapper()
    for record, kept in (("JobData", _OF_JOB), ("StageData", _OF_STAGE)):
        _keep(jvm, mapper, record, kept)
    status = jvm.org.apache.spark.status.api.v1.StageStatus
    ended = jvm.java.util.ArrayList()
    for one in (status.COMPLETE, status.FAILED):
        ended.add(one)
    gateway = spark._root.sparkContext._gateway
    none, any_task = gateway.new_array(jvm.double, 0), jvm.java.util.ArrayList()
    stages = store.stageList(ended, False, False, none, any_task)
    jobs = store.jobsList(None)
    return tuple(json.loads(mapper.writeValueAsString(found)) for found in (jobs, stages))


def _keep(jvm: Any, mapper: Any, record: str, kept: Any) -> None:
    """Makes a mapper leave out all other fields of a record: the accumulators are the most."""
    java = jvm.java.lang.Class.forName(_API + record)
    others = [f.getName() for f in java.getDeclaredFields() if f.getName() not in kept]
    names = spark._root.sparkContext._gateway.new_array(jvm.java.lang.String, len(others))
    for position, name in enumerate(others):
        names[position] = name
    ignored = jvm.com.fasterxml.jackson.annotation.JsonIgnoreProperties.Value
    mapper.configOverride(java).setIgnorals(ignored.forIgnoredProperties(names))


def _jobs_so_far() -> int:
    return 0 if spark._root is None else int(spark._context().dagScheduler().numTotalJobs())
