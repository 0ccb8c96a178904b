"""Random incremental models: what they are configured to be, and the SQL of their batches.

A ``Case`` is plain data. ``cases()`` is the hypothesis strategy that draws one, ``Case.model()``
the text of its dbt model, and ``Case.described()`` what a person needs to repeat it by hand.
Names in a case are spelled as the SQL spells them; they are compared in lower case.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

from hypothesis import strategies as st

from tests.functional.vocabulary import REDACTED, all_names, quoted

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Type:
    """A Spark type: ``int``, ``decimal(10,2)`` ..; struct, array and map have parts."""

    name: str
    fields: tuple["Column", ...] = ()

    def __str__(self) -> str:
        if self.name == "struct":
            return f"struct<{','.join(f'{f.name}:{f.type}' for f in self.fields)}>"
        if self.fields:
            return f"{self.name}<{','.join(str(f.type) for f in self.fields)}>"
        return self.name

    @property
    def sql(self) -> str:
        """As a cast takes it."""
        if self.name == "struct":
            return f"struct<{', '.join(f'{quoted(f.name)}: {f.type.sql}' for f in self.fields)}>"
        if self.fields:
            return f"{self.name}<{', '.join(f.type.sql for f in self.fields)}>"
        return self.name


@dataclass(frozen=True)
class Column:
    """A column, or a field of a struct."""

    name: str
    type: Type

    @property
    def key(self) -> str:
        return self.name.lower()


def find(columns: Sequence[Column], name: str) -> Column | None:
    """The column with that name, in any case."""
    return next((column for column in columns if column.key == name.lower()), None)


def struct(**fields: str) -> Type:
    """A struct of plain types."""
    return Type("struct", tuple(Column(name, Type(text)) for name, text in fields.items()))


def _struct(names: Sequence[str]) -> Type:
    """A struct of a number and a text."""
    number, note = names
    return Type("struct", (Column(number, Type("int")), Column(note, Type("string"))))


def array(element: Type) -> Type:
    """An array type."""
    return Type("array", (Column("element", element),))


def string_map(value: Type) -> Type:
    """A map type with string keys."""
    return Type("map", (Column("key", Type("string")), Column("value", value)))


@dataclass(frozen=True)
class Condition:
    """A comparison of a column with a constant, or with the same column of the other side."""

    column: str
    op: str
    value: Any = None
    type: Type = Type("int")
    side: str = ""  # "", "source" or "target"

    def sql(self, aliases: Mapping[str, str]) -> str:
        """The condition; ``aliases`` names the two sides."""
        name = quoted(self.column)
        here = f"{aliases[self.side]}.{name}" if self.side else name
        if self.op == "pair":
            return f"{aliases['target']}.{name} < {aliases['source']}.{name}"
        if self.op in ("is null", "is not null"):
            return f"{here} {self.op}"
        if self.op == "in":
            return f"{here} in ({', '.join(literal(v, self.type) for v in self.value)})"
        if self.op == "subquery":
            return f"{here} in (select id + {self.value} from range(3))"
        if self.op == "between":
            low, high = (literal(v, self.type) for v in self.value)
            return f"{here} between {low} and {high}"
        if self.op == "even":
            return f"pmod({here}, 2) = 0"
        if self.op == "coalesce":
            return f"coalesce({here}, 0) >= {self.value}"
        if self.op == "lower":
            return f"lower({here}) = {literal(self.value, self.type)}"
        if self.op == "or null":
            return f"{here} is null or {here} > {literal(self.value, self.type)}"
        return f"{here} {self.op} {literal(self.value, self.type)}"

    def holds(self, source: Row | None, target: Row | None) -> bool | None:
        """Whether it is true; None for SQL's NULL."""
        name = self.column.lower()
        if self.op == "pair":
            assert source is not None
            assert target is not None
            left, right = target[name], source[name]
            return None if left is None or right is None else left < right
        row = {"source": source, "target": target, "": source if target is None else target}
        value = row[self.side][name]
        if self.op in ("is null", "is not null"):
            return (value is None) == (self.op == "is null")
        if self.op == "coalesce":
            return (value or 0) >= self.value
        if self.op == "or null" and value is None:
            return True
        if value is None:
            return None
        return {
            "in": lambda: value in self.value,
            "subquery": lambda: self.value <= value < self.value + 3,
            "between": lambda: self.value[0] <= value <= self.value[1],
            "even": lambda: value % 2 == 0,
            "lower": lambda: value.lower() == self.value,
            "or null": lambda: value > self.value,
            "=": lambda: value == self.value,
            "<>": lambda: value != self.value,
            "<": lambda: value < self.value,
            ">=": lambda: value >= self.value,
        }[self.op]()


