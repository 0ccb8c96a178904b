"""What the macros write for an Iceberg catalog: decisions and texts, without Spark."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError, load

SETTINGS = {
    "spark.sql.defaultCatalog": "lake",
    "spark.sql.catalog.lake": "org.apache.iceberg.spark.SparkCatalog",
}
KEYED = {"unique_key": ["id"], "strategy": "merge"}


def through(settings: dict[str, str], **given: Any) -> SimpleNamespace:
    """dbt's adapter of a profile with these settings of Spark."""
    credentials = SimpleNamespace(method="session", server_side_parameters=settings)
    return SimpleNamespace(
        config=SimpleNamespace(credentials=credentials), dbt_delta_select=None, **given
    )


def iceberg(config: dict[str, Any] | None = None, settings: Any = SETTINGS) -> Any:
    """The macros on a target with these settings, for a model with this configuration."""
    given = config or {}
    model = SimpleNamespace(
        name="m", config={"materialized": "table"}, language="sql", columns={}, get=given.get
    )
    return load(
        adapter=through(settings),
        config=SimpleNamespace(get=lambda name, default=None: given.get(name, default)),
        model=model,
        target=SimpleNamespace(name="here"),
    )


@pytest.mark.parametrize(
    ("settings", "format"),
    [
        ({}, "delta"),
        (SETTINGS, "iceberg"),
        ({**SETTINGS, "spark.sql.defaultCatalog": "other"}, "delta"),
        ({k: v for k, v in SETTINGS.items() if "catalog.lake" in k}, "delta"),
    ],
)
def test_the_default_catalog_says_the_format(settings: dict[str, str], format: str) -> None:
    assert iceberg(settings=settings)._target_format() == format
    assert iceberg(settings=settings)._format() == format


@pytest.mark.parametrize(
    ("settings", "given", "problem"),
    [
        (SETTINGS, {"file_format": "delta"}, "is delta, but target here builds Iceberg tables"),
        (SETTINGS, {"file_format": "Parquet"}, "is parquet, but target here builds Iceberg"),
        ({}, {"file_format": "iceberg"}, "is iceberg, but target here builds Delta tables"),
    ],
)
def test_the_other_format_is_refused(settings, given, problem) -> None:
    with pytest.raises(CompilationError, match=problem):
        iceberg(given, settings)._in_format("check_target")()


def test_what_follows_the_target_is_not_refused() -> None:
    iceberg()._in_format("check_target")()
    iceberg({"file_format": "ICEBERG"})._in_format("check_target")()
    iceberg({"file_format": "parquet"}, {})._in_format("check_target")()


@pytest.mark.parametrize(
    ("name", "text", "sql"),
    [
        ("Day", "day", "`day`"),
        ("days(ts)", "days(ts)", "days(`ts`)"),
        (" DAY ( TS )", "days(ts)", "days(`ts`)"),
        ("bucket(16, id)", "bucket(16, id)", "bucket(16, `id`)"),
        ("truncate(id, 4)", "truncate(4, id)", "truncate(4, `id`)"),
        ("hours(`a b`)", "hours(a b)", "hours(`a b`)"),
        ("days(x)", "days(x)", "`days(x)`"),
        ("nothing", None, None),
        ("days(nothing)", None, None),
    ],
)
def test_partitions(name: str, text: str | None, sql: str | None) -> None:
    """A column that is called like a transform is that column."""
    columns = [{"name": name} for name in ("day", "ts", "id", "a b", "days(x)")]
    package = iceberg()
    assert package._in_format("exact_partition")(columns, name) == text
    if text is not None:
        assert package._in_format("partitions_sql")([text], columns) == sql


@pytest.mark.parametrize("name", ["bucket(id)", "days(3, ts)", "year_of(ts)"])
def test_what_is_no_transform_is_refused(name: str) -> None:
    with pytest.raises(CompilationError, match="is no column and no transform of Iceberg"):
        iceberg()._in_format("exact_partition")([{"name": "ts"}, {"name": "id"}], name)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("delta.enableChangeDataFeed", True, {"format-version": "3"}),
        ("delta.enableChangeDataFeed", "false", {}),
        (
            "delta.deletedFileRetentionDuration",
            "interval 30 days",
            {"history.expire.max-snapshot-age-ms": 2592000000},
        ),
        ("delta.deletedFileRetentionDuration", "a while", {}),
        ("delta.appendOnly", "true", {}),
    ],
)
def test_properties_of_delta(key: str, value: Any, expected: dict[str, Any]) -> None:
    assert iceberg()._in_format("own_properties")(key, value) == expected


