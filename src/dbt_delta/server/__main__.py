"""``./run server`` and ``./run cluster``: start, stop, status, logs."""

import os
import sys
from argparse import Namespace
from pathlib import Path

from dbt_delta.console import Parser
from dbt_delta.server import ServerError, adopt, cluster, metastore, settings, thrift


def _parser() -> Parser:
    parser = Parser(prog="./run", description=__doc__.splitlines()[0])
    areas = parser.add_subparsers(dest="area", required=True)
    server = areas.add_parser("server").add_subparsers(dest="command", required=True)
    start = server.add_parser("start", help="start the Spark Thrift server and wait for it")
    start.add_argument("--metastore", choices=metastore.KINDS)
    start.add_argument("--conf", type=Path, default=_conf(), metavar="FILE")
    start.add_argument("--host")
    start.add_argument("--port", type=int)
    server.add_parser("stop", help="stop it")
    server.add_parser("status", help="say whether it answers; exit code 1 if not")
    server.add_parser("adopt", help="register the embedded catalog's tables in the shared one")
    logs = server.add_parser("logs", help="show the end of its log")
    logs.add_argument("--follow", "-f", action="store_true")
    logs.add_argument("--lines", "-n", type=int, default=50)
    local = areas.add_parser("cluster").add_subparsers(dest="command", required=True)
    start = local.add_parser("start", help="start a standalone Spark cluster on this machine")
    start.add_argument("--workers", type=int, default=2)
    start.add_argument("--cores", type=int, default=1, help="of each worker")
    start.add_argument("--memory", default="1g", help="of each worker")
    start.add_argument("--port", type=int, default=cluster.DEFAULT_PORT)
    local.add_parser("stop", help="stop it")
    local.add_parser("status", help="say whether the whole cluster runs; exit code 1 if not")
    return parser


def _conf() -> Path | None:
    path = os.environ.get("DBT_DELTA_SERVER_CONF")
    return Path(path) if path else None


def main(arguments: list[str]) -> int:
    """Runs the command, and returns the exit code.

    Raises:
        ServerError: it cannot be done.
    """
    options = _parser().parse_args(arguments)
    if options.command == "logs":
        return _show_log(options.follow, options.lines)
    is_right, line = _answer(options)
    print(f"{options.area}: {line}")
    return 0 if is_right else 1


def _answer(options: Namespace) -> tuple[bool, str]:
    area = thrift if options.area == "server" else cluster
    if options.command == "status":
        return area.status()
    if options.command == "stop":
        return True, area.stop()
    if options.command == "adopt":
        return True, adopt.adopt()
    if area is cluster:
        line = cluster.start(options.workers, options.cores, options.memory, options.port)
        return True, line
    return True, thrift.start(options.conf, options.metastore, options.host, options.port)


def _show_log(follow: bool, lines: int) -> int:
    log = settings.logs() / "spark.log"
    if not log.is_file():
        raise ServerError(f"no log yet ({log})")
    os.execvp("tail", ["tail", *(["-F"] if follow else []), "-n", str(lines), str(log)])


if __name__ == "__main__":
    # dbt reads its folders from the environment; see startup.py.
    from dbt_delta.startup import configure

    configure(Path(sys.prefix).resolve())
    try:
        sys.exit(main(sys.argv[1:]))
    except (ServerError, FileNotFoundError) as error:
        print(f"{sys.argv[1]}: {error}", file=sys.stderr)
        sys.exit(2)
