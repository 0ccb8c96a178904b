"""S3 in the driver that all tests share: what the check says, and what Delta's log store does."""

from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from dbt_delta.session import folders, store
from dbt_delta.stream import checkpoint
from tests.functional import harness
from tests.functional.stores import serving

ENDPOINT = "spark.hadoop.fs.s3a.endpoint"
PLACE = f"s3a://{serving.BUCKET}/{serving.ODD}"


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Generator[serving.Store, None, None]:
    with serving.s3(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def settings(home: Path, s3: serving.Store) -> dict[str, str]:
    """Those of a profile that reaches the store; the JVM has no keys in its environment."""
    return {
        **harness.settings(),
        store.WAREHOUSE: PLACE,
        ENDPOINT: s3.environment["AWS_ENDPOINT_URL"],
        "spark.hadoop.fs.s3a.path.style.access": "true",
        "spark.hadoop.fs.s3a.access.key": "testing",
        "spark.hadoop.fs.s3a.secret.key": "testing",
        "spark.hadoop.fs.s3a.aws.credentials.provider": (
            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"
        ),
    }


@pytest.fixture
def said(settings: dict[str, str]) -> Callable[..., str]:
    """What the check says about other settings than the good ones."""

    def ask(**changes: str) -> str:
        names = {"place": store.WAREHOUSE, "endpoint": ENDPOINT, store.LOG_STORE: store.LOG_STORE}
        other = {names.get(k, f"spark.hadoop.fs.s3a.{k}"): v for k, v in changes.items()}
        with pytest.raises(ValueError, match=r"^Store \S+://") as caught:
            store.check(harness.session(), {**settings, **other})
        assert "\n" not in str(caught.value)
        return str(caught.value).partition(": ")[2]

    return ask


def test_what_is_wrong_is_one_line(said: Callable[..., str], s3: serving.Store) -> None:
    assert said(place="s3a://nowhere/x") == (
        "there is no nowhere. Create it, or correct DBT_DELTA_STORE (UnknownStoreException)"
    )
    assert said(endpoint="http://127.0.0.1:9") == (
        "no answer at http://127.0.0.1:9. Start it, or correct the address (ConnectException)"
    )
    provider = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider"
    assert said(**{"aws.credentials.provider": provider}) == (
        "there are no keys. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY "
        "(NoAuthWithAWSException)"
    )
    assert said(place="s4://lake/x").startswith("its JARs are not there. ./run setup s3a installs ")
    # The catalog of this driver is that of a folder; the store has no file then.
    assert "the catalog of this home was made for file:/" in said()
    assert "its JARs are not there" in said(**{store.LOG_STORE: "dbt_delta.NoSuchLogStore"})
    assert "two processes that write one table lose commits" in said(**{store.LOG_STORE: ""})


def test_wrong_keys_and_keys_that_may_not_write(
    said: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The bucket is made without keys; from then on they are looked at.
    with serving.s3(tmp_path, {"INITIAL_NO_AUTH_ACTION_COUNT": "1"}) as strict:
        assert said(endpoint=strict.environment["AWS_ENDPOINT_URL"]) == (
            "the keys in the environment are wrong, or have expired (InvalidAccessKeyId)"
        )


def test_the_bucket_of_a_table_beside_the_warehouse_is_asked(
    settings: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_asked", set())
    session = harness.session().newSession()
    for key, value in settings.items():
        if key.startswith("spark.hadoop.fs."):
            session.conf.set(key.removeprefix("spark.hadoop."), value)
    store.check_place(session, f"{PLACE}/marts")
    place = session._jvm.org.apache.hadoop.fs.Path(f"{PLACE}/marts", store.PROBE)
    conf = store.hadoop_conf(session, settings)
    assert place.getFileSystem(conf).exists(place)
    with pytest.raises(ValueError, match=r"location_root s3a://nowhere/x: there is no nowhere"):
        store.check_place(session, "s3a://nowhere/x")


def test_a_commit_is_written_once(settings: dict[str, str]) -> None:
    jvm = harness.session()._jvm
    conf = store.hadoop_conf(harness.session(), settings)
    path = jvm.org.apache.hadoop.fs.Path(f"{PLACE}/t/_delta_log", f"{0:020d}.json")
    log = jvm.dbt_delta.S3LogStore(conf)

    def write(*lines: str, overwrite: bool = False) -> None:
        log.write(path, jvm.java.util.ArrayList(list(lines)).iterator(), overwrite, conf)

    def read() -> list[str]:
        found, lines = log.read(path, conf), []
        while found.hasNext():
            lines.append(found.next())
        return lines

    write("ours", "é 5%20")
    with pytest.raises(Exception, match="FileAlreadyExistsException"):
        write("theirs")
    assert read() == ["ours", "é 5%20"]
    # An answer that was lost: the same commit again is this commit.
    write("ours", "é 5%20")
    write("checkpoint", overwrite=True)
    assert read() == ["checkpoint"]


def test_folders_of_a_schema_with_odd_names(home: Path, tmp_path: Path) -> None:
    session = harness.session()
    place = tmp_path / "wäre house 5%20"
    session.sql(f"create schema odd location 'file:{place}'")
    (place / "left").mkdir(parents=True)
    try:
        found: dict[str, Any] = folders.unknown(session, "odd", [])
        assert found == {"left": f"file:{place}/left"}
        assert checkpoint.place(session, "odd", "m") == f"file:{place}/_dbt_delta_streams/m"
    finally:
        session.sql("drop schema odd")
