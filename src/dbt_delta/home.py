"""Where the project and its data live."""

import os
from pathlib import Path


def project_dir(start: Path | None = None) -> Path:
    """The nearest folder from ``start`` (default: here) upwards that holds a dbt_project.yml.

    Raises:
        FileNotFoundError: there is no such folder; the message is for the user.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        if (folder / "dbt_project.yml").is_file():
            return folder
    raise FileNotFoundError(f"no dbt project in {start} or above: run it in the project's folder")


def home() -> Path:
    """The folder of warehouse, metastore, landing files and logs: $DBT_DELTA_HOME or <project>/var.

    Raises:
        FileNotFoundError: the variable is not set and there is no dbt project here.
    """
    configured = os.environ.get("DBT_DELTA_HOME")
    return Path(configured).resolve() if configured else project_dir() / "var"


def write_private(path: Path, text: str) -> Path:
    """Writes a file that only its owner can read, from its first byte on."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    return path
