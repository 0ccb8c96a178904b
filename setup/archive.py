"""Makes the class-data archive (AppCDS) of Spark, Delta and Hive: start-up without parsing JARs.

Usage: archive.py FILE. Runs in the project's environment what a dbt run typically asks of Spark,
in a throw-away folder, with the JVM told to dump the classes it loaded when it ends. An archive
fits one JVM and one list of JARs; Java ignores it silently elsewhere.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

STATEMENTS = """
create schema lab
show table extended in lab like '*'
create table lab.t using delta comment 'c' as select id, id % 3 as k, cast(id as string) as s, \
current_timestamp() as at from range(1000)
create or replace view lab.v as select * from lab.t where k > 0
insert into lab.t select id, id % 3, 'x', current_timestamp() from range(10)
create temporary view batch as select k as id, max(s) as s, count(*) as n, \
row_number() over (order by k) as r from lab.t group by k
merge into lab.t using batch on lab.t.id <=> batch.id when matched then update set s = batch.s \
when not matched then insert (id, s) values (batch.id, batch.s)
insert overwrite table lab.t with ('replaceWhere' = 'id >= 5L') by name \
select id, k, s, at from lab.t where id >= 5
create or replace table lab.p using delta partitioned by (k) as select * from lab.t
insert overwrite table lab.p with ('partitionOverwriteMode' = 'dynamic') by name \
select * from lab.t where k = 1
alter table lab.t set tblproperties ('delta.enableChangeDataFeed' = 'true')
describe extended lab.t
describe history lab.t
describe detail lab.t
show tblproperties lab.t
select a.k, count(distinct a.s), avg(a.id), percentile(a.id, 0.9) from lab.t a \
left join lab.v b on a.id = b.id group by a.k order by 1
select * from lab.t except select * from lab.v
select from_csv('1,x', 'a string, b string'), sha2('x', 256), try_cast('x' as int)
optimize lab.t
drop view lab.v
drop table lab.t
"""


def main(archive: Path) -> None:
    """Trains in a child process, because the archive is written when the JVM ends."""
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        # The user's own settings may name a server, or another catalog.
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DBT_")}
        environment |= dict.fromkeys(("DBT_DELTA_HOME", "DBT_LOG_PATH", "DBT_TARGET_PATH"), folder)
        environment["DBT_DELTA_JAVA_OPTIONS"] = (
            f'-XX:ArchiveClassesAtExit="{archive}" -Xlog:disable -Xlog:all=off'
        )
        code = "import archive; archive.train()"
        subprocess.run(
            [sys.executable, "-c", code],
            env={**environment, "PYTHONPATH": str(root / "setup")},
            cwd=root,
            check=True,
        )


def train() -> None:
    from dbt.cli.main import dbtRunner
    from pyspark.sql import SparkSession

    from dbt_delta.session import store

    # Java accepts other JARs behind those of the archive, and no fewer.
    store.FOLDER = Path("none")
    if not dbtRunner().invoke(["--quiet", "show", "--inline", "select 1"]).success:
        sys.exit(1)
    session = SparkSession.builder.getOrCreate()
    for statement in STATEMENTS.strip().splitlines():
        session.sql(statement).collect()
    process = session.sparkContext._gateway.proc
    process.stdin.close()
    process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
