"""Whole runs of an incremental model: what they send, in which order, and what they refuse."""

import re
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.macros.rendering import CompilationError, through

MAPPED = {"delta.columnMapping.mode": "name"}
TABLE: dict[str, Any] = {
    "type": "table", "provider": "delta", "partitions": [], "clustering": [], "comment": "",
    "location": "file:/t", "owner": "", "text": "", "bytes": None, "properties": MAPPED,
    "columns": [
        {"name": "id", "type": "int", "comment": "", "nullable": True},
        {"name": "v", "type": "string", "comment": "", "nullable": True},
    ],
}  # fmt: skip
STAGING = "`s`.`t__dbt_tmp_0123456789`"
SYNCED = {"unique_key": "id", "on_schema_change": "sync_all_columns"}


class Relation(SimpleNamespace):
    def incorporate(self, **names: str) -> "Relation":
        return Relation(**{**vars(self), **names})


THIS = Relation(schema="s", identifier="t", type="table")


class Session:
    """What a model's run finds, and in ``sent`` what it asks and sends."""

    def __init__(self, table: dict[str, Any] | None, columns: dict[str, str]) -> None:
        self.table = table
        self.columns = columns
        self.cached = THIS if table else None
        self.answers: dict[str, list[Any]] = {}
        self.args: dict[str, Any] = {}
        self.sent: list[str] = []

    def ask(self, sql: str) -> SimpleNamespace:
        self.sent.append(" ".join(sql.split()))
        said = self.sent[-1]
        if said.startswith("show tables"):
            return SimpleNamespace(
                rows=[{"tableName": "t", "isTemporary": False}] if self.table else []
            )
        check = {"row_count": 2, "duplicate_keys": 0, "null_rows": 0, "lost_0": 0, "lost_1": 0}
        for start, rows in {**self.answers, "select coalesce(": [check]}.items():
            if said.startswith(start):
                return SimpleNamespace(rows=rows)
        return SimpleNamespace(rows=[(0, None) * 9])

    def attempt(self, sql: str) -> tuple[str, Any]:
        found = self.ask(sql)
        return ("", found if "as meant" in sql else [])

    def look(self, *name: str) -> dict[str, Any]:
        self.sent.append("look at the table")
        return dict(self.table)

    def configured(self, settings: dict[str, str], work: Any) -> str:
        self.sent.extend(f"set {key}={value}" for key, value in settings.items())
        work()
        self.sent.append("reset")
        return ""

    def statement(self, name: str = "", caller: Any = None) -> str:
        self.ask(caller())
        return ""

    def written(self) -> list[str]:
        """What is sent that changes something, by its first words."""
        starts = "alter", "drop", "merge", "insert", "create", "comment"
        return [sql for sql in self.sent if sql.startswith(starts)]


def build(
    macros: Any,
    session: Session,
    hooks: tuple[str, ...] = (),
    empty: bool = False,
    own: dict[str, Any] | None = None,
    plugin: dict[str, Any] | None = None,
    parents: tuple[str, ...] = (),
    asks: bool = False,
    language: str = "sql",
    **config: Any,
) -> Session:
    """Runs the model with that configuration; it may ask is_incremental()."""
    config = {"merge_prune": "off", "contract": {"enforced": False}, **config}
    found = SimpleNamespace(get=lambda key, default=None: config.get(key, default))
    adapter = through(
        "session",
        get_relation=lambda *of: session.cached,
        cache_dropped=lambda relation: setattr(session, "cached", None),
        cache_added=lambda relation: setattr(session, "cached", relation),
        dbt_delta_relation=session.look,
        get_columns_in_relation=lambda relation: [],
        dbt_delta_attempt=session.attempt,
        dbt_delta_with=session.configured,
        dbt_delta_columns=lambda sql: [
            {"name": name, "type": type} for name, type in session.columns.items()
        ],
        **(plugin or {}),
    )
    again = "is_incremental() ? select * from newer : select * from again"
    package = macros(
        adapter=adapter,
        api=SimpleNamespace(Relation=SimpleNamespace(create=Relation)),
        compiled_code="select * from src",
        config=found,
        context=own or {},
        flags=SimpleNamespace(EMPTY=empty),
        graph={"nodes": {}},
        invocation_id="run",
        invocation_args_dict=session.args,
        is_incremental=lambda: session.cached is not None and session.cached.type == "table",
        local_md5=lambda text: "0123456789abcdef",
        log=lambda text, info: session.sent.append(text),
        model=SimpleNamespace(
            language=language, columns={}, constraints=[], extra_ctes=[], unique_id="model.p.t",
            raw_code=again if asks else "select * from again", get={}.get, config={},
            depends_on=SimpleNamespace(nodes=list(parents), macros=[]),
        ),
        post_hooks=[],
        pre_hooks=[{"sql": sql} for sql in hooks],
        render=lambda text: text.split(" : ")[-1 if session.cached is None else 0],
        run_query=session.ask,
        should_full_refresh=lambda: False,
        statement=session.statement,
        store_raw_result=lambda *of, **named: session.sent.append(named["message"]),
        this=THIS,
    )  # fmt: skip
    package.build_incremental()
    return session