def test_rows_are_marked_unless_the_model_says_otherwise() -> None:
    package = iceberg({"write_mode": "copy_on_write"})
    assert package._feature_properties(["deletion_vectors"])["write.merge.mode"] == "merge-on-read"
    assert package._in_format("flag_properties")() == {
        "write.delete.mode": "copy-on-write",
        "write.update.mode": "copy-on-write",
        "write.merge.mode": "copy-on-write",
    }
    with pytest.raises(CompilationError, match="write_mode is 'fast'"):
        iceberg({"write_mode": "fast"})._in_format("flag_properties")()


def test_what_replaces_rows_relies_on_the_snapshot_that_was_seen() -> None:
    package, table = iceberg(), {"name": "`s`.`t`", "snapshot": "12", "checks": {}}
    assert package._iceberg__overwrite_all_sql(table, "select 1") == (
        "insert into `s`.`t` with ('isolation-level' = 'serializable', "
        "'validate-from-snapshot-id' = '12') replace where true\nselect 1"
    )
    # Of a table without a commit the first of another writer would be replaced.
    empty = package._iceberg__overwrite_all_sql(dict(table, snapshot="none"), "select 1")
    assert empty == (
        "insert into `s`.`t` with ('isolation-level' = 'serializable') replace where true\nselect 1"
    )


QUARANTINED = {"name": "id", "type": "int", "source": "id", "source_type": "int"}
OF_QUARANTINE = {
    "_expectations": "array<string>",
    "_invocation_id": "string",
    "_quarantined_at": "timestamp",
}


def quarantine(settings: dict[str, str], seen: Any, now: Any, scope: str = "all") -> list[str]:
    """The statements of a run with a bad row; what it saw of the quarantine, and what there is."""
    sent: list[str] = []

    def run_query(sql: str) -> Any:
        sent.append(sql)
        return SimpleNamespace(rows=[] if "metadata_log_entries" in sql else [1])

    this = SimpleNamespace(schema="s", identifier="m")
    package = load(
        adapter=through(settings, cache_added=lambda relation: None),
        this=this,
        api=SimpleNamespace(
            Relation=SimpleNamespace(create=lambda **given: SimpleNamespace(**given))
        ),
        run_query=run_query,
        invocation_id="run",
    )
    package._check_values = lambda *given: None
    package._align_quarantine = lambda *given: None
    package._scope_with_broken_off = lambda existing, scope: scope
    package._expectations_tag = lambda *given: {}
    package._tagging = lambda tag, caller: caller()
    package._existing = lambda relation: now
    expectations = [{"name": "good", "expression": "id > 0", "action": "quarantine"}]
    counts = {"quarantined": 1}
    judged = {
        **{"expectations": expectations, "quarantine": seen, "counts": counts},
        **{"from": "batch", "staging": None},
    }
    package._quarantine(judged, [QUARANTINED], package._scope(scope, where="id > 1"))
    return sent


def of_quarantine(**more: Any) -> dict[str, Any]:
    names = [*OF_QUARANTINE.items(), ("id", "int")]
    return {
        "type": "table",
        "relation": SimpleNamespace(schema="s", identifier="m__quarantine"),
        "columns": [{"name": name, "type": type} for name, type in names],
        "properties": {},
        **more,
    }


@pytest.mark.parametrize("scope", ["all", "where"])
def test_a_quarantine_of_another_run_is_not_overwritten(scope: str) -> None:
    """The run relies on what it read the rows of, and Iceberg takes columns by position."""
    seen = of_quarantine(snapshot="11", metadata=1)
    sql = quarantine(SETTINGS, seen, dict(seen, snapshot="12"), scope)[-1]
    assert sql.startswith(
        "insert into `s`.`m__quarantine` with ('isolation-level' = 'serializable', "
        "'validate-from-snapshot-id' = '12') replace where true\n"
        "select `_expectations`, `_invocation_id`, `_quarantined_at`, `id`\nfrom (\n"
    )
    sql = quarantine({}, of_quarantine(), None, scope)[-1]
    assert sql.startswith("insert overwrite table `s`.`m__quarantine` by name\nselect `id`, ")


