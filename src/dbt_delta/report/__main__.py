"""``./run report``: the run operation ``report``, with options as a shell has them."""

import json
import sys
from pathlib import Path

from dbt_delta.console import Parser

# Of `./run report`; all else goes to dbt.
_NAMES = ("select", "days", "output")


def main(arguments: list[str]) -> int:
    """Writes the page and returns dbt's exit code."""
    parser = Parser(prog="./run report", description="write one page about runs and tables")
    parser.add_argument("--select", "-s", help="nodes as dbt's --select takes them")
    parser.add_argument("--days", type=int, metavar="NUMBER", help="how far to look back (90)")
    parser.add_argument("--output", "-o", help="the file (report.html in DBT_DELTA_HOME)")
    options, others = parser.parse_known_args(arguments)
    given = {name: getattr(options, name) for name in _NAMES}
    if options.output:
        given["output"] = str(Path(options.output).absolute())
    asked = json.dumps({name: value for name, value in given.items() if value is not None})
    from dbt.cli.main import dbtRunner

    command = ["--quiet", "run-operation", "dbt_delta.report", "--args", asked]
    ran = dbtRunner().invoke([*command, *others])
    if ran.exception is not None:
        print(ran.exception, file=sys.stderr)
    return 0 if ran.success else 1 if ran.exception is None else 2


if __name__ == "__main__":
    # dbt reads its folders from the environment; see startup.py.
    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    sys.exit(main(sys.argv[1:]))