@dataclass(frozen=True)
class Batch:
    """What the model's SELECT gives in one run."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    keys: tuple[str, ...] = ()  # unique_key as this run's config spells it

    def records(self) -> list[dict[str, Any]]:
        """The rows by column names in lower case."""
        return [dict(zip((c.key for c in self.columns), row, strict=True)) for row in self.rows]

    def sql(self) -> str:
        """A SELECT without tables."""
        if not self.rows:
            texts = [f"cast(null as {c.type.sql}) as {quoted(c.name)}" for c in self.columns]
            return f"select {', '.join(texts)} from range(1) where id < 0"
        names = [f"c{n}" for n in range(len(self.columns))]
        shown = [
            f"{name} as {quoted(column.name)}"
            for name, column in zip(names, self.columns, strict=True)
        ]
        rows = [
            "("
            + ", ".join(literal(v, c.type) for v, c in zip(row, self.columns, strict=True))
            + ")"
            for row in self.rows
        ]
        return (
            f"select {', '.join(shown)}\nfrom values\n    "
            + ",\n    ".join(rows)
            + f"\nas t({', '.join(names)})"
        )


@dataclass(frozen=True)
class Case:
    """A model, and what its SELECT gives in the runs one after the other."""

    strategy: str
    batches: tuple[Batch, ...]
    unique_key: tuple[str, ...] = ()
    partition_by: tuple[str, ...] = ()
    clustered_by: tuple[str, ...] = ()
    predicates: tuple[Condition, ...] = ()
    predicates_as_text: bool = False
    matched: Condition | None = None
    not_matched: Condition | None = None
    by_source: str | None = None  # "delete", or the column that is set to NULL
    by_source_condition: Condition | None = None
    update_columns: tuple[str, ...] = ()
    exclude_columns: tuple[str, ...] = ()
    aliases: tuple[str, str] | None = None
    event_time: str | None = None
    order_by: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # those with plain values
    properties: Mapping[str, str] = field(default_factory=dict)
    shape: str = "plain"

    @property
    def schema_mode(self) -> str:
        return self.options.get("on_schema_change", "ignore")

    def names(self) -> dict[str, str]:
        """Alias of the source and of the target."""
        source, target = self.aliases or ("DBT_INTERNAL_SOURCE", "DBT_INTERNAL_DEST")
        return {"source": source, "target": target}

    def config(self, step: int) -> dict[str, Any]:
        """The model's configuration in one of its runs."""
        names = self.names()
        keys = self.batches[step].keys
        predicates = [f"{test.sql(names)}" for test in self.predicates]
        config: dict[str, Any] = {
            "materialized": "incremental",
            "incremental_strategy": self.strategy,
            "unique_key": keys[0] if len(keys) == 1 else list(keys),
            "partition_by": list(self.partition_by),
            "liquid_clustered_by": list(self.clustered_by),
            "incremental_predicates": predicates[0]
            if self.predicates_as_text and predicates
            else predicates,
            "matched_condition": self.matched and self.matched.sql(names),
            "not_matched_condition": self.not_matched and self.not_matched.sql(names),
            "not_matched_by_source_action": self.by_source
            and (
                "delete"
                if self.by_source == "delete"
                else f"update set {quoted(self.by_source)} = null"
            ),
            "not_matched_by_source_condition": self.by_source_condition
            and self.by_source_condition.sql(names),
            "merge_update_columns": list(self.update_columns),
            "merge_exclude_columns": list(self.exclude_columns),
            "source_alias": self.aliases and self.aliases[0],
            "target_alias": self.aliases and self.aliases[1],
            "duplicate_keys_order_by": self.order_by and f"{quoted(self.order_by)} desc",
            "tblproperties": dict(self.properties),
            **self.options,
        }
        if self.event_time:
            config |= {"event_time": self.event_time, "begin": "2024-01-01", "batch_size": "day"}
        return {name: value for name, value in config.items() if value not in (None, [], {})}

    def query(self, step: int) -> str:
        """The model's SELECT in one run."""
        sql = self.batches[step].sql()
        if self.event_time:
            time = f"cast({quoted(self.event_time)} as timestamp)"
            bound = "timestamp'{{ model.batch.event_time_%s }}'"
            sql = (
                f"select * from (\n{sql}\n)\n{{% if model.batch %}}\n"
                f"where {time} >= {bound % 'start'} and {time} < {bound % 'end'}\n{{% endif %}}"
            )
        return {
            "plain": sql,
            "comment": f"{sql}; -- the end",
            "with": f"with batch as (\n{sql}\n)\nselect * from batch;",
            "join": f"select b.* from (\n{sql}\n) as b left join (select 1 as one) as o on false",
            "union": f"select * from (\n{sql}\n) union all select * from (\n{sql}\n) where false",
        }[self.shape]

    def model(self) -> str:
        """The file of the model; the variable ``step`` says which run it is."""
        *branches, last = [
            f"{self._header(n)}\n{self.query(n)}\n" for n in range(len(self.batches))
        ]
        texts = [
            f"{{% {'elif' if n else 'if'} var('step') == {n} %}}\n{branch}"
            for n, branch in enumerate(branches)
        ]
        # A run more than there are batches has nothing new.
        return "".join([*texts, "{% else %}\n", last, "{% endif %}\n"]) if texts else last

    def described(self) -> str:
        """The case for a person: the model of each run."""
        texts = [
            f"-- run {n}\n{self._header(n)}\n{self.query(n)}" for n in range(len(self.batches))
        ]
        return "\n".join(texts)

    def _header(self, step: int) -> str:
        settings = self.config(step).items()
        return "{{ config(%s) }}" % ", ".join(f"{k}={json.dumps(v)}" for k, v in settings)  # noqa: UP031


