"""Landing files of an erasure: lines of subjects leave them, and nothing lands again."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.erasure.landing import Landing
from tests.functional.harness import Breaking, Invocation, Project, session
from tests.functional.operations import operations

pytestmark = pytest.mark.session

ID = 4711000001
# A number that is in reasons, too: expected 2 fields, found 3.
SHORT = 3
KEY = "mara.canary@a-rather-long-domain.example"
SUBJECT = "config: {meta: {subject: {person: customer_id}}}"
LANDED = """
    {{ config(materialized='incremental', incremental_strategy='append') }}
    {{ dbt_delta.landed_csv('shop/people', {'customer_id': 'bigint', 'note': 'string'}) }}
    """
MODELS = {
    "models/people.sql": LANDED,
    # It has the same files, and no declaration.
    "models/too.sql": LANDED,
    "models/letters.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {{ dbt_delta.landed_files(
            'shop/' ~ 'letters', 'json', {'email': 'string', 'note': 'string'}
        ) }}
        """,
    "models/extra.sql": """
        {{ config(materialized='incremental', incremental_strategy='append',
                  on_schema_change='append_new_columns') }}
        {{ dbt_delta.landed_files(
            'shop/extra', 'csv', {'customer_id': 'bigint'}, drift='add', separator='~'
        ) }}
        """,
    "models/schema.yml": f"""
        models:
          - name: extra
            columns:
              - {{name: customer_id, {SUBJECT}}}
              - {{name: email, config: {{meta: {{subject: {{person: email}}}}}}}}
          - {{name: people, columns: [{{name: customer_id, {SUBJECT}}}]}}
          - name: letters
            columns: [{{name: email, config: {{meta: {{subject: {{person: email}}}}}}}}]
        """,
}
TABLES = ("people", "too", "letters", "extra")
# A line for the subject ends with a mark that is no part of the file.
MARK = b"<"
FILES = {
    "people/a%20b ü.csv": f"""\
customer_id,note\r
1,"47
{ID}
"\r
{ID},"two<
lines, ""and"" a quotation"<
+{ID},plain <
2,{ID}\r
,{ID}
{SHORT},5" wide<
{ID},5" wide<
4,"x
""",
    "people/packed.csv.gz": f"customer_id,note\n{ID},n<\n5,n\n",
    "people/bad.csv": f"customer_id,note\n{ID},n,more<\nx,n\nx,{ID}<\n6,n\n5,n,more",
    "people/gone.csv": f"customer_id,note\n{ID},n,more<\n",
    "people/other.csv": f"id,number\n{ID},n<\n7,n\n",
    "people/bare.csv": f"{ID},n<\n8,n\n",
    "people/only.csv": f"customer_id,note\n{ID},n<\n",
    "people/.hidden.csv": "customer_id,note\n9,n\n",
    "letters/l.json": f"""\
{{"email": "{KEY}", "note": "a"}}<
{{"note": "b", "email": "{KEY.replace("@", chr(92) + "u0040")}"}}<

{{"email": "b", "note": "{KEY}"}}
{{"email": "{KEY}", "note": "c" <
{{"email": "d", "note": "e"}}
""",
    # A file without a column has no values of it.
    "extra/old.csv": f"customer_id~quantity\n8~{ID}\n9~{KEY}\n",
    "extra/new.csv": f"quantity~email~customer_id\n1~x~{ID}<\n2~{KEY}~9<\n4~z~{ID}~<\n3~y~10\n",
}


class Shop:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.landing = project.path / "landing"
        self.vars = {"dbt_delta_landing": str(self.landing)}
        project.write(MODELS)
        project.sql("create schema if not exists {schema}")
        self.ask()
        for name, text in FILES.items():
            self.put(name, text)
        self.put("people/copy.csv.gz", FILES["people/packed.csv.gz"])

    def put(self, name: str, text: str) -> None:
        path = self.landing / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_packed(path, b"".join(line for line, _ in _marked(text))))

    def ask(self) -> None:
        keys = f"select * from values ({ID}L, '{KEY}'), ({SHORT}L, null) as (customer_id, email)"
        self.project.sql(f"create or replace table {{schema}}.requests using delta as {keys}")

    def erase(self, check: bool = True, name: str = "erase", **arguments: Any) -> Invocation:
        given = {"kind": "person", "requests": f"{self.project.schema}.requests", **arguments}
        return operations(self.project, (name, given), vars=self.vars, check=check)

    def failing(
        self, what: str, number: int, break_before: Breaking, monkeypatch: pytest.MonkeyPatch
    ) -> dict[str, int]:
        """Lets a call fail before a statement, or before it puts a file in its place."""
        if what != "replace":
            fails = break_before(lambda sql: f"{what} into" in sql)
            fails["step"] = number
            return fails
        stock, fails = Landing.replace, {"step": number, "calls": 0}

        def replace(*arguments: Any) -> bool:
            fails["calls"] += 1
            if fails["calls"] == fails["step"]:
                raise DbtRuntimeError("injected")
            return stock(*arguments)

        monkeypatch.setattr(Landing, "replace", replace)
        return fails

    def files(self) -> dict[str, bytes]:
        paths = (path for path in (self.landing / "shop").rglob("*") if path.is_file())
        return {str(p.relative_to(self.landing / "shop")): _unpacked(p) for p in paths}

    def rows(self) -> dict[str, list[str]]:
        """Rows of others, without the records of files that were written anew."""
        return {
            name: sorted(
                str(row)
                for row in self.project.rows(name)
                if not (row["_rejected_reason"] or "").startswith("erased")
                and not _is_of_subject(row)
            )
            for name in TABLES
        }

    def subject_rows(self) -> int:
        names = [name for name in TABLES if name != "too"]
        return sum(_is_of_subject(row) for name in names for row in self.project.rows(name))