def test_a_run_without_changes_writes_once(macros) -> None:
    session = build(macros, Session(TABLE, {"id": "int", "v": "string"}), unique_key="id")
    view, write = session.written()
    assert view.startswith("create or replace temporary view `t__dbt_tmp_0123456789_view`")
    assert write.startswith("merge into `s`.`t` as DBT_INTERNAL_DEST using `t__dbt_tmp_")


@pytest.mark.parametrize(
    ("size", "config", "is_rewritten"),
    [
        (0, {}, True),
        (16 << 20, {}, True),
        ((16 << 20) + 1, {}, False),
        (None, {}, False),
        (1, {"incremental_strategy": "delete+insert"}, True),
        (1, {"incremental_strategy": "append"}, False),
        (1, {"merge_skip_unchanged": True}, False),
        (1, {"merge_with_schema_evolution": True, "matched_condition": "true"}, False),
        (1, {"skip_matched_step": True}, False),
        (1, {"not_matched_by_source_action": "delete"}, False),
        (1, {"matched_delete_condition": "v = 'd'"}, False),
        (1, {"tblproperties": {"delta.enableDeletionVectors": "true"}}, False),
        (1, {"tblproperties": {"delta.enableDeletionVectors": False}}, False),
    ],
)
def test_a_small_table_gets_new_files_if_each_match_is_written(
    macros, size: int | None, config: dict[str, Any], is_rewritten: bool
) -> None:
    session = Session({**TABLE, "bytes": size}, {"id": "int", "v": "string"})
    build(macros, session, **{"unique_key": "id", "stage": "table", **config})
    write = session.sent.index(session.written()[-2])
    around = session.sent[write - 1], session.sent[write + 1]
    setting = "set spark.databricks.delta.merge.deletionVectors.persistent=false"
    assert (around == (setting, "reset")) is is_rewritten
    assert session.sent.count(setting) == int(is_rewritten)


def test_what_can_fail_comes_first_and_what_destroys_comes_last(macros) -> None:
    session = Session(TABLE, {"id": "int", "n": "int"})
    checks = {"delta.constraints.low": "id < 10", **MAPPED}
    build(macros, session, tblproperties=checks, **SYNCED, stage="view")
    staged, added, checked, write, dropped, left = session.written()
    assert staged.startswith(f"create table {STAGING} using parquet ")
    assert added == "alter table `s`.`t` add columns (`n` int)"
    assert checked == "alter table `s`.`t` add constraint `low` check (id < 10)"
    assert write.startswith(f"merge into `s`.`t` as DBT_INTERNAL_DEST using {STAGING} as ")
    assert dropped == "alter table `s`.`t` drop columns (`v`)"
    assert left == f"drop table if exists {STAGING}"
    rows = [sql for sql in session.sent if sql.startswith("select count_if((id < 10)")]
    assert [sql.rpartition(" from ")[2] for sql in rows] == [f"{STAGING})", "`s`.`t`)"]
    order = [session.sent.index(sql) for sql in (staged, *rows, added)]
    assert order == sorted(order)