def literal(value: Any, type: Type) -> str:
    """A value as a SQL expression of exactly that type."""
    if value is None:
        return f"cast(null as {type.sql})"
    if type.name == "struct":
        parts = [f"{text(f.name)}, {literal(value[f.key], f.type)}" for f in type.fields]
        return f"named_struct({', '.join(parts)})"
    if type.name == "array":
        items = ", ".join(literal(v, type.fields[0].type) for v in value)
        return f"cast(array({items}) as {type.sql})"
    if type.name == "map":
        items = ", ".join(f"{text(k)}, {literal(v, type.fields[1].type)}" for k, v in value.items())
        return f"cast(map({items}) as {type.sql})"
    if type.name == "string":
        return text(value)
    return f"cast('{value}' as {type.sql})"


def text(value: str) -> str:
    """A string literal in which every character that may mean something is escaped."""
    escaped = [
        c if c.isascii() and (c.isalnum() or c in " _-:.") else f"\\U{ord(c):08X}" for c in value
    ]
    return "'" + "".join(escaped) + "'"


# What is drawn ---------------------------------------------------------------------------------

BASE = datetime(2024, 1, 1)
WINDOWS = ((0, 3), (2, 4), (1, 5), (3, 4), (3, 4))  # days of the runs of a microbatch model
VALUES: dict[str, list[Any]] = {
    "int": [1, 2, 3, 0, -1, 2**31 - 1, -(2**31)],
    "bigint": [1, 2, 3, 0, -1, 2**31, 2**63 - 1, -(2**63)],
    "string": [
        "", "a", "b", "A", "1", " ", "a ", "O'Neil", "back\\slash", "${x}", "{{ x }}", "ä",
        "\ufffd", "😀", "x" * 40, "x" * 39 + "y", "null", "%", "line\nbreak", 'q"q',
    ],
    "date": [
        *(date(2024, 1, day) for day in (1, 2, 3)),
        date(1, 1, 1), date(1582, 10, 4), date(1969, 12, 31), date(9999, 12, 31),
    ],
    "timestamp": [
        BASE, BASE + timedelta(days=1), BASE + timedelta(hours=12, microseconds=123456),
        BASE + timedelta(hours=12, microseconds=123457), datetime(1900, 1, 1),
        datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(9999, 12, 31, 23, 59, 59, 999999),
    ],
    "timestamp_ntz": [datetime(2024, 1, 1), datetime(2024, 1, 2)],
    "decimal(10,2)": [
        Decimal(text) for text in ("1.00", "1.50", "-1.50", "0.00", "99999999.99", "0.01")
    ],
    "decimal(14,4)": [Decimal(text) for text in ("1.0000", "1.5000", "9999999999.0000")],
}  # fmt: skip
KEY_TYPES = ("bigint", "string", "date", "timestamp", "decimal(10,2)", "int")
WIDER = {"int": "bigint", "decimal(10,2)": "decimal(14,4)", "date": "timestamp_ntz"}
NARROWER = {"bigint": "int", "decimal(14,4)": "decimal(10,2)"}
ROW_TIMES = [BASE + timedelta(hours=h) for h in (0, 5, 23, 24, 30, 47, 48, 71, 72, 95, 96, 119)]


