"""What a start refuses before anything runs, and what it hands to Spark."""

from pathlib import Path

import pytest

from dbt_delta.server import ServerError, daemon, settings, thrift

PROFILE = {"spark.master": "local[*]", "spark.driver.memory": "100m"}
OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without a server, whose profile has these settings and no others."""
    monkeypatch.setenv("DBT_DELTA_HOME", str(tmp_path))
    monkeypatch.delenv("SPARK_MASTER", raising=False)
    monkeypatch.setenv("DBT_DELTA_PORT", str(daemon.free_port()))
    monkeypatch.setattr(settings, "of_profile", lambda: {**PROFILE, OPTIONS: "-Da=b"})
    return tmp_path


@pytest.mark.parametrize(
    ("conf", "port", "host", "said"),
    [
        ("spark.driver.memory 900g", None, None, "too little memory: a heap of 900g"),
        ("spark.driver.memory much", None, None, "is an amount such as 2g. Got: 'much'"),
        ("", "high", None, "DBT_DELTA_PORT is a port, 1 to 65535. Got: 'high'"),
        ("", "65536", None, "DBT_DELTA_PORT is a port, 1 to 65535. Got: '65536'"),
        (None, None, None, "/server.conf: No such file or directory"),
        ("what is this", None, None, "line 1: not a Spark property"),
        ("", None, "0.0.0.0", "lets other machines in"),
    ],
)
def test_it_is_refused_and_leaves_nothing(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    conf: str | None,
    port: str | None,
    host: str | None,
    said: str,
) -> None:
    path = home / "server.conf"
    if conf is not None:
        path.write_text(conf)
    if port is not None:
        monkeypatch.setenv("DBT_DELTA_PORT", port)
    with pytest.raises(ServerError) as refused:
        thrift.start(path, None, host, None)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not (home / "metastore").exists()
    assert not list(home.glob("server/*.json"))


def test_a_driver_without_memory_ends(home: Path) -> None:
    """It would do no work any more, and hold up all who wait for it."""
    wanted = thrift._settings(None, None, None)
    assert wanted[OPTIONS] == "-Da=b -XX:+ExitOnOutOfMemoryError"