@pytest.mark.parametrize("told", [{"nullable": False}, {}])
def test_a_column_that_must_have_a_value_is_released_before_the_write(
    macros, told: dict[str, bool]
) -> None:
    columns = [TABLE["columns"][0], {"name": "v", "type": "string", "comment": "", **told}]
    session = Session({**TABLE, "columns": columns}, {"id": "int"})
    build(macros, session, **SYNCED)
    _, released, write, dropped, _ = session.written()
    assert released == "alter table `s`.`t` alter column `v` drop not null"
    assert write.startswith("merge into ")
    assert dropped == "alter table `s`.`t` drop columns (`v`)"


def test_fields_are_dropped_after_the_write_that_leaves_them_null(macros) -> None:
    columns = [{**TABLE["columns"][0], "name": "s", "type": "struct<a:int,b:int>"}]
    session = Session({**TABLE, "columns": columns}, {"s": "struct<a:int>"})
    build(macros, session, on_schema_change="sync_all_columns", incremental_strategy="append")
    _, write, dropped, _ = session.written()
    assert "named_struct('a', `s`.`a`, 'b', cast(null as int))" in write
    assert dropped == "alter table `s`.`t` drop columns (`s`.`b`)"


def test_a_strategy_of_the_users_own_writes_to_the_columns_that_stay(macros) -> None:
    session = Session(TABLE, {"id": "int"})
    build(
        macros,
        session,
        incremental_strategy="mine",
        on_schema_change="sync_all_columns",
        own={"get_incremental_mine_sql": lambda arguments: "insert into t select 1"},
    )
    assert session.written()[-3:] == [
        "alter table `s`.`t` drop columns (`v`)",
        "insert into t select 1",
        f"drop table if exists {STAGING}",
    ]


def test_values_are_tried_before_the_table_is_altered(macros) -> None:
    session = Session(TABLE, {"id": "bigint", "n": "int"})
    tried = "select count_if(not (try_cast(try_cast(`id` as int) as bigint) <=> `id`))"
    session.answers[tried] = [(1, '{"id":99}')]
    said = (
        "Column id is bigint in the model and int in `s`.`t`. The value of 1 rows of the batch "
        'would change, for example {"id":99}. Nothing was written.'
    )
    with pytest.raises(CompilationError, match=re.escape(said)):
        build(macros, session, incremental_strategy="append", on_schema_change="append_new_columns")
    assert [sql for sql in session.written() if STAGING not in sql] == []


@pytest.mark.parametrize("config", [{}, {"tblproperties": {"a": "1"}}])
def test_a_forbidden_row_is_refused_before_the_table_is_altered(
    macros, config: dict[str, Any]
) -> None:
    properties = {**MAPPED, "delta.constraints.low": "id < 10"}
    columns = {"id": "int", "v": "string", **({} if config else {"n": "int"})}
    session = Session({**TABLE, "properties": properties}, columns)
    session.answers["select count_if((id < 10)"] = [(1, '{"id":99}')]
    said = r"low \(id < 10\) is violated by 1 of the rows of the batch for `s`.`t`, for example"
    with pytest.raises(CompilationError, match=said):
        build(macros, session, **{**SYNCED, **config})
    assert [sql for sql in session.written() if STAGING not in sql] == []


@pytest.mark.parametrize(
    "config", [{"on_schema_change": "append_new_columns"}, {"tblproperties": {"a": "1"}}]
)
def test_the_select_is_evaluated_before_the_table_is_altered(
    macros, config: dict[str, Any]
) -> None:
    columns = {"id": "int", "v": "string", **({} if "tblproperties" in config else {"n": "int"})}
    session = build(macros, Session(TABLE, columns), incremental_strategy="append", **config)
    staged, altered, write, left = session.written()
    assert staged.startswith(f"create table {STAGING} using parquet ")
    assert altered.startswith("alter table `s`.`t` ")
    assert write.endswith(f" from {STAGING}")
    assert left == f"drop table if exists {STAGING}"


def test_without_changes_the_write_alone_checks(macros) -> None:
    properties = {"delta.constraints.low": "id < 10"}
    session = Session({**TABLE, "properties": properties}, {"id": "int", "v": "bigint"})
    build(macros, session, unique_key="id")
    assert not [sql for sql in session.sent if "count_if((id" in sql or "xxhash64" in sql]