class _Drawn:
    """Draws the parts of one case."""

    def __init__(self, source: Random) -> None:
        self._random = source
        self._pools: dict[tuple[str, str], list[Any]] = {}

    def one(self, options: Sequence[Any]) -> Any:
        return self._random.choice(options)

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def some(self, options: Sequence[Any], least: int, most: int) -> list[Any]:
        return self._random.sample(options, self.number(least, min(most, len(options))))

    def number(self, low: int, high: int) -> int:
        return self._random.randint(low, high)

    def spelled(self, name: str) -> str:
        """The name in another case."""
        others = [name.upper(), name.lower(), name.swapcase()]
        # ß in capitals is another name.
        return self.one([name, name, *(n for n in others if n.lower() == name.lower())])

    def value(self, name: str, type: Type) -> Any:
        """One of the few values of a column, so that rows match."""
        if type.name == "struct":
            if self.chance(15):
                return None
            return {f.key: self.value(f"{name}.{f.key}", f.type) for f in type.fields}
        if type.name == "array":
            if self.chance(15):
                return None
            return [self.value(f"{name}[]", type.fields[0].type) for _ in range(self.number(0, 2))]
        if type.name == "map":
            if self.chance(15):
                return None
            keys = self.some(["a", "b"], 0, 2)
            return {key: self.value(f"{name}[]", type.fields[1].type) for key in keys}
        pool = self._pools.get((name, type.name))
        if pool is None:
            values = self.some(VALUES[type.name], 2, 4)
            pool = self._pools[(name, type.name)] = values
        return None if self.chance(12) else self.one(pool)


def cases() -> st.SearchStrategy[Case]:
    """Random cases, with the weights that are written here and not those of hypothesis."""
    return st.randoms(use_true_random=True).map(_case)


