"""Who gets in: a real LDAP server and real certificates."""

import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate
from dbt.cli.main import dbtRunner

from dbt_delta.server.daemon import free_port
from tests.functional.harness import Invocation, Project, dbt_subprocess
from tests.functional.server.conftest import Server

USER, PASSWORD = "alice", "correct horse"
HIVE = "spark.hadoop.hive.server2."


@pytest.fixture(scope="module")
def directory() -> Generator[int, None, None]:
    """The port of an LDAP server that knows one person."""
    port = free_port()
    program = Path(__file__).with_name("directory.py")
    server = subprocess.Popen(
        [sys.executable, program, str(port), USER, PASSWORD], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdout.readline() == "ready\n"
    yield port
    server.kill()
    server.communicate()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def keystore(folder: Path, authority: trustme.CA, host: str, password: str) -> Path:
    """A PKCS12 file with a key and a certificate for ``host``."""
    issued = authority.issue_cert(host)
    key = load_pem_private_key(issued.private_key_pem.bytes(), None)
    certificate = load_pem_x509_certificate(issued.cert_chain_pems[0].bytes())
    text = pkcs12.serialize_key_and_certificates(
        b"server", key, certificate, None, BestAvailableEncryption(password.encode())
    )
    path = folder / "server.p12"
    path.write_bytes(text)
    path.chmod(0o600)
    return path


def closed(server: Server, directory: int, store: Path) -> None:
    """Has the server ask for a login, on an encrypted line."""
    settings = {
        "authentication": "LDAP",
        "authentication.ldap.url": f"ldap://127.0.0.1:{directory}",
        "authentication.ldap.userDNPattern": "uid=%s,dc=lab",
        "use.SSL": "true",
        "keystore.path": str(store),
        "keystore.password": "${env.KEYSTORE_PASSWORD}",
    }
    with server.conf.open("a") as conf:
        conf.write("".join(f"{HIVE}{name} {value}\n" for name, value in settings.items()))


@pytest.fixture(scope="module")
def door(
    new_server: Callable[..., Server],
    directory: int,
    authority: trustme.CA,
    monkeypatch_module: pytest.MonkeyPatch,
) -> Server:
    """A running server that wants a login over TLS; its certificate is for 127.0.0.1."""
    server = new_server()
    monkeypatch_module.setenv("KEYSTORE_PASSWORD", "a secret of the store")
    closed(
        server, directory, keystore(server.home, authority, "127.0.0.1", "a secret of the store")
    )
    authority.cert_pem.write_to_path(server.home / "ca.pem")
    return server.start()


@pytest.fixture(scope="module")
def monkeypatch_module() -> Generator[pytest.MonkeyPatch, None, None]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def login(server: Server) -> dict[str, str]:
    """What dbt needs to get in."""
    return {
        "DBT_DELTA_PORT": str(server.port),
        "DBT_DELTA_AUTH": "LDAP",
        "DBT_DELTA_USER": USER,
        "DBT_ENV_SECRET_PASSWORD": PASSWORD,
        "DBT_DELTA_TLS": "true",
        "DBT_DELTA_TLS_CA": str(server.home / "ca.pem"),
    }


@pytest.fixture(scope="module")
def guest(new_shared_project: Callable[[str], Project]) -> Project:
    """The project of who wants in."""
    project = new_shared_project("guest")
    project.write({"models/a.sql": "select current_user() as who"})
    return project


@contextmanager
def papers(server: Server, variables: dict[str, str]) -> Generator[None, None, None]:
    """That login; all is right unless ``variables`` say otherwise."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**login(server), **variables}.items():
            patch.setenv(name, value)
        yield


def knock(server: Server, project: Project, **variables: str) -> tuple[bool, str]:
    """What ``dbt run`` says with that login."""
    with papers(server, variables):
        run = project.dbt("run", "--target", "thrift", check=False)
    return run.success, f"{run.exception or ''}\n{run.output}"


def ring(server: Server, project: Project, **variables: str) -> tuple[bool, str]:
    """What ``dbt debug`` says with that login; it reads no project."""
    events: list[Any] = []
    folders = ("--project-dir", project.path, "--profiles-dir", project.path)
    with papers(server, variables):
        command = ["debug", "--connection", "--target", "thrift", *map(str, folders)]
        ran = dbtRunner(callbacks=[events.append]).invoke([*command, "--log-level", "none"])
    debug = Invocation(ran.success, [], ran.exception, events)
    return debug.success, f"{debug.exception or ''}\n{debug.output}"


def test_the_right_password_gets_in_and_is_written_nowhere(door: Server, guest: Project) -> None:
    guest.logs = True
    is_in, output = knock(door, guest)
    guest.logs = False
    assert is_in, output
    shown = subprocess.run(["ps", "-ww", "-eo", "args="], capture_output=True, text=True).stdout
    logs = [*door.home.glob("logs/**/*.log"), *guest.path.glob("**/*.log")]
    texts = [shown, output, *(path.read_text(errors="replace") for path in logs)]
    assert len(logs) >= 2
    assert guest.path / "logs" / "dbt.log" in logs
    for text in texts:
        assert "a secret of the store" not in text
    assert not any(PASSWORD in text for text in texts[1:])
    assert not (
        set(Path(door.home).glob("server/*"))
        - {path for path in door.home.glob("server/*") if not path.stat().st_mode & 0o077}
        - {door.home / "server" / "thrift.out", door.home / "server" / "lock"}
    )


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"DBT_ENV_SECRET_PASSWORD": ""}, "refuses user 'alice'"),
        ({"DBT_DELTA_USER": "mallory"}, "refuses user 'mallory'"),
        ({"DBT_DELTA_AUTH": "NONE", "DBT_ENV_SECRET_PASSWORD": ""}, "refuses user 'alice'"),
        ({"DBT_DELTA_TLS": "false"}, "closes the connection: it may need TLS (use_ssl: true)"),
        ({"DBT_DELTA_TLS_CA": ""}, "cannot be trusted: "),
        ({"DBT_DELTA_HOST": "localhost"}, "cannot be trusted: "),
    ],
)
def test_nothing_else_gets_in(
    door: Server, guest: Project, variables: dict[str, str], said: str
) -> None:
    is_in, output = ring(door, guest, **variables)
    assert not is_in
    assert said in output
    assert "Traceback" not in output


def test_a_run_with_a_wrong_password_is_refused(door: Server, guest: Project) -> None:
    is_in, output = knock(door, guest, DBT_ENV_SECRET_PASSWORD="guess")
    assert not is_in
    assert "refuses user 'alice': check user" in output
    assert "Traceback" not in output


def test_dbt_debug_comes_as_a_run_does(door: Server, guest: Project) -> None:
    """A process of its own: nothing has put our connection in dbt's place yet."""
    variables = {**login(door), "DBT_TARGET": "thrift"}
    debug = dbt_subprocess(guest.path, "debug", home=door.home, env=variables)
    assert debug.wait() == 0, debug.output
    assert "OK connection ok" in debug.output
    # In this process, too: what test_nothing_else_gets_in sees refused is the login.
    is_in, output = ring(door, guest)
    assert is_in, output


def test_status_knows_it_runs_without_a_password(door: Server) -> None:
    assert door.run("status").code == 0


@pytest.mark.long
def test_a_login_of_a_class_of_ones_own(
    new_server: Callable[..., Server], guest: Project, tmp_path: Path
) -> None:
    """CUSTOM is a Java class on the server's class path; Spark ships a compiler."""
    classes = compile_login(tmp_path)
    server = new_server()
    with server.conf.open("a") as conf:
        conf.write(f"{HIVE}authentication CUSTOM\n{HIVE}custom.authentication.class Login\n")
        conf.write(f"spark.driver.extraClassPath {classes}:{sys.prefix}/jars/*\n")
    server.start()
    plain = {"DBT_DELTA_AUTH": "CUSTOM", "DBT_DELTA_TLS": "false"}
    is_in, output = knock(server, guest, **plain, DBT_ENV_SECRET_PASSWORD="sesame")
    assert is_in, output
    is_in, output = knock(server, guest, **plain, DBT_ENV_SECRET_PASSWORD="wrong")
    assert not is_in
    assert "refuses user 'alice'" in output


def compile_login(folder: Path) -> Path:
    """A class that knows one password, made by the Scala compiler among Spark's JARs."""
    import pyspark

    source = folder / "Login.scala"
    source.write_text(
        "class Login extends org.apache.hive.service.auth.PasswdAuthenticationProvider {\n"
        "  override def Authenticate(user: String, password: String): Unit =\n"
        '    if (password != "sesame") throw new javax.security.sasl.AuthenticationException\n'
        "}\n"
    )
    jars = Path(pyspark.__file__).parent / "jars"
    java = Path(sys.prefix) / "java" / "bin" / "java"
    subprocess.run(
        [java, "-cp", f"{jars}/*", "scala.tools.nsc.Main", "-usejavacp", "-d", folder, source],
        check=True,
        capture_output=True,
    )
    return folder