@pytest.mark.parametrize("strategy", ["append", "merge", "insert_overwrite", "delete+insert"])
def test_empty_touches_no_row(macros, strategy: str) -> None:
    session = Session(TABLE, {"id": "int", "n": "int"})
    build(macros, session, empty=True, **SYNCED, incremental_strategy=strategy)
    assert session.written() == ["alter table `s`.`t` add columns (`n` int)"]
    assert session.sent[-1] == "--empty: no row was touched"


def test_hooks_run_before_the_look_at_the_table(macros) -> None:
    session = Session(TABLE, {"id": "int", "v": "string"})
    build(macros, session, hooks=("alter table t",), unique_key="id")
    assert session.sent[:3] == [
        "alter table t", "show tables in `s` like 't'", "look at the table"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("table", "cached", "sql"), [(None, THIS, "create table"), (TABLE, None, "merge into")]
)
def test_what_hooks_make_of_the_table_is_what_the_model_is_rendered_for(
    macros, table: dict[str, Any] | None, cached: Relation | None, sql: str
) -> None:
    session = Session(table, {"id": "int", "v": "string"})
    session.cached = cached
    build(macros, session, hooks=("select 'it drops or makes it'",), unique_key="id")
    assert session.written()[-1].startswith(f"{sql} `s`.`t`")
    (read,) = [text for text in session.written() if "from again" in text]
    assert read.startswith(("create table", "create or replace temporary view"))
    assert not [text for text in session.sent if "from src" in text]


def test_what_was_rendered_for_the_table_as_it_is_stays(macros) -> None:
    session = build(macros, Session(None, {"id": "int", "v": "string"}), hooks=("select 1",))
    assert session.written() == [
        "create table `s`.`t` using delta tblproperties ('delta.enableDeletionVectors' = 'true')"
        " as select * from src"
    ]


@pytest.mark.parametrize(
    ("provider", "way"), [("parquet", "or keep its rows: dbt run-operation"), ("csv", "")]
)
def test_a_table_of_another_format_is_refused(macros, provider: str, way: str) -> None:
    session = Session({**TABLE, "provider": provider}, {"id": "int", "v": "string"})
    with pytest.raises(CompilationError, match=f"is a {provider} table.* rows of this run") as no:
        build(macros, session, unique_key="id")
    assert session.written() == []
    assert ("convert_to_delta --args '{source: s.t}'" in str(no.value)) is bool(way)
    assert way in str(no.value)


def test_a_partition_column_that_the_model_does_not_give_is_refused(macros) -> None:
    table = {**TABLE, "partitions": ["Day"], "columns": [*TABLE["columns"], {
        "name": "Day", "type": "date", "comment": ""
    }]}  # fmt: skip
    columns = {"id": "int", "v": "string"}
    session = Session(table, columns)
    with pytest.raises(CompilationError, match=r"no column 'Day', but `s`.`t` is partitioned"):
        build(macros, session, unique_key="id", partition_by="day")
    assert session.written() == []
    # Updates leave it as it is, and it may be spelled otherwise.
    for given, config in (({}, {"skip_not_matched_step": True}), ({"DAY": "date"}, {})):
        session = Session(table, {**columns, **given})
        build(macros, session, unique_key="id", partition_by="day", **config)
        assert session.written()[-1].startswith("merge into ")