def _case(source: Random) -> Case:
    drawn = _Drawn(source)
    strategy = drawn.one(
        ["merge"] * 8
        + ["delete+insert"] * 3
        + ["insert_overwrite"] * 3
        + ["replace_where"] * 3
        + ["append"] * 2
        + ["microbatch"]
    )
    mapped = drawn.chance(35)
    names = drawn.some(all_names(mapped), 12, 12)
    able = [name for name in names if not (set("{}$%\\") & set(name))]
    fields = drawn.some([*able, "a", "b", "x", "y"], 4, 4)
    keys = [
        Column(names.pop(), Type(drawn.one(KEY_TYPES)))
        for _ in range(drawn.one([1, 1, 1, 2, 2, 3]))
    ]
    number, note = Column(names.pop(), Type("int")), Column(names.pop(), Type("string"))
    more = [
        Column(names.pop(), type)
        for type in drawn.some(
            [
                Type("decimal(10,2)"), Type("date"), _struct(fields[:2]),
                array(Type("int")), string_map(Type("int")), array(_struct(fields[2:])),
            ],
            0, 3,
        )
    ]  # fmt: skip
    columns = [*keys, number, note, *more]
    event_time = None
    if strategy == "microbatch":
        event_time = Column(names.pop(), Type(drawn.one(["timestamp", "date", "string"])))
        columns.append(event_time)

    case = Case(strategy, ())
    case = _with_layout(drawn, case, keys, number, note)
    case = _with_keys(drawn, case, keys)
    order_by = None
    if case.options.get("duplicate_keys") == "latest":
        order_by = Column(names.pop(), Type("int"))
        columns.append(order_by)
        case = replace(case, order_by=order_by.name)
    case = _with_predicates(drawn, case, number, note)
    if strategy == "merge":
        case = _with_merge_options(drawn, case, keys, number, note, more)
    if event_time:
        case = replace(case, event_time=event_time.name)
    case = _with_rest(drawn, case, mapped)

    fixed = {c.key for c in (*keys, number, note, event_time, order_by) if c}
    fixed |= {name.lower() for name in case.update_columns}
    batches: list[Batch] = []
    evolves = drawn.chance(50)
    for step in range(1 + drawn.one([1, 1, 1, 2, 2, 3])):
        if step and evolves and drawn.chance(75):
            columns = _changed(drawn, columns, fixed, case, names)
        spelled = [
            Column(drawn.spelled(c.name) if step or drawn.chance(30) else c.name, c.type)
            for c in columns
        ]
        if step and drawn.chance(40):
            source.shuffle(spelled)
        batches.append(_batch(drawn, case, tuple(spelled), step))
    return replace(case, batches=tuple(batches))


def _with_layout(
    drawn: _Drawn, case: Case, keys: list[Column], number: Column, note: Column
) -> Case:
    # Delta's MERGE cannot partition by a name with a backtick (INVALID_ATTRIBUTE_NAME_SYNTAX).
    able = [c.name for c in (*keys, note, number) if not {".", "`"} & set(c.name)]
    if case.strategy == "insert_overwrite":
        kind = drawn.one(["partition", "partition", "cluster", "whole"])
    else:
        kind = drawn.one(["partition", "cluster", "", ""])
    chosen = tuple(drawn.spelled(name) for name in drawn.some(able, 1, 2)) if able else ()
    if kind == "partition":
        return replace(case, partition_by=chosen)
    return replace(case, clustered_by=chosen) if kind == "cluster" else case


def _with_keys(drawn: _Drawn, case: Case, keys: list[Column]) -> Case:
    keyed = case.strategy == "delete+insert" or (
        drawn.chance(93) if case.strategy == "merge" else drawn.chance(30)
    )
    if case.strategy == "microbatch":
        keyed = False
    options: dict[str, Any] = {}
    if keyed and drawn.chance(35):
        options["duplicate_keys"] = drawn.one(["error", "latest", "latest"])
    if keyed and drawn.chance(35):
        options["null_keys"] = drawn.one(["match", "error"])
    unique_key = tuple(c.name for c in keys) if keyed else ()
    return replace(case, unique_key=unique_key, options=options)