def test_a_quarantine_that_another_run_has_made_is_not_replaced() -> None:
    assert quarantine(SETTINGS, None, None)[-1].startswith("create table `s`.`m__quarantine`\n")
    made = quarantine({}, None, None)[-1]
    assert made.startswith("create or replace table `s`.`m__quarantine`\n")
    # A build with other columns begins it anew, and looks whether that undid a commit.
    other = of_quarantine(snapshot="1", metadata=3, location="/lake/m")
    other["columns"] = other["columns"][:-1]
    sent = quarantine(SETTINGS, other, other)
    assert sent[-2].startswith("create or replace table `s`.`m__quarantine`\n")
    assert "where number > 3 and before >= 3" in sent[-1]


def test_a_quarantine_is_replaced_by_values_of_partitions() -> None:
    columns = [{"name": "ts", "type": "timestamp"}, {"name": "p", "type": "string"}]
    batch = {
        "from": "b", "target_columns": columns,
        "columns": [{**one, "source": one["name"], "source_type": "string"} for one in columns],
    }  # fmt: skip
    table = {"partitions": ["days(ts)", "p"], "columns": columns, "clustering": []}
    scope = iceberg()._batch_scope(table, batch, {"strategy": "insert_overwrite"})
    assert scope["kind"] == "keys"
    assert scope["keys"] == [
        {"old": "system.days(old.`ts`)", "new": "system.days(cast(judged.`ts` as timestamp))"},
        {"old": "old.`p`", "new": "judged.`p`"},
    ]
    whole = iceberg()._batch_scope(
        {**table, "partitions": []}, batch, {"strategy": "insert_overwrite"}
    )
    assert whole["kind"] == "all"


@pytest.mark.parametrize(
    ("settings", "text", "words"),
    [
        (SETTINGS, None, "create view"),
        (SETTINGS, "select 2", "create or replace view"),
        (SETTINGS, " select 1", None),
        ({}, "select 2", "alter view"),
    ],
)
def test_the_quarantine_of_a_view_follows_it(settings, text, words) -> None:
    sent: list[str] = []
    package = load(
        adapter=through(settings, cache_added=lambda relation: None),
        this=SimpleNamespace(schema="s", identifier="m"),
        run_query=sent.append,
    )
    relation = SimpleNamespace(schema="s", identifier="q", incorporate=lambda type: type)
    package._quarantine_of = lambda this: relation
    found = None if text is None else {"type": "view", "text": text}
    package._existing_quarantine = lambda *given: found
    package._build_quarantine_view("select 1", [])
    assert sent == ([f"{words} `s`.`q` as\nselect 1"] if words else [])


@pytest.mark.parametrize("replaced", [{"id": "int"}, {"id": "bigint"}])
@pytest.mark.parametrize(
    ("properties", "promised", "is_unset"),
    [
        ({"dbt_delta.incomplete": "empty"}, {}, True),
        ({"dbt_delta.incomplete": "empty"}, {"dbt_delta.incomplete": "sample"}, False),
        ({}, {}, False),
    ],
)
def test_a_new_version_does_not_inherit_that_rows_are_lacking(
    replaced: dict[str, str], properties: dict[str, str], promised: dict[str, str], is_unset: bool
) -> None:
    package = iceberg()
    package._iceberg__overwrite_all_sql = package.get_create_table_sql = lambda *of, **how: ""
    package._iceberg__lost_sql = package._named = lambda *of: "t"
    package.get_align_sql = lambda *of: []
    columns = [{"name": name, "type": type} for name, type in replaced.items()]
    table = {"columns": columns, "partitions": [], "properties": properties, "metadata": 1}
    new, layout = [{"name": "id", "type": "int"}], {"partitions": [], "properties": promised}
    built = package._iceberg__build_sql("t", "", new, layout, True, table)
    unset = "alter table t unset tblproperties if exists ('dbt_delta.incomplete')"
    assert built["after"] == ([unset] if is_unset else [])
    assert package._iceberg__build_sql("t", "", new, layout, False, None)["after"] == []


