"""What Java says of a store, in words for users; what a local folder costs: nothing."""

import os
from pathlib import Path

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
