"""What a person reads after a common mistake; errors.txt holds the texts.

Rewrite it with DBT_DELTA_SNAPSHOTS=write and read the difference.
"""

import os
import re
from pathlib import Path

SNAPSHOT = Path(__file__).with_name("errors.txt")
TABLE = "{{ config(materialized='table') }}\n"
BASE = """{{ config(materialized='table') }}
select * from values (1L, 'Ann'), (2L, 'Ann') as people(id, name)
"""


def _after(*hooks: str) -> str:
    listed = ", ".join(f'"{hook}"' for hook in hooks)
    return f"{{{{ config(materialized='table', post_hook=[{listed}]) }}}}\n"


MISTAKES = {
    "unknown_column": "select nmae\nfrom {{ ref('people') }}",
    "unknown_table": "select id\nfrom landing.no_such_table",
    "unknown_function": "select nvl3(name)\nfrom {{ ref('people') }}",
    "ambiguous_column": (
        "select id\nfrom {{ ref('people') }} as a\njoin {{ ref('people') }} as b on a.id = b.id"
    ),
    "missing_group_by": "select name, count(*) as people\nfrom {{ ref('people') }}",
    "misspelt_keyword": "select id,\n  name\nform {{ ref('people') }}\nwhere id = 1",
    "wrong_types": "select id + array(1) as id\nfrom {{ ref('people') }}",
    "missing_file": "select *\nfrom csv.`/no/such/file.csv`",
    "malformed_number": TABLE + "select\n  id,\n  cast(name as int) as n\nfrom {{ ref('people') }}",
    "division_by_zero": TABLE + "select 1 / (id - 1) as n\nfrom {{ ref('people') }}",
    "two_rows_for_one": TABLE + "select (select name from {{ ref('people') }}) as name",
    "check_constraint": _after(
        "alter table {{ this }} add constraint positive check (id > 0)",
        "insert into {{ this }} values (-1)",
    )
    + "select id from {{ ref('people') }}",
    "two_rows_for_one_key": _after(
        "merge into {{ this }} as t using (select 1L as id, explode(array(1, 2)) as n) as s "
        "on t.id = s.id when matched then update set id = n"
    )
    + "select id from {{ ref('people') }}",
    "own_words": "{{ config(post_hook=\"select raise_error('late files')\") }}\nselect 1 as id",
}


def test_errors_as_a_person_sees_them(project, capfd):
    project.logs = True
    project.write({"models/people.sql": BASE})
    project.write({f"models/{name}.sql": text for name, text in MISTAKES.items()})
    # Two more, whose texts are not kept.
    project.write({"models/plain.sql": TABLE + "select cast('x' as int) as n"})
    project.write({"models/later_line.sql": "select 1 as id\n\n\nunion all select nope"})
    run = project.dbt("run", check=False)
    assert {result.node.name for result in run.results if result.status != "error"} == {"people"}
    shown = [_shown(project, run.output, name) for name in MISTAKES]
    found = "\n\n".join(shown) + "\n"
    if os.environ.get("DBT_DELTA_SNAPSHOTS") == "write":
        SNAPSHOT.write_text(found)
    assert found == SNAPSHOT.read_text()
    assert "Traceback" not in found
    assert "\tat " not in run.output
    # The trace is for the log file.
    assert "org.apache.spark.SparkArithmeticException" in run.log

    # Nothing but dbt's own lines is on the console.
    out, err = capfd.readouterr()
    assert err == ""
    assert "Failure in model plain " in out
    assert "Traceback" not in out

    # The position is that in the compiled file.
    paragraph = run.output.rpartition("Failure in model later_line ")[2]
    line, column = map(int, re.search(r"line (\d+) pos (\d+)", paragraph).groups())
    compiled = project.path / "target/run/consumer/models/later_line.sql"
    assert compiled.read_text().split("\n")[line - 1][column:].startswith("nope")


def _shown(project, output: str, name: str) -> str:
    """The paragraph at the end of dbt's console text on that failure."""
    paragraph = output.rpartition(f"Failure in model {name} ")[2]
    paragraph = f"Failure in model {name} {paragraph}".split("\n\n")[0]
    paragraph = paragraph.replace(project.schema, "dev").replace(str(project.path), ".")
    # How many lines a materialization puts before the model's SQL is not this test's subject.
    paragraph = re.sub(r"line \d+", "line N", paragraph)
    return re.sub(r"\^{4,}", "^^^^", paragraph)