def _is_of_subject(row: dict[str, Any]) -> bool:
    text = f"{row['_rejected_line']} {row['_rejected_reason']}"
    keys = (row.get("customer_id"), row.get("email"))
    return not {ID, SHORT, KEY}.isdisjoint(keys) or str(ID) in text or KEY in text


def _marked(text: str) -> list[tuple[bytes, bool]]:
    """Its lines, and whether they are of the subject."""
    lines = text.encode().splitlines(keepends=True)
    return [(line.replace(MARK, b""), MARK in line) for line in lines]


def _packed(path: Path, content: bytes) -> bytes:
    return gzip.compress(content) if path.suffix == ".gz" else content


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.fixture(autouse=True)
def secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBT_ENV_SECRET_ERASURE_KEY", "a secret of a test, long enough")


LATE = {"people/late.csv": f"customer_id,note\n{ID},late<\n10,late\n"}
LATE |= {"people/twice.csv": FILES["people/a%20b ü.csv"]}
OTHERS = {**FILES, **LATE, "people/copy.csv.gz": FILES["people/packed.csv.gz"]}
EXPECTED = {
    name: b"".join(line for line, is_of_subject in _marked(text) if not is_of_subject)
    for name, text in OTHERS.items()
}
# Before what a call is broken off; in CI none is.
STEPS = ["", "replace 4", "insert 1", "insert 2", "replace 1", "merge 1", "merge 2"]