@pytest.mark.parametrize(
    ("was", "config", "start"),
    [
        ([], {"liquid_clustered_by": "v"}, "merge into `s`.`t`"),
        (["id"], {"liquid_clustered_by": "v"}, "merge into `s`.`t`"),
        (["v"], {}, "insert overwrite table `s`.`t` by name"),
        (
            ["v"],
            {"liquid_clustered_by": "V", "incremental_apply_config_changes": False},
            "merge into `s`.`t`",
        ),
    ],
)
def test_insert_overwrite_goes_by_the_clustering_of_this_run(
    macros, was: list[str], config: dict[str, Any], start: str
) -> None:
    session = Session({**TABLE, "clustering": was}, {"id": "int", "v": "string"})
    build(macros, session, incremental_strategy="insert_overwrite", **config)
    (write,) = [sql for sql in session.written() if sql.startswith(("merge", "insert"))]
    assert write.startswith(start)
    assert ("DBT_INTERNAL_DEST.`v` <=> source." in write) is write.startswith("merge")
    assert "DBT_INTERNAL_DEST.`id` <=>" not in write


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("struct<b:int>", "named_struct('a', {old}.`a`, 'b', {new}.`b`)"),
        ("struct<c:int,b:int>", "named_struct('a', {old}.`a`, 'b', {new}.`b`, 'c', {new}.`c`)"),
    ],
)
@pytest.mark.parametrize("evolves", [False, True])
def test_an_update_keeps_the_fields_that_the_batch_does_not_have(
    macros, given: str, value: str, evolves: bool
) -> None:
    struct = {"name": "s", "type": "struct<a:int,b:int>", "comment": "", "nullable": True}
    session = Session({**TABLE, "columns": [*TABLE["columns"], struct]}, {"id": "int", "s": given})
    build(macros, session, unique_key="id", merge_with_schema_evolution=evolves)
    if not evolves:
        value = value.replace(", 'c', {new}.`c`", "")
    names = {"old": "DBT_INTERNAL_DEST.`s`", "new": "DBT_INTERNAL_SOURCE.`s`"}
    assert value.format(**names) + " end when not matched" in session.written()[-1]


@pytest.mark.parametrize(
    ("was", "given", "properties", "type"),
    [
        ("int", "bigint", {}, "int"),
        ("int", "bigint", {"delta.enableTypeWidening": "true"}, "bigint"),
        ("struct<a:int>", "struct<a:bigint>", {"delta.enableTypeWidening": "true"},
         "struct<a:bigint>"),
        ("struct<a:int>", "struct<b:bigint>", {}, "struct<a:int,b:bigint>"),
        ("array<struct<a:int>>", "array<struct<b:int>>", {}, "array<struct<a:int,b:int>>"),
    ],
)  # fmt: skip
def test_the_type_of_a_column_that_a_merge_evolves(
    macros, was: str, given: str, properties: dict[str, str], type: str
) -> None:
    table = {"properties": properties, "columns": [{"name": "V", "type": was}]}
    assert macros()._evolved_type({"name": "v", "type": given}, table) == type


@pytest.mark.parametrize(("was", "asked"), [(["id"], ["v"]), ([], ["v"]), (["v"], [])])
def test_insert_overwrite_by_another_clustering_that_no_run_applies_is_refused(
    macros, was: list[str], asked: list[str]
) -> None:
    table, columns = {**TABLE, "clustering": was}, {"id": "int", "v": "string"}
    config = {"liquid_clustered_by": asked, "incremental_apply_config_changes": False}
    session = Session(table, columns)
    with pytest.raises(CompilationError, match="would replace the wrong rows") as no:
        build(macros, session, incremental_strategy="insert_overwrite", **config)
    assert f"liquid_clustered_by is {asked}, but `s`.`t` is clustered by {was}" in str(no.value)
    assert session.written() == []
    session = build(macros, Session(table, columns), unique_key="id", **config)
    assert session.written()[-1].startswith("merge into ")


@pytest.mark.parametrize(
    ("predicate", "named"),
    [
        ("id in (select id from queue)", "`id`"),
        # No column is named: all count.
        ("struct(*) in (select * from queue)", "`id`, `v`"),
        ("id > 5", None),
    ],
)
def test_a_subquery_means_the_same_rows_before_the_select_and_in_the_write(
    macros, predicate: str, named: str | None
) -> None:
    """Its rows are removed, and those of the batch take their place."""
    session = Session(TABLE, {"id": "int", "v": "string"})
    session.answers = {"select concat(count(*)": [{"meant": "2 -7"}]}
    inside = [{"row_count": 2, "outside": 0}]
    session.answers["select count(*) as row_count, count_if(__dbt_inside"] = inside
    where = {"incremental_strategy": "replace_where", "incremental_predicates": predicate}
    build(macros, session, **where)
    *_, write = [sql for sql in session.sent if sql.startswith("insert overwrite")]
    asked = [n for n, sql in enumerate(session.sent) if sql.startswith("select concat(count(*)")]
    if named is None:
        assert not asked
        assert "raise_error" not in write
        return
    (before,) = asked
    staged = [n for n, sql in enumerate(session.sent) if sql.startswith("create table")]
    assert before < staged[0]
    meant = session.sent[before]
    assert f"xxhash64({named}) " in meant
    assert meant.endswith(f"from `s`.`t` where {predicate}")
    assert f"where (if(( {meant} ) = '2 -7', ({predicate}), raise_error('The rows of" in write
    assert write.endswith(")) is not true")