def _test(drawn: _Drawn, number: Column, note: Column, side: str, ops: Sequence[str]) -> Condition:
    """A condition on the number, or sometimes on the text."""
    op = drawn.one(ops)
    if op in ("is null", "is not null"):
        return Condition(drawn.spelled(drawn.one([number, note]).name), op, side=side)
    name = drawn.spelled(number.name)
    if op == "lower":
        return Condition(drawn.spelled(note.name), op, "a", note.type, side)
    if op == "text":
        return Condition(drawn.spelled(note.name), ">=", "b", note.type, side)
    if op == "in":
        return Condition(name, op, (0, 1, 2), number.type, side)
    if op == "between":
        return Condition(name, op, (0, 2), number.type, side)
    value = drawn.one([0, 1, 2]) if op in ("subquery", "coalesce") else drawn.one([0, 1, 2, 3])
    return Condition(name, op, value, number.type, side)


SIMPLE = ("=", "<>", "<", ">=", "in", "is not null", "text", "is null")


def _with_predicates(drawn: _Drawn, case: Case, number: Column, note: Column) -> Case:
    if case.strategy == "replace_where":
        ops = (*SIMPLE, "between", "even", "coalesce", "lower", "or null", "subquery")
        count = drawn.one([1, 1, 1, 2, 0])
        tests = [_test(drawn, number, note, "", ops) for _ in range(count)]
    elif case.strategy == "delete+insert" and drawn.chance(30):
        tests = [_test(drawn, number, note, "", ("<>", "<", ">=", "in", "coalesce"))]
    elif case.strategy == "merge" and case.unique_key and drawn.chance(20):
        side = drawn.one(["target", "target", "source"])
        tests = [
            drawn.one(
                [
                    _test(drawn, number, note, side, SIMPLE),
                    Condition(drawn.spelled(number.name), "pair"),
                ]
            )
        ]
    else:
        tests = []
    return replace(
        case,
        predicates=tuple(tests),
        predicates_as_text=len(tests) == 1 and drawn.chance(50),
    )


def _with_merge_options(
    drawn: _Drawn, case: Case, keys: list[Column], number: Column, note: Column, more: list[Column]
) -> Case:
    options = dict(case.options)
    if drawn.chance(15):
        case = replace(case, aliases=drawn.one([("s", "t"), ("new", "old")]))
    if drawn.chance(25):
        case = replace(case, matched=_test_of_pair(drawn, number, note))
    if drawn.chance(20):
        case = replace(case, not_matched=_test(drawn, number, note, "source", SIMPLE))
    names = [c.name for c in (number, note, *more)]
    listed = drawn.one(["", "", "", "update", "exclude"])
    chosen = tuple(drawn.spelled(name) for name in drawn.some(names, 1, 2))
    if listed == "update":
        case = replace(case, update_columns=chosen)
    elif listed == "exclude":
        case = replace(case, exclude_columns=chosen)
    if drawn.chance(12):
        options["skip_matched_step"] = True
    if drawn.chance(12):
        options["skip_not_matched_step"] = drawn.one([True, "true"])
    if drawn.chance(25):
        case = replace(case, by_source=drawn.one(["delete", number.name, note.name]))
        if drawn.chance(50):
            test = _test(drawn, number, note, "target", SIMPLE)
            case = replace(case, by_source_condition=test)
    if drawn.chance(40):
        options["merge_skip_unchanged"] = True
    if drawn.chance(50):
        options["merge_prune"] = drawn.one(["off", "auto", [keys[0].name]])
    if not case.unique_key:
        options.pop("merge_prune", None)
    return replace(case, options=options)


def _test_of_pair(drawn: _Drawn, number: Column, note: Column) -> Condition:
    if drawn.chance(40):
        return Condition(drawn.spelled(number.name), "pair")
    return _test(drawn, number, note, drawn.one(["source", "target"]), SIMPLE)


