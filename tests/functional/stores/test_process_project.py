"""A project with its tables on S3, in a driver of its own: ``DBT_DELTA_STORE`` is all it needs."""

from collections.abc import Generator
from pathlib import Path

import pytest

from tests.functional.harness import Project
from tests.functional.stores import serving

FILES = {
    "seeds/people.csv": "id,name\n1,Zoë\n2,\n",
    "models/landed.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {{ dbt_delta.landed_files(
            's3a://lake/länding 5%20', 'json', {'id': 'bigint', 'v': 'bigint'}
        ) }}
        """,
    "models/merged.sql": """
        {{ config(materialized='incremental', unique_key='id', merge_skip_unchanged=true,
            partition_by='p') }}
        select id, max(v) as v, 'a b%20ü/' || id % 2 as p from {{ ref('landed') }} group by id
        """,
    "models/streamed.sql": """
        {{ config(materialized='stream') }}
        select id from {{ dbt_delta.stream(ref('landed')) }}
        """,
    "models/shown.sql": "{{ config(materialized='view') }} select * from {{ ref('merged') }}",
    "snapshots/kept.sql": """
        {% snapshot kept %}{{ config(unique_key='id', strategy='check', check_cols='all') }}
        select id, v from {{ ref('merged') }}
        {% endsnapshot %}
        """,
}
COUNTED = """
select * from (
    select (select count(*) from {{ ref('landed') }}) as landed,
        (select sum(v) from {{ ref('shown') }}) as shown,
        (select count(*) from {{ ref('streamed') }}) as streamed,
        (select count(*) from {{ ref('kept') }}) as kept,
        (select count(*) from {{ ref('people') }}) as people
) where concat_ws(', ', landed, shown, streamed, kept, people) != 'COUNTS'
"""


@pytest.fixture
def s3(tmp_path: Path) -> Generator[serving.Store, None, None]:
    with serving.s3(tmp_path) as running:
        yield running


@pytest.mark.long
def test_every_kind_of_node_on_s3(project: Project, s3: serving.Store) -> None:
    # The second command finds Spark still there.
    environment = {**s3.environment, "DBT_DELTA_STORE": s3.address, "DBT_DELTA_WARM": "15s"}
    (project.path / "home" / "logs").mkdir(parents=True)
    project.write(FILES)

    def build(counts: str) -> None:
        project.write({"tests/counted.sql": COUNTED.replace("COUNTS", counts)})
        process = project.process("build", env=environment)
        assert process.wait(300) == 0, process.output

    s3.put("länding 5%20/a b%.json", '{"id": 1, "v": 10}\n{"id": 2, "v": 20}\n')
    build("2, 30, 2, 2, 2")
    s3.put("länding 5%20/c.json", '{"id": 2, "v": 21}\n{"id": 3, "v": 30}\n')
    build("4, 61, 4, 4, 2")
    # Nothing was written on this machine.
    assert not (project.path / "home" / "warehouse").exists()
    # A colleague's catalog would know no table and build its own over these.
    other = project.process("run", home=project.path / "other", env=environment)
    assert other.wait(240) == 2
    assert f"Store {s3.address}: its tables are of another catalog, so this one" in other.output