@pytest.mark.parametrize("config", [{"duplicate_keys": "error"}, {"null_keys": "error"}])
def test_the_rows_of_a_python_model_are_checked_where_they_are(
    macros, config: dict[str, str]
) -> None:
    session = Session(None, {"id": "int", "v": "string"})
    build(macros, session, language="python", unique_key="id", **config)
    made, *dropped = session.written()
    assert made.startswith("create table `s`.`t` using delta")
    assert made.endswith(f"select * from ( select * from {STAGING} ) as batch")
    assert dropped == [f"drop table if exists {STAGING}"]
    assert f"from ( select * from {STAGING} ) as batch group by" in " ".join(session.sent)


@pytest.mark.parametrize("types", [{"id": "int", "v": "void"}, {"id": "int", "v": "string"}])
def test_a_first_build_stores_a_column_without_a_type_as_text(
    macros, types: dict[str, str]
) -> None:
    session = build(macros, Session(None, types), unique_key="id")
    wrapped = "select `id`, cast(`v` as string) as `v` from ( select * from src ) as batch"
    sql = wrapped if "void" in types.values() else "select * from src"
    assert session.written()[-1].endswith(f" as {sql}")


def lacking(by: str, has_rows: bool = False, mark: str = "incomplete") -> Session:
    """A table that was built from a part of its rows."""
    table = {**TABLE, "properties": {**MAPPED, f"dbt_delta.{mark}": by}}
    session = Session(table, {"id": "int", "v": "string"})
    session.answers = {} if has_rows else {"select 1 from `s`.`t` limit 1": []}
    return session


@pytest.mark.parametrize("by", [("empty",), ("sample",), ("batches",), ("none", "stream")])
@pytest.mark.parametrize("asks", [True, False])
def test_a_table_without_rows_that_lacks_them_is_built_anew(
    macros, by: tuple[str, ...], asks: bool
) -> None:
    session = lacking(by[0], mark=(*by, "incomplete")[1])
    knows = {"dbt_delta_asks_incremental": lambda macros: False}
    build(macros, session, parents=("model.p.a",), asks=asks, plugin=knows, unique_key="id")
    assert any(said.endswith(" and has no rows: it is built anew.") for said in session.sent)
    (write,) = session.written()
    assert write.startswith("create or replace table `s`.`t`")
    assert write.endswith("select * from again" if asks else "select * from src")
    assert "dbt_delta." not in write
    assert session.cached is not None


UNREAD = "and later runs would not read the rows that it lacks. Nothing was changed."


@pytest.mark.parametrize(
    ("by", "plugin", "config", "said"),
    [
        ("empty", {}, {}, "s.t was built with --empty, " + UNREAD),
        ("sample", {}, {}, "s.t was built with --sample, " + UNREAD),
        ("batches", {}, {}, "s.t lacks batches: not all of its build have succeeded, " + UNREAD),
        ("sample", {}, {"full_refresh": False}, "--full-refresh, and without full_refresh: false."),
    ],
)
def test_what_reads_only_newer_rows_is_not_added_to_a_table_that_lacks_some(
    macros, by: str, plugin: dict[str, Any], config: dict[str, Any], said: str
) -> None:
    session = lacking(by, has_rows=True)
    with pytest.raises(CompilationError, match=re.escape(said)):
        build(macros, session, asks=True, plugin=plugin, unique_key="id", **config)
    assert session.written() == []


def test_without_the_plugin_any_model_may_read_only_newer_rows(macros) -> None:
    with pytest.raises(CompilationError, match="would not read the rows that it lacks"):
        build(macros, lacking("sample", has_rows=True), unique_key="id")