def _with_rest(drawn: _Drawn, case: Case, mapped: bool) -> Case:
    options = dict(case.options)
    mode = drawn.one(
        ["", "ignore", "append_new_columns", "sync_all_columns", "sync_all_columns", "fail"]
    )
    if mode:
        options["on_schema_change"] = mode
    if drawn.chance(50):
        options["stage"] = drawn.one(["view", "table", "auto"])
    properties = {}
    if drawn.chance(50):
        properties["delta.enableDeletionVectors"] = drawn.one(["true", "false"])
    if mapped:
        properties["delta.columnMapping.mode"] = "name"
    if drawn.chance(45):
        properties["delta.enableTypeWidening"] = "true"
    if drawn.chance(30):
        properties |= REDACTED
    if case.strategy not in ("merge", "append") and drawn.chance(40):
        options["merge_skip_unchanged"] = True
    shapes = ["plain", "plain", "comment", "with", "join", "union"]
    return replace(case, options=options, properties=properties, shape=drawn.one(shapes))


def _changed(
    drawn: _Drawn, columns: list[Column], fixed: set[str], case: Case, names: list[str]
) -> list[Column]:
    """The columns after a change of the model: one added, missing, wider, narrower, nested."""
    layout = {name.lower() for name in case.partition_by + case.clustered_by}
    done = list(columns)
    for kind in drawn.some(["add", "drop", "widen", "narrow", "nested", "text"], 1, 2):
        free = [c for c in done if c.key not in fixed | layout]
        nested = [c for c in free if c.type.name in ("struct", "array", "map")]
        if kind == "add" and names:
            kinds = [Type("bigint"), Type("string"), Type("date"), struct(a="int", c="string")]
            done.insert(drawn.number(0, len(done)), Column(names.pop(), drawn.one(kinds)))
        elif kind == "drop" and free:
            done.remove(drawn.one(free))
        elif kind == "nested" and nested:
            column = drawn.one(nested)
            done[done.index(column)] = Column(column.name, _changed_type(drawn, column.type))
        elif kind == "text" and drawn.chance(25):
            done = [
                Column(c.name, Type("int")) if c in free and c.type.name == "string" else c
                for c in done
            ]
        elif kind in ("widen", "narrow"):
            types = WIDER if kind == "widen" else NARROWER
            able = [
                c
                for c in done
                if c.type.name in types
                and c.key not in layout
                and not (c.type.name == "date" and c.key in fixed)
                and c.name != case.event_time
            ]
            if able:
                column = drawn.one(able)
                wide = Type(types[column.type.name])
                done[done.index(column)] = Column(column.name, wide)
    return done


def _changed_type(drawn: _Drawn, type: Type) -> Type:
    if type.name == "struct":
        fields = list(type.fields)
        for kind in drawn.some(["add", "drop", "widen"], 1, 2):
            if kind == "add" and not find(fields, "z"):
                fields.append(Column(drawn.one(["z", "Z"]), Type(drawn.one(["int", "string"]))))
            elif kind == "drop" and len(fields) > 1:
                fields.remove(drawn.one(fields))
            elif kind == "widen":
                fields = [
                    Column(drawn.spelled(f.name), Type(WIDER.get(f.type.name, f.type.name)))
                    for f in fields
                ]
        return Type("struct", tuple(fields))
    *others, last = type.fields
    if last.type.name == "struct":
        inner = _changed_type(drawn, last.type)
    else:
        inner = Type(WIDER.get(last.type.name, last.type.name))
    return Type(type.name, (*others, Column(last.name, inner)))


