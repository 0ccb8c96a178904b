"""What a server's settings may be; a start that refuses them is in tests/functional/server."""

from pathlib import Path

import pytest

from dbt_delta.server import ServerError, settings
from dbt_delta.session import properties, spark

HIVE = settings.HIVE
LOCAL = {settings.HOST: "127.0.0.1"}
OPEN = {settings.HOST: "0.0.0.0"}
LDAP = {settings.AUTHENTICATION: "LDAP", f"{HIVE}authentication.ldap.url": "ldap://127.0.0.1:1"}
CUSTOM = {settings.AUTHENTICATION: "CUSTOM", f"{HIVE}custom.authentication.class": "org.Login"}


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    path = tmp_path / "server.conf"
    path.touch(0o600)
    return path


def keystore(folder: Path, mode: int) -> dict[str, str]:
    path = folder / "server.p12"
    path.touch()
    path.chmod(mode)
    return {settings.USE_TLS: "true", settings.KEYSTORE: str(path)}


def test_a_file_of_properties_as_spark_reads_it(conf):
    text = "# note\n! note\n\nspark.a b c\nspark.d=e\nspark.f: g\n  spark.h   =  i  \n"
    conf.write_text(text + "spark.j k\\\\l\\=m\n")
    assert settings.of_file(conf) == {
        "spark.a": "b c",
        "spark.d": "e",
        "spark.f": "g",
        "spark.h": "i",
        "spark.j": "k\\l=m",
    }


@pytest.mark.parametrize("line", ["spark.a", "hive.a b", "what is this"])
def test_a_line_that_is_none(conf, line):
    conf.write_text(f"spark.a b\n{line}\n")
    with pytest.raises(ServerError, match="line 2: not a Spark property and its value"):
        settings.of_file(conf)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(ServerError, match="No such file or directory"):
        settings.of_file(tmp_path / "none")


def test_a_secret_is_for_its_owner_only(conf):
    conf.write_text(f"{HIVE}keystore.password clear\n")
    assert settings.of_file(conf) == {f"{HIVE}keystore.password": "clear"}
    conf.chmod(0o644)
    with pytest.raises(ServerError, match=r"others can read it \(mode 644\): chmod 600 it"):
        settings.of_file(conf)
    conf.write_text(f"{HIVE}keystore.password ${{env.KEYSTORE_PASSWORD}}\n")
    assert settings.of_file(conf)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (OPEN, f"lets other machines in, but {HIVE}authentication NONE has"),
        ({**OPEN, settings.AUTHENTICATION: "nosasl"}, "authentication NOSASL has no login"),
        ({**OPEN, **LDAP}, "passwords would cross the network unencrypted"),
        ({**OPEN, **CUSTOM}, "passwords would cross the network unencrypted"),
        (
            {**LOCAL, settings.AUTHENTICATION: "PAMELA"},
            "is one of NONE, NOSASL, LDAP, CUSTOM, KERBEROS",
        ),
        (
            {**LOCAL, settings.AUTHENTICATION: "LDAP"},
            f"LDAP needs {HIVE}authentication.ldap.url too",
        ),
        (
            {**LOCAL, settings.AUTHENTICATION: "CUSTOM"},
            f"CUSTOM needs {HIVE}custom.authentication.cl",
        ),
        ({**LOCAL, settings.USE_TLS: "true"}, f"use.SSL needs {HIVE}keystore.path too"),
        (
            {**LOCAL, settings.USE_TLS: "true", settings.KEYSTORE: "/no/store"},
            "/no/store: No such file or directory",
        ),
    ],
)
def test_an_open_door_is_refused(wanted, said):
    with pytest.raises(ServerError, match=said):
        settings.check_door(wanted)


def test_a_key_that_others_can_read_is_refused(tmp_path):
    with pytest.raises(ServerError, match="is the server's private key, but others can read it"):
        settings.check_door({**LOCAL, **keystore(tmp_path, 0o640)})


def test_doors_that_are_closed(tmp_path):
    for wanted in (LOCAL, {settings.HOST: "::1"}, {settings.HOST: "localhost"}, {**LOCAL, **LDAP}):
        settings.check_door(wanted)
    for login in (LDAP, CUSTOM):
        settings.check_door({**OPEN, **login, **keystore(tmp_path, 0o600)})


def test_hive_reads_a_file_of_its_own_only_where_it_must():
    assert settings.as_hive_site({**LOCAL, settings.PORT: "1", "spark.x": "y"}) == ""
    text = settings.as_hive_site({**LOCAL, f"{HIVE}keystore.password": "a<b&c"})
    assert "<name>hive.server2.keystore.password</name><value>a&lt;b&amp;c</value>" in text
    assert "spark." not in text


def test_the_shared_metastore_is_read_as_written(tmp_path):
    derby = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={tmp_path}/m"
    }
    assert spark.shared_metastore(derby) == {}
    found = {
        "spark.hadoop.javax.jdo.option.ConnectionURL": "jdbc:postgresql://h/d?a=b c",
        "spark.hadoop.javax.jdo.option.ConnectionPassword": "a \\b=c\\n\nd",
    }
    (tmp_path / spark.METASTORE_FILE).write_text(properties.text(found))
    assert spark.shared_metastore(derby) == found
    assert spark.shared_metastore(found) == {}