def test_files_of_former_partitions_are_replaced_by_row() -> None:
    column = {"name": "p", "type": "int", "source": "p", "source_type": "int"}
    batch = {"from": "b", "columns": [column], "target_columns": [column]}
    table = {
        "name": "t", "snapshot": "1", "checks": {}, "partitions": ["p"], "columns": [column],
        "has_old_partitions": False,
    }  # fmt: skip
    package = iceberg()
    assert "insert overwrite table t" in package._iceberg__overwrite_sql(table, batch)
    sql = package._iceberg__overwrite_sql(dict(table, has_old_partitions=True), batch)
    assert "insert into t with" in sql
    assert "overwrite" not in sql
    assert "where __dbt_old.`p` <=> __dbt_new.`p`" in sql


@pytest.mark.parametrize(
    ("partition", "strategy", "zone", "is_refused"),
    [
        ("days(ts)", "insert_overwrite", "Europe/Berlin", True),
        ("months(ts)", "insert_overwrite", "+01:00", True),
        ("days(ts)", "insert_overwrite", "Etc/UTC", False),
        ("days(ts)", "replace_where", "Europe/Berlin", False),
        ("days(day)", "insert_overwrite", "Europe/Berlin", False),
        ("bucket(4, ts)", "insert_overwrite", "Europe/Berlin", False),
        ("ts", "insert_overwrite", "Europe/Berlin", False),
    ],
)
def test_days_of_utc_are_overwritten_in_utc(partition, strategy, zone, is_refused) -> None:
    package = iceberg()
    columns = [{"name": "ts", "type": "timestamp"}, {"name": "day", "type": "date"}]
    table = {"name": "t", "partitions": [partition], "columns": columns, "zone": zone}
    settings = {"strategy": strategy}
    if not is_refused:
        package._in_format("check_strategy")(table, settings)
        return
    with pytest.raises(CompilationError, match="which is in UTC on Iceberg"):
        package._in_format("check_strategy")(table, settings)


@pytest.mark.parametrize(
    ("settings", "changes", "expected"),
    [
        (KEYED, False, "when matched and false then delete"),
        (KEYED, True, None),
        ({"unique_key": []}, False, None),
    ],
)
def test_a_merge_that_only_inserts_is_guarded(settings, changes, expected) -> None:
    assert iceberg()._in_format("guard_clause")(settings, changes) == expected


def test_files_are_landed_by_a_guarded_merge() -> None:
    """An append goes through beside another run that has loaded the same file."""
    names = ["id", "_landed_file", "_file_modified_at", "_file_size"]
    columns = [{"name": n, "type": "int", "source": n, "source_type": "int"} for n in names]
    package = iceberg()
    settings = {
        **{"strategy": "append", "unique_key": [], "predicates": ["x"], "skip_unchanged": True},
        **{"source_alias": "src", "target_alias": "dst", "update_columns": []},
        **{"exclude_columns": [], "matched_condition": None, "delete_condition": None},
        **{"by_source_action": None, "skip_matched": False, "skip_not_matched": False},
        **{"schema_evolution": False, "not_matched_condition": None},
    }
    once = package._in_format("once_settings")(settings, names[1:])
    batch = package._batch("new", columns, columns, columns)
    table = {"name": "t", "checks": {}, "properties": {}}
    sql = package.get_write_sql(table, batch, once)
    assert sql.startswith("merge into t as dst\nusing new as src\non\n    dst.`_landed_file` <=> ")
    assert "when matched and false then delete\nwhen not matched then\n    insert" in sql
    assert "update" not in sql
    assert load()._in_format("once_settings")(settings, names[1:]) == settings


def test_rows_are_checked_by_what_writes_them() -> None:
    package = iceberg()
    table = {"name": "`t`", "checks": {"positive": "v > 0"}}
    sql = package._in_format("checked_sql")(table, "select 1 as v")
    assert "when (v > 0) is not true then 'positive: v > 0'" in sql
    assert "raise_error" in sql
    assert package._in_format("checked_sql")({"checks": {}}, "select 1 as v") == "select 1 as v"
    values = package._in_format("checked_values")(table, ["a", "b"], "s")
    assert values[0].startswith("if(s.__dbt_broken is null, a, raise_error(")
    assert values[1] == "b"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"update_columns": ["v"]}, "merge_update_columns"),
        ({"exclude_columns": ["v"]}, "merge_exclude_columns"),
        ({"by_source_action": "update set v = 1"}, "not_matched_by_source_action"),
        ({"strategy": "mine"}, "strategy mine"),
    ],
)
def test_what_writes_other_rows_than_the_batch_has_no_constraints(more, what) -> None:
    settings = {
        **{"update_columns": [], "exclude_columns": [], "by_source_action": None},
        **{"strategy": "merge", **more},
    }
    package, table = iceberg(), {"name": "`t`", "checks": {"c": "v > 0"}}
    with pytest.raises(CompilationError, match=f"with {what} these are not the rows"):
        package._in_format("check_checks")(table, settings)
    package._in_format("check_checks")(dict(table, checks={}), settings)