def _batch(drawn: _Drawn, case: Case, columns: tuple[Column, ...], step: int) -> Batch:
    rows: list[tuple[Any, ...]] = []
    if not drawn.chance(6):
        for number in range(drawn.number(1, 7 if step == 0 else 5)):
            rows.append(tuple(_cell(drawn, case, c, number) for c in columns))
    keys = {name.lower() for name in case.unique_key}
    wanted = "error" if case.strategy == "merge" else None
    checked = case.options.get("duplicate_keys", wanted if step else None) == "error"
    if keys and drawn.chance(75 if checked else 40):
        rows = _distinct(rows, [n for n, c in enumerate(columns) if c.key in keys])
    if case.options.get("null_keys") == "error" and drawn.chance(75):
        at = [n for n, c in enumerate(columns) if c.key in keys]
        rows = [row for row in rows if all(row[n] is not None for n in at)]
    if case.strategy == "replace_where" and drawn.chance(80):
        batch = Batch(columns, tuple(rows))
        rows = [
            row
            for row, record in zip(rows, batch.records(), strict=True)
            if all(test.holds(record, None) for test in case.predicates)
        ]
    spelled = tuple(drawn.spelled(name) for name in case.unique_key)
    return Batch(columns, tuple(rows), spelled)


def _cell(drawn: _Drawn, case: Case, column: Column, number: int) -> Any:
    if case.order_by and column.key == case.order_by.lower():
        return number  # without ties, the latest row is one
    if case.event_time and column.key == case.event_time.lower():
        time = drawn.one(ROW_TIMES)
        if column.type.name == "date":
            return time.date()
        return str(time) if column.type.name == "string" else time
    value = drawn.value(column.key, column.type)
    # It is refused, so it must be rare; a microbatch model would continue with the next days.
    partitions = {name.lower() for name in case.partition_by}
    is_bad = value == "" and column.key in partitions
    return None if is_bad and (case.strategy == "microbatch" or drawn.chance(85)) else value


def _distinct(rows: list[tuple[Any, ...]], at: list[int]) -> list[tuple[Any, ...]]:
    return list({tuple(row[n] for n in at): row for row in rows}.values())


# Less of a case --------------------------------------------------------------------------------


def smaller(case: Case) -> Iterator[Case]:
    """The case with one thing less each; those that leave out most come first."""
    last = len(case.batches) - 1
    for n in range(last + 1):
        if last > 0:
            yield replace(case, batches=case.batches[:n] + case.batches[n + 1 :])
    plain = Case(case.strategy, case.batches)
    for name in (
        "partition_by", "clustered_by", "predicates", "matched", "not_matched", "by_source",
        "by_source_condition", "update_columns", "exclude_columns", "aliases", "shape",
    ):  # fmt: skip
        if getattr(case, name) != getattr(plain, name):
            yield replace(case, **{name: getattr(plain, name)})
    for name in ("options", "properties"):
        values = getattr(case, name)
        for key in values:
            yield replace(case, **{name: {k: v for k, v in values.items() if k != key}})
    used = _used(case)
    for key in {c.key for batch in case.batches for c in batch.columns} - used:
        yield replace(case, batches=tuple(_without(batch, key) for batch in case.batches))
    for n, batch in enumerate(case.batches):
        for at in range(len(batch.rows)):
            less = replace(batch, rows=batch.rows[:at] + batch.rows[at + 1 :])
            yield replace(case, batches=(*case.batches[:n], less, *case.batches[n + 1 :]))


def _used(case: Case) -> set[str]:
    tests = (*case.predicates, case.matched, case.not_matched, case.by_source_condition)
    names = {test.column for test in tests if test}
    names |= {*case.unique_key, *case.partition_by, *case.clustered_by, *case.update_columns}
    names |= {case.event_time or "", case.order_by or "", case.by_source or ""}
    return {name.lower() for name in names}


def _without(batch: Batch, key: str) -> Batch:
    at = [n for n, column in enumerate(batch.columns) if column.key != key]
    return replace(
        batch,
        columns=tuple(batch.columns[n] for n in at),
        rows=tuple(tuple(row[n] for n in at) for row in batch.rows),
    )