def test_a_model_that_reads_all_rows_completes_its_table(macros) -> None:
    session = lacking("sample", has_rows=True)
    build(macros, session, plugin={"dbt_delta_asks_incremental": lambda macros: False})
    *_, write, told = session.written()
    assert write.startswith("merge into `s`.`t`")
    assert told == "alter table `s`.`t` unset tblproperties if exists ('dbt_delta.incomplete')"


def test_what_leaves_out_rows_again_changes_nothing_about_it(macros) -> None:
    session = lacking("sample", has_rows=True)
    assert build(macros, session, empty=True, asks=True).written() == []
    session.args["sample"] = SAMPLE
    build(macros, session, asks=True, parents=("model.p.a",))
    assert not any("unset" in sql for sql in session.sent)
    assert session.written()[-1].startswith("merge into `s`.`t`")


SAMPLE = {"start": "2024-01-01", "end": "2024-01-02"}
DAILY = {"incremental_strategy": "microbatch", "event_time": "v"}


@pytest.mark.parametrize(
    ("args", "empty", "parents", "batches", "config", "by"),
    [
        ({}, False, True, 0, {}, None),
        ({}, True, True, 0, {}, "empty"),
        ({"sample": SAMPLE}, False, True, 0, {}, "sample"),
        # Of what has no inputs no option leaves out rows.
        ({}, True, False, 0, {}, None),
        ({"sample": SAMPLE}, False, False, 0, {}, None),
        ({"sample": SAMPLE}, False, False, 1, DAILY, "sample"),
        ({}, True, False, 3, DAILY, "empty"),
        ({}, False, True, 3, DAILY, "batches"),
        ({}, False, True, 1, DAILY, None),
        ({}, False, True, 3, {}, None),
    ],
)
def test_a_build_from_a_part_of_the_rows_says_so(
    macros,
    args: dict[str, Any],
    empty: bool,
    parents: bool,
    batches: int,
    config: dict[str, Any],
    by: str | None,
) -> None:
    session = Session(None, {"id": "int", "v": "string"})
    session.args = args
    plugin = {"dbt_delta_batches": {"model.p.t": batches}.get}
    build(
        macros, session, empty=empty, parents=("model.p.a",) * parents, plugin=plugin, **config
    )  # fmt: skip
    (write,) = session.written()
    marked = re.findall(r"'dbt_delta\.incomplete' = '(\w+)'", write)
    assert marked == ([by] if by else [])


@pytest.mark.parametrize(
    ("batches", "args", "is_refused"),
    [(0, {}, True), (3, {}, False), (0, {"event_time_start": "2024-01-01"}, False)],
)
def test_a_microbatch_goes_on_where_all_batches_follow(
    macros, batches: int, args: dict[str, Any], is_refused: bool
) -> None:
    session = lacking("batches", has_rows=True)
    session.args = args
    plugin = {"dbt_delta_batches": {"model.p.t": batches}.get}
    said = "s.t lacks batches: not all of its build have succeeded, "
    with pytest.raises(CompilationError, match=said) if is_refused else nullcontext():
        build(macros, session, asks=True, plugin=plugin, **DAILY)
    assert not any("unset" in sql for sql in session.sent)
    assert (session.written() == []) is is_refused


@pytest.mark.parametrize(
    ("asks", "parents", "lacks", "is_refused"),
    [
        (True, True, False, True),
        (False, True, False, False),
        (True, False, False, False),
        (True, True, True, False),
    ],
)
def test_a_sample_that_would_count_as_all_up_to_its_end_is_refused(
    macros, asks: bool, parents: bool, lacks: bool, is_refused: bool
) -> None:
    session = lacking("sample", has_rows=True) if lacks else Session(TABLE, {"id": "int"})
    session.args["sample"] = SAMPLE
    said = r"The model of `s`.`t` asks is_incremental\(\): later runs would read only what is newer"
    with pytest.raises(CompilationError, match=said) if is_refused else nullcontext():
        build(macros, session, asks=asks, parents=("model.p.a",) * parents, unique_key="id")
    assert (session.written() == []) is is_refused