@pytest.mark.parametrize(
    ("check", "more", "kept"),
    [
        ("hi is null or lo <= hi", {}, "hi"),
        ("s.b > 0", {}, "s.b"),
        ("s is not null", {}, "s.b"),
        ("s.a > 0 and lo > 0", {}, None),
        # What an array lacks is NULL in the table, too.
        ("size(l) > 0", {}, None),
        ("hi > 0", {"skip_matched": True}, None),
        ("hi > 0", {"unique_key": []}, None),
        ("hi > 0", {"strategy": "append"}, None),
    ],
)
def test_constraints_on_what_an_update_keeps_are_refused(check, more, kept) -> None:
    """The row of the batch meets them with NULL, and that of the table may not."""
    types = {
        "id": "int", "lo": "int", "hi": "int", "s": "struct<a:int,b:int>",
        "l": "array<struct<a:int,b:int>>",
    }  # fmt: skip
    has = {"id": "int", "lo": "int", "s": "struct<a:int>", "l": "array<struct<a:int>>"}
    batch = {
        "target_columns": [{"name": name, "type": type} for name, type in types.items()],
        "columns": [
            {"name": name, "type": types[name], "source": name, "source_type": type}
            for name, type in has.items()
        ],
    }
    package, table = iceberg(), {"name": "`t`", "checks": {"ordered": check}}
    settings = {"skip_matched": False, **KEYED, **more}
    if kept is None:
        package._in_format("check_batch")(table, batch, settings)
        return
    with pytest.raises(CompilationError, match=f"Constraint ordered of `t`.* uses {kept}, which"):
        package._in_format("check_batch")(table, batch, settings)
    package._in_format("check_batch")(dict(table, checks={}), batch, settings)


def test_what_is_deltas_is_refused_by_name() -> None:
    with pytest.raises(CompilationError, match="optimize is not there yet on Iceberg"):
        iceberg()._optimize_sql(SimpleNamespace(schema="s", identifier="t"))
    with pytest.raises(CompilationError, match="liquid_clustered_by of m has no counterpart"):
        iceberg({"liquid_clustered_by": "id"})._in_format("check_layout")()


def test_what_is_stored_as_another_type_can_be_unchanged() -> None:
    asked: list[str] = []
    package = load(
        adapter=through(SETTINGS),
        run_query=lambda sql: asked.append(sql) or SimpleNamespace(rows=[]),
    )
    types = {"id": "smallint", "ts": "void"}
    package._columns_of = lambda sql: [{"name": n, "type": type} for n, type in types.items()]
    package._is_replaceable = lambda *given: True
    package.get_align_sql = lambda *given: []
    existing = {
        "columns": [{"name": "id", "type": "int"}, {"name": "ts", "type": "string"}],
        "relation": SimpleNamespace(schema="s", identifier="t"),
        "partitions": ["bucket(4, id)"], "clustering": [],
    }  # fmt: skip
    layout = {"partitions": ["bucket(4,ID)"], "clustering": []}
    assert package._is_unchanged(existing, "select 1", layout)
    assert "cast(`id` as int) as `id`" in asked[0]
    assert not package._is_unchanged(existing, "select 1", {**layout, "partitions": ["id"]})


def test_a_commit_counts_its_rows_only_if_none_were_written_again() -> None:
    sql = " ".join(iceberg()._in_format("history_sql")("t").split())
    assert "when 'spark.merge-into.num-target-rows-updated' then 'numTargetRowsUpdated'" in sql
    assert "when if(counts_rows, 'added-records', 'none') then 'numTargetRowsInserted'" in sql
    assert "when 'added-records'" not in sql
    table = {"name": "t", "snapshot": "1"}
    marked = "'snapshot-property.dbt-is-new' = 'true'"
    assert marked in iceberg()._iceberg__overwrite_all_sql(table, "select 1", is_new=True)
    assert marked not in iceberg()._iceberg__overwrite_all_sql(table, "select 1")


