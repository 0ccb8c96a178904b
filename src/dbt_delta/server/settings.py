"""The Spark settings of a server: the profile's, then its own, then those of a user's file."""

import ipaddress
import os
import re
import stat
import xml.etree.ElementTree as ElementTree
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from dbt_delta.home import home
from dbt_delta.server import ServerError
from dbt_delta.session import profile, properties, spark

HIVE = "spark.hadoop.hive.server2."
HOST = HIVE + "thrift.bind.host"
PORT = HIVE + "thrift.port"
AUTHENTICATION = HIVE + "authentication"
USE_TLS = HIVE + "use.SSL"
KEYSTORE = HIVE + "keystore.path"
# What each kind of login requires; KERBEROS encrypts the network itself.
NEEDED = {
    "NONE": (),
    "NOSASL": (),
    "LDAP": (HIVE + "authentication.ldap.url",),
    "CUSTOM": (HIVE + "custom.authentication.class",),
    "KERBEROS": (
        HIVE + "authentication.kerberos.principal",
        HIVE + "authentication.kerberos.keytab",
    ),
}
OPEN_DOORS = ("NONE", "NOSASL")
# As java.util.Properties reads a line: name, then blank, = or :, then value.
_LINE = re.compile(r"(spark\.[^\s=:]+)\s*[=:\s]\s*(.*)")


def logs() -> Path:
    """The folder of what a server writes."""
    return home() / "logs" / "server"


def of_profile() -> dict[str, str]:
    """The session target's Spark settings in the project's profile, as dbt renders them.

    Raises:
        ServerError: dbt's words about a profile that it cannot read.
    """
    from dbt.flags import set_from_args
    from dbt_common.context import set_invocation_context
    from dbt_common.exceptions import DbtBaseException

    set_invocation_context(os.environ)
    folders = Namespace(PROFILES_DIR=os.environ["DBT_PROFILES_DIR"], LOG_PATH=str(logs()))
    set_from_args(folders, {})
    try:
        target = profile.rendered("dbt_delta", "session")
    except DbtBaseException as error:
        raise ServerError(f"profiles.yml: {error}") from error
    if target is None:
        raise ServerError("profiles.yml has no profile dbt_delta")
    return {str(key): str(value) for key, value in target["server_side_parameters"].items()}


def of_file(path: Path) -> dict[str, str]:
    """Spark properties, as in spark-defaults.conf; Hadoop resolves ``${env.NAME}``.

    Raises:
        ServerError: no such file, a line that is not a property, or a secret that others can read.
    """
    try:
        text = path.read_text()
    except OSError as error:
        raise ServerError(f"{path}: {error.strerror}") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(("#", "!")):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            raise ServerError(
                f"{path}, line {number}: not a Spark property and its value: {line!r}"
            )
        found[match[1]] = properties.value(match[2])
    secrets = [name for name, value in found.items() if spark.is_secret(name) and "${" not in value]
    if secrets:
        check_private(path, f"holds {secrets[0]}")
    return found


def check_private(path: Path, why: str) -> None:
    """Refuses a file that others than its owner can read.

    Raises:
        ServerError: they can, or there is no such file.
    """
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError as error:
        raise ServerError(f"{path}: {error.strerror}") from error
    if mode & 0o077:
        raise ServerError(f"{path} {why}, but others can read it (mode {mode:03o}): chmod 600 it")


def check_door(settings: Mapping[str, str]) -> None:
    """Refuses a server that anybody on the network could use, or listen to.

    Raises:
        ServerError: which setting, and what would do.
    """
    kind = settings.get(AUTHENTICATION, "NONE").upper()
    if kind not in NEEDED:
        raise ServerError(f"{AUTHENTICATION} is one of {', '.join(NEEDED)}. Got: {kind!r}")
    missing = [name for name in NEEDED[kind] if not settings.get(name)]
    if missing:
        raise ServerError(f"{AUTHENTICATION} {kind} needs {missing[0]} too")
    is_encrypted = settings.get(USE_TLS, "false").lower() == "true"
    if is_encrypted:
        if not settings.get(KEYSTORE):
            raise ServerError(
                f"{USE_TLS} needs {KEYSTORE} too: a PKCS12 file of key and certificate"
            )
        check_private(Path(settings[KEYSTORE]), "is the server's private key")
    if is_loopback(settings[HOST]):
        return
    where = f"{HOST} {settings[HOST]} lets other machines in"
    if kind in OPEN_DOORS:
        raise ServerError(
            f"{where}, but {AUTHENTICATION} {kind} has no login. Set it to LDAP or "
            "CUSTOM, or bind to 127.0.0.1"
        )
    if not is_encrypted and kind != "KERBEROS":
        raise ServerError(
            f"{where}, but passwords would cross the network unencrypted. Set {USE_TLS} true with "
            f"{KEYSTORE}, or bind to 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def as_hive_site(settings: Mapping[str, str]) -> str:
    """The text of a hive-site.xml with the server's settings; empty if only its address is set."""
    hive = {name: value for name, value in settings.items() if name.startswith(HIVE)}
    if hive.keys() <= {HOST, PORT}:
        return ""
    root = ElementTree.Element("configuration")
    for name, value in sorted(hive.items()):
        entry = ElementTree.SubElement(root, "property")
        ElementTree.SubElement(entry, "name").text = name.removeprefix("spark.hadoop.")
        ElementTree.SubElement(entry, "value").text = value
    return ElementTree.tostring(root, encoding="unicode")
