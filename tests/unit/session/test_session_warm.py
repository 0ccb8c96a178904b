"""What a kept Spark must have in common with the next command, and who may talk to its keeper."""

import json
import os
import shutil
import socket
import threading
from pathlib import Path

import pytest

from dbt_delta.home import write_private
from dbt_delta.session import spark, warm


@pytest.mark.parametrize(
    ("text", "expected"), [("15m", 900), ("30S", 30), (" 2h ", 7200), ("off", 0), ("", 0), ("0", 0)]
)
def test_times(monkeypatch: pytest.MonkeyPatch, text: str, expected: int) -> None:
    monkeypatch.delenv(warm.VARIABLE, raising=False)
    assert warm.seconds({warm.SETTING: text}) == expected
    monkeypatch.setenv(warm.VARIABLE, "7s")
    assert warm.seconds({warm.SETTING: text}) == 7
    monkeypatch.setenv(warm.VARIABLE, "off")
    assert warm.seconds({warm.SETTING: "5m"}) == 0


@pytest.mark.parametrize("text", ["15", "m", "0m", "1 m", "-5m", "on", "1d", "123456s"])
def test_unknown_times_are_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(warm.VARIABLE, text)
    with pytest.raises(ValueError, match=rf"'{text}'. Write a time such as"):
        warm.seconds({})


def test_identity(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    jar = tmp_path / "a.jar"
    jar.write_bytes(b"1")
    settings = {"spark.a": "1", warm.SETTING: "5m"}

    def now(**changed: str) -> str:
        return warm.identity({**settings, **changed}, [tmp_path])

    known = {now()}
    assert now(**{warm.SETTING: "15m"}) in known
    for name in ("TERM", "SSH_TTY", "DBT_SCHEMA", warm.VARIABLE, "COLUMNS"):
        monkeypatch.setenv(name, "other")
    assert now() in known

    def is_new(found: str) -> bool:
        is_known = found in known
        known.add(found)
        return not is_known

    assert is_new(now(**{"spark.a": "2"}))
    for name in ("AWS_SECRET_ACCESS_KEY", "DBT_DELTA_HOME", "TZ", "JAVA_HOME"):
        monkeypatch.setenv(name, "another")
        assert is_new(now()), name
    jar.write_bytes(b"12")
    assert is_new(now())
    os.utime(jar, ns=(1, 1))
    assert is_new(now())
    monkeypatch.chdir(tmp_path)
    assert is_new(now())


def about_keeper(port: int, metastore: Path, key: str) -> dict[str, object]:
    place = {"port": port, "key": key, "keeper": 1}
    return {"identity": "i", "database": warm.database(metastore), **place}


@pytest.mark.parametrize(("theirs", "is_admitted"), [("right", True), ("wrong", False)])
def test_both_sides_prove_that_they_know_the_key(
    tmp_path: Path, theirs: str, is_admitted: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        answers: list[object] = []

        def keep() -> None:
            try:
                connection = warm.admit(listener.accept()[0], "right")
                answers.append(warm.hear(connection, 10))
                warm.tell(connection, port=1, secret="s", pid=os.getpid())
            except Exception as error:
                answers.append(error)

        keeper = threading.Thread(target=keep)
        keeper.start()
        path = warm.record(tmp_path / "metastore")
        about = about_keeper(listener.getsockname()[1], tmp_path / "metastore", theirs)
        write_private(path, json.dumps(about))
        assert path.stat().st_mode & 0o777 == 0o600
        place = warm.attach(tmp_path / "metastore", "i")
        keeper.join()
    assert (place is not None) == is_admitted
    assert (answers == [{"ask": "attach"}]) == is_admitted
    assert path.exists() == is_admitted


def test_an_impostor_on_the_port_is_not_believed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def pretend() -> None:
            connection = warm.Connection(listener.accept()[0].detach())
            connection.send_bytes(b"#CHALLENGE#" + b"x" * 20)
            connection.recv_bytes()
            connection.send_bytes(b"#WELCOME#")
            connection.recv_bytes()
            connection.send_bytes(b"guess")
            connection.recv_bytes()

        threading.Thread(target=pretend, daemon=True).start()
        path = warm.record(tmp_path / "metastore")
        path.write_text(json.dumps(about_keeper(listener.getsockname()[1], path, "k")))
        assert warm.attach(tmp_path / "metastore", "i") is None


def test_nobody_and_a_dead_keeper(tmp_path: Path) -> None:
    metastore = tmp_path / "metastore"
    assert warm.attach(metastore, "i") is None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for text in (json.dumps(about_keeper(port, metastore, "k")), "{"):
        warm.record(metastore).write_text(text)
        assert warm.attach(metastore, "i") is None
        assert not warm.record(metastore).exists()


def test_a_stranger_who_says_nothing_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "PROOF_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        for said in (b"", b"\0\0\0\x40half"):
            with socket.create_connection(listener.getsockname()) as stranger:
                stranger.sendall(said)
                with pytest.raises((EOFError, OSError)):
                    warm.admit(listener.accept()[0], "key")


def test_a_metastore_that_was_removed_or_restored_is_another_one(tmp_path: Path) -> None:
    metastore, copy = tmp_path / "metastore", tmp_path / "copy"
    assert warm.database(metastore) == []
    metastore.mkdir()
    (metastore / "service.properties").write_text("derby")
    first = warm.database(metastore)
    assert first == warm.database(metastore) != []
    shutil.copytree(metastore, copy)
    shutil.rmtree(metastore)
    copy.rename(metastore)
    assert warm.database(metastore) != first
    with socket.create_server(("127.0.0.1", 0)) as listener:
        asked: list[object] = []

        def keep() -> None:
            asked.append(warm.hear(connection := warm.admit(listener.accept()[0], "k"), 10))
            warm.tell(connection, ended=True)

        keeper = threading.Thread(target=keep)
        keeper.start()
        about = about_keeper(listener.getsockname()[1], metastore, "k")
        write_private(warm.record(metastore), json.dumps({**about, "database": first}))
        assert warm.attach(metastore, "i") is None
        keeper.join()
    assert asked == [{"ask": "end"}]


def test_all_that_a_jvm_reads_when_it_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("conf", "hadoop", "classes/deep", "lib"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path / "hadoop"))
    settings = {
        "spark.driver.extraClassPath": f"{tmp_path}/lib/*:{tmp_path}/classes:{tmp_path}/one.jar",
        "spark.jars": f"file://{tmp_path}/two.jar,{tmp_path}/three.jar,s3a://b/four.jar",
        "spark.archives": f"{tmp_path}/five.zip#name",
    }
    known = set()
    for name in (
        *("conf/spark-defaults.conf", "hadoop/core-site.xml", "classes/deep/A.class", "lib/a.jar"),
        *("one.jar", "two.jar", "three.jar", "five.zip"),
    ):
        known.add(warm.identity(settings, spark._read_at_start(settings)))
        (tmp_path / name).write_text("changed")
        assert warm.identity(settings, spark._read_at_start(settings)) not in known, name