def test_leftovers_of_killed_runs_are_found_whatever_their_case() -> None:
    names = [
        "Orders__dbt_tmp_0123456789",
        "Orders__dbt_old_0123456789",
        "Other__dbt_tmp_0123456789",
    ]
    left = [SimpleNamespace(identifier=name, type="table") for name in names]
    dropped: list[str] = []
    package = load(
        adapter=through(SETTINGS),
        graph={"dbt_delta": {"leftovers": {"s": left}, "folders": {}}},
    )
    package._beside = lambda *given, **named: SimpleNamespace(identifier="x__dbt_tmp_abcdefabcd")
    package._drop = lambda relation, type: dropped.append(relation.identifier)
    package._drop_leftovers(SimpleNamespace(schema="S", identifier="Orders"))
    assert dropped == names[:2]


@pytest.mark.parametrize(("settings", "end"), [(SETTINGS, " purge"), ({}, "")])
def test_what_dbt_drops_itself_goes_with_its_files(settings: dict[str, str], end: str) -> None:
    sent: list[str] = []
    package = load(
        adapter=through(settings),
        statement=lambda name, auto_begin, caller: sent.append(caller().strip()) or "",
    )
    for type in ("table", "view"):
        package.spark__drop_relation(SimpleNamespace(render=lambda: "`s`.`t`", type=type))
    assert sent == [f"drop table if exists `s`.`t`{end}", "drop view if exists `s`.`t`"]


def test_a_clone_puts_no_view_in_the_place_of_a_table() -> None:
    found = {"d": {"type": "table", "provider": "iceberg"}, "v": {"type": "view", "provider": ""}}
    built: list[str] = []
    for name in found:
        package = load(
            adapter=through(SETTINGS),
            defer_relation=SimpleNamespace(schema="prod", identifier=name),
            this=SimpleNamespace(schema="dev", identifier=name, incorporate=lambda type: type),
            flags=SimpleNamespace(FULL_REFRESH=True),
            model=SimpleNamespace(name=name),
            target=SimpleNamespace(name="here"),
        )
        package._existing = lambda relation: found[relation.identifier]
        package._build_view = lambda existing, sql: built.append(sql)
        if name == "d":
            with pytest.raises(CompilationError, match="clone is not there yet on Iceberg"):
                package.build_clone()
        else:
            package.build_clone()
    assert built == ["select * from `prod`.`v`"]


def test_merges_are_serializable() -> None:
    key = "write.merge.isolation-level"
    with pytest.raises(CompilationError, match=f"{key} of m is snapshot: two runs at once could"):
        iceberg({"tblproperties": {key: "snapshot"}})._in_format("check_layout")()
    iceberg({"tblproperties": {key: "Serializable"}})._in_format("check_layout")()
    with pytest.raises(CompilationError, match=f"{key} of t is snapshot"):
        iceberg()._in_format("check_isolation")("t", {key: "snapshot"})


def test_a_folder_that_a_delta_table_may_have_is_refused() -> None:
    with pytest.raises(CompilationError, match="location_root of m is /lake/marts, which is not"):
        iceberg({"location_root": "/lake/marts"})._in_format("check_layout")()
    # As a project says it that is built on both.
    iceberg({"location_root": ""})._in_format("check_layout")()


def test_constraints_of_a_snapshot_are_refused() -> None:
    package = load(adapter=through(SETTINGS), this=SimpleNamespace(identifier="s"))
    package._in_format("check_snapshot")({"checks": {}})
    with pytest.raises(CompilationError, match="Snapshot s has constraints, c, which on Iceberg"):
        package._in_format("check_snapshot")({"checks": {"c": "v > 0"}})


def test_ids_of_snapshots_are_versions() -> None:
    package, relation = iceberg(), SimpleNamespace(schema="s", identifier="t")
    commits = [{"version": 1, "snapshot": 7}, {"version": 0, "snapshot": 9}]
    assert package._version_meant(relation, "9", commits, "diff: from", False, None) == 0
    assert package._readable(commits, 0) == 9
    with pytest.raises(CompilationError, match=r"diff: from is 1: .* has no snapshot with this id"):
        package._version_meant(relation, "1", commits, "diff: from", False, None)
