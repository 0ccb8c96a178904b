"""Runs at the start of every Python of the project's environment (a .pth file imports it).

Plain ``dbt`` looks for profiles.yml in the current folder or ~/.dbt only, and writes target/ and
logs/ into the project. For the project that this environment belongs to, and for no other, the
three are set here, so that dbt needs no flag from any folder. So are the shares of this machine's
cores and memory, which a profile cannot ask for. Variables that the user has set win.

``dbt debug`` loads no plugins. Without ours it would test another session than the one that runs
the models, and send a password to a server whose certificate nobody verified.
"""

import os
import sys
from pathlib import Path

from dbt_delta import size
from dbt_delta.home import project_dir


def _asked_project() -> Path:
    """The project folder that this dbt command will use, according to dbt's own rules."""
    arguments = sys.argv[1:]
    for position, argument in enumerate(arguments):
        if argument == "--project-dir" and position + 1 < len(arguments):
            return Path(arguments[position + 1])
        if argument.startswith("--project-dir="):
            return Path(argument.partition("=")[2])
    if "DBT_PROJECT_DIR" in os.environ:
        return Path(os.environ["DBT_PROJECT_DIR"])
    try:
        return project_dir()
    except FileNotFoundError:
        return Path.cwd()


def configure(environment_dir: Path) -> None:
    """Sets dbt's folders if the project is the one that contains ``environment_dir``."""
    project = environment_dir.parent
    if _asked_project().resolve() != project:
        return
    home = Path(os.environ.setdefault("DBT_DELTA_HOME", str(project / "var"))).resolve()
    os.environ["DBT_DELTA_HOME"] = str(home)
    os.environ.setdefault("DBT_PROFILES_DIR", str(project))
    os.environ.setdefault("DBT_LOG_PATH", str(home / "logs"))
    os.environ.setdefault("DBT_TARGET_PATH", str(home / "target"))
    for name, value in size.settings(size.cores(), size.memory()).items():
        os.environ.setdefault(name, value)
    # Somebody who works at a terminal runs the next command soon; see session/warm.py.
    if sys.stdout.isatty() and "CI" not in os.environ:
        os.environ.setdefault("DBT_DELTA_WARM", "15m")


if Path(sys.argv[0]).name == "dbt":
    configure(Path(sys.prefix).resolve())
    if "debug" in sys.argv[1:]:
        from dbt_delta.session.plugin import install

        install()
