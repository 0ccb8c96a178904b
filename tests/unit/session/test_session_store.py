"""What Java says of a store, in words for users; what a local folder costs: nothing."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from dbt_delta.session import store

SETTINGS = {"spark.hadoop.fs.s3a.endpoint.region": "us-east-1"}


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            "AccessDeniedException: (Service: S3, Status Code: 403): RequestTimeTooSkewed: The "
            "difference between the request time and the current time is too large.",
            "the clock of this machine differs from the store's by more than it allows. Set the "
            "clock (RequestTimeTooSkewed)",
        ),
        (
            "AWSBadRequestException: AuthorizationHeaderMalformed: the region 'us-east-1' is wrong",
            "it is in another region than us-east-1. Set AWS_REGION (AuthorizationHeaderMalformed)",
        ),
        (
            "AccessDeniedException: (Service: S3, Status Code: 403, Request ID: 1)",
            "these keys, or this user, may not write there (AccessDenied)",
        ),
        (
            'UnsupportedFileSystemException: No FileSystem for scheme "abfss"',
            "its JARs are not there. ./run setup s3a installs those of s3a:// "
            "(No FileSystem for scheme)",
        ),
        ("a\nsomething else", "something else"),
    ],
)
def test_a_reason_and_a_way_out(said: str, reason: str) -> None:
    assert store._reason("s3a://lake/warehouse", SETTINGS, said) == reason


@pytest.mark.parametrize("place", ["", "/var/warehouse", "file:/var/warehouse", "file:///w h"])
def test_a_folder_of_this_machine_is_not_asked(place: str) -> None:
    store.check(None, {store.WAREHOUSE: place})  # type: ignore[arg-type]


def test_the_log_store_is_that_of_the_very_scheme() -> None:
    """Delta looks it up by the scheme of the address, and has one of its own for each."""
    root, ours = MagicMock(), {store.LOG_STORE: store.OURS}
    said = store._problem(root, "s3://lake/warehouse", ours)
    assert f"Set spark.delta.logStore.s3.impl to {store.OURS} in the profile" in said
    assert store._log_store_problem(root, "s3a://lake/warehouse", ours) == ""
    assert store._log_store_problem(root, "hdfs://name/warehouse", {}) == ""


class Asked:
    """A session with its warehouse on this machine, and what a bucket does with a second file."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
        self.files: list[str] = []
        self.refuses = True
        monkeypatch.setattr(store, "_asked", set())
        monkeypatch.setattr(store, "_create", self.create)
        self.spark = MagicMock()
        self.spark.conf.get = settings.get
        self.spark.sparkContext.getConf().getAll = settings.items
        self.spark._jvm.org.apache.hadoop.fs.Path = lambda place, name: MagicMock(text=place)

    def create(self, system: Any, path: Any, owner: str) -> bool:
        self.files.append(path.text)
        return not self.refuses or path.text not in self.files[:-1]


def test_the_bucket_of_a_table_is_asked_as_that_of_the_warehouse_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours = {store.WAREHOUSE: "s3a://lake/warehouse", store.LOG_STORE: store.OURS}
    asked = Asked(monkeypatch, ours)
    for place in ("/lake/marts", "hdfs://name/marts", "s3a://lake/marts"):
        store.check_place(asked.spark, place)
    assert asked.files == []
    for place in ("s3a://other/a", "s3a://other/b"):
        store.check_place(asked.spark, place)
    assert asked.files == ["s3a://other/a"] * 2
    asked.refuses = False
    with pytest.raises(ValueError, match="location_root s3a://third/a: it ignores If-None-Match"):
        store.check_place(asked.spark, "s3a://third/a")


def test_a_bucket_without_our_log_store_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch, {store.WAREHOUSE: "/warehouse"})
    with pytest.raises(
        ValueError, match=r"two processes .* lose commits. Set spark.delta.logStore.s3a"
    ):
        store.check_place(asked.spark, "s3a://lake/marts")
    assert asked.files == []


def test_jars_of_stores_go_behind_what_the_user_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "FOLDER", tmp_path)
    monkeypatch.delenv(store.CLASS_PATH, raising=False)
    assert store.class_path() == {}
    for name in ("s3a", "abfss"):
        (tmp_path / name).mkdir()
    ours = f"{tmp_path}/abfss/*{os.pathsep}{tmp_path}/s3a/*"
    assert store.class_path() == {store.CLASS_PATH: ours}
    monkeypatch.setenv(store.CLASS_PATH, "/theirs/*")
    assert store.class_path() == {store.CLASS_PATH: f"/theirs/*{os.pathsep}{ours}"}