@pytest.mark.parametrize(
    "step",
    [pytest.param(step, marks=[pytest.mark.long] * (n > 0)) for n, step in enumerate(STEPS)],
)
def test_files_are_written_anew_and_do_not_land_again(
    project: Project, break_before: Breaking, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    shop = Shop(project)
    project.dbt("run", vars=shop.vars)
    before = shop.rows()
    assert shop.subject_rows() == 16
    for name, text in LATE.items():
        shop.put(name, text)
    contents = shop.files()
    lines = json.loads(shop.erase(name="erase_plan", output="json", landing="rewrite").printed)
    found = {line["table"]: (line["rows"], line["data files"]) for line in lines}
    assert found["landing folder shop/people"] == (17, 10)
    assert found["landing folder shop/letters"] == (3, 1)
    assert found["landing folder shop/extra"] == (3, 1)
    assert shop.files() == contents
    if step:
        what, _, number = step.partition(" ")
        fails = shop.failing(what, int(number), break_before, monkeypatch)
        assert not shop.erase(check=False, landing="rewrite").success
        fails["step"] = 0
        # A run between loads no row twice.
        project.dbt("run", vars=shop.vars)
    shop.erase(landing="rewrite")
    assert sorted(shop.files()) == sorted(EXPECTED)
    assert shop.files() == EXPECTED
    assert not shop.subject_rows()
    project.dbt("run", vars=shop.vars)
    after = shop.rows()
    late = {name: [row for row in rows if "10, " in row] for name, rows in after.items()}
    assert [len(rows) for rows in late.values()] == [1, 1, 0, 1]
    known = ("late.csv", "twice.csv")
    assert before == {
        name: [row for row in rows if not any(one in row for one in known)]
        for name, rows in after.items()
    }
    versions = {name: project.version(name) for name in TABLES}
    project.dbt("run", vars=shop.vars)
    assert {name: project.version(name) for name in TABLES} == versions
    project.dbt("run", "--full-refresh", vars=shop.vars)
    assert not shop.subject_rows()


@pytest.mark.long
def test_a_run_that_has_read_a_file_may_commit_it_meanwhile(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(project)
    project.dbt("run", vars=shop.vars)
    shop.put("people/late.csv", LATE["people/late.csv"])
    stock = Landing.replace

    def replace(self: Landing, path: str, size: int, modified_at: int, part: str | None) -> bool:
        if path.endswith("late.csv"):
            # The rows that a run has of the old file.
            project.sql(
                "insert into {schema}.people (customer_id, note, _file, _line, _file_modified_at,"
                " _file_size, _file_hash, _load_id) select *, 'late', 'late.csv', 3,"
                f" timestamp_micros({modified_at}), {size}, 'h', 9 from values (10), ({ID})"
            )
        return stock(self, path, size, modified_at, part)

    monkeypatch.setattr(Landing, "replace", replace)
    shop.erase(landing="rewrite")
    project.dbt("run", vars=shop.vars)
    assert [row["note"] for row in project.rows("people") if row["customer_id"] == 10] == ["late"]
    assert not shop.subject_rows()


LISTS = {
    "models/lists.sql": """
        {{ config(materialized='incremental', incremental_strategy='append') }}
        {{ dbt_delta.landed_files(folder='shop/' ~ var('folder'), format='parquet') }}
        """,
    "models/schema.yml": f"models: [{{name: lists, columns: [{{name: customer_id, {SUBJECT}}}]}}]",
    **dict.fromkeys(f"models/{name}.sql" for name in TABLES),
}


@pytest.mark.long
def test_columnar_files_are_removed_and_not_written_anew(project: Project) -> None:
    shop = Shop(project)
    project.write(LISTS)
    shop.vars["folder"] = "lists"
    folder = shop.landing / "shop" / "lists"
    folder.mkdir()
    for name, first in {"a": ID, "b": 1}.items():
        ids = session().range(first, first + 2).withColumnRenamed("id", "customer_id")
        ids.coalesce(1).write.parquet(str(project.path / name))
        (part,) = (project.path / name).glob("*.parquet")
        part.rename(folder / f"{name}.parquet")
    project.dbt("run", vars=shop.vars)
    before = project.version("lists")
    for landing, message in {
        "delete": "lists does not say which files it lands: folder of landed_files is no constant",
        "archive": "Use one of",
    }.items():
        assert message in shop.erase(check=False, landing=landing).output
    about = "config: {meta: {landing: {folder: shop/lists, format: parquet}}}"
    schema = LISTS["models/schema.yml"].replace("{name: lists,", f"{{name: lists, {about},")
    project.write({"models/schema.yml": schema})
    output = shop.erase(check=False, landing="rewrite").output
    assert "landing folder shop/lists has files of format parquet, which rewrite does not" in output
    assert (project.version("lists"), len(list(folder.iterdir()))) == (before, 2)
    folder.rename(shop.landing / "elsewhere")
    output = shop.erase(check=False, landing="delete").output
    assert "The landing folder shop/lists is not there" in output
    (shop.landing / "elsewhere").rename(folder)
    shop.erase(landing="delete")
    assert [path.name for path in folder.iterdir()] == ["b.parquet"]
    assert sorted(row["customer_id"] for row in project.rows("lists")) == [1, 2, ID + 1]
    (page,) = (project.path / "erasure").glob("*.md")
    assert "Landing files: delete: 1 with subjects in `shop/lists`" in page.read_text()
    # It is found again if somebody brings it back.
    (folder / "b.parquet").rename(folder / "c.parquet")
    session().range(ID, ID + 1).withColumnRenamed("id", "customer_id").coalesce(1).write.parquet(
        str(project.path / "c")
    )
    (part,) = (project.path / "c").glob("*.parquet")
    part.rename(folder / "d.parquet")
    run = operations(project, ("erase_verify", {"request": page.stem}), vars=shop.vars, check=False)
    assert "landing folder shop/lists: landing file: customer_id" in run.output
    assert not run.success


@pytest.mark.long
def test_rejected_lines_are_redacted(project: Project) -> None:
    shop = Shop(project)
    project.dbt("run", "-s", "people", vars=shop.vars)
    (shop.project.path / "models" / "extra.sql").unlink()
    (shop.project.path / "models" / "letters.sql").unlink()
    columns = f"columns: [{{name: customer_id, {SUBJECT}}}]"
    project.write({"models/schema.yml": f"models: [{{name: people, {columns}}}]"})
    count = len(project.rows("people"))
    project.sql(
        f"create or replace table {{schema}}.requests using delta as select {ID}L as customer_id"
    )
    shop.put("people/equal.csv", "customer_id,note\n5,n\n")
    contents = shop.files()
    output = shop.erase(check=False, landing="rewrite").output
    assert re.search("(copy.csv.gz, equal.csv|equal.csv, packed.csv.gz) would have the", output)
    assert shop.files() == contents
    shop.erase(action="redact")
    rows = project.rows("people")
    assert len(rows) == count
    kept = [
        row
        for row in rows
        if str(ID) in str((row["customer_id"], row["_rejected_line"], row["_rejected_reason"]))
    ]
    assert not kept
    shop.erase(action="redact")
    assert [one["operation"] for one in project.history("people")].count("MERGE") == 1
