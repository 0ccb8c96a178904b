"""What is shown of exceptions recorded from Spark: chains of ``toString``, outermost first."""

import json
from pathlib import Path

import pytest

from dbt_delta.session import errors

RECORDED = json.loads(Path(__file__).with_name("exceptions.json").read_text())
STAGE_FAILURE = (
    "org.apache.spark.SparkException: Job aborted due to stage failure: Task 1 in stage 7.0 failed "
    "1 times, most recent failure: Lost task 1.0 in stage 7.0 (TID 9) (host executor driver): "
    "java.lang.OutOfMemoryError: Java heap space\n"
    "\tat java.base/java.util.Arrays.copyOf(Arrays.java:3537)\n"
    "\tat org.apache.spark.scheduler.Task.run(Task.scala:147)\n\nDriver stacktrace:"
)


def shown(name: str) -> str:
    return errors.paragraph(RECORDED[name])


@pytest.mark.parametrize("name", RECORDED)
def test_no_trace_no_plan_no_java_class(name):
    text = shown(name)
    for noise in ("\tat ", "\n\n", "'Project", "Relation", "org.apache.spark", "java.lang."):
        assert noise not in text
    assert text == text.strip() != ""


@pytest.mark.parametrize("name", sorted(set(RECORDED) - {"not_writable", "java_method"}))
def test_begins_with_the_condition(name):
    assert text_condition(shown(name))


def text_condition(text: str) -> str:
    return text[1 : text.index("]")] if text.startswith("[") else ""


def test_condition_below_a_failed_write():
    assert len(RECORDED["divide_in_write"]) == 2
    assert text_condition(shown("divide_in_write")) == "DIVIDE_BY_ZERO"


def test_position_and_line_of_a_syntax_error():
    text = shown("parse")
    assert "(line 3, pos 5)" in text
    assert text.endswith("\nform t\n     ^^^")
    assert "select" not in text


def test_position_of_an_unknown_column():
    assert shown("unresolved_column").endswith("; line 1 pos 7")


def test_delta_names_the_constraint_and_the_row():
    assert "positive (id > 0)" in shown("check_constraint")
    assert "- id : -1" in shown("check_constraint")


def test_wrapper_keeps_its_cause():
    assert "is not a Parquet file" in shown("corrupt_file")
    chain = [
        "org.apache.spark.SparkException: Job aborted.",
        "org.apache.spark.SparkException: [TASK_WRITE_FAILED] Task failed while writing rows.",
        "java.io.IOException: No space left on device",
    ]
    assert errors.paragraph(chain) == (
        "[TASK_WRITE_FAILED] Task failed while writing rows. "
        "Cause: IOException: No space left on device"
    )


class OfJava:
    """Java's exception, with its cause."""

    def __init__(self, text: str, cause: "OfJava | None" = None) -> None:
        self.toString = lambda: text
        self.getCause = lambda: cause


@pytest.mark.parametrize(
    ("deepest", "said"),
    [
        ("org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] No.", "[DIVIDE_BY_ZERO] No."),
        (
            "java.io.IOException: No space left on device",
            "[STREAM_FAILED] Query ended: Exception thrown in awaitResult: Cause: IOException: No "
            "space left on device",
        ),
    ],
)
def test_an_error_deep_in_a_stream_is_told_by_its_cause(deepest: str, said: str) -> None:
    error = Exception(
        "[STREAM_FAILED] Query ended: Exception thrown in awaitResult: \n=== Streaming Query ===\n"
        "Current State: ACTIVE\n\nJVM stacktrace:\n.."
    )
    # As PySpark makes it.
    error._origin, error._cause = None, Exception("awaitResult")  # type: ignore[attr-defined]
    awaited = "org.apache.spark.SparkException: Exception thrown in awaitResult: "
    error._cause._origin = OfJava(awaited, OfJava(deepest))  # type: ignore[attr-defined]
    assert errors.message(error) == said


def test_text_of_a_lost_task():
    assert errors.paragraph([STAGE_FAILURE]) == "OutOfMemoryError: Java heap space"


def test_exception_without_a_message():
    assert errors.paragraph(["java.lang.NullPointerException"]) == "NullPointerException"


def test_long_texts_are_cut():
    lines = errors.paragraph(["[X] " + "\n".join(map(str, range(100)))]).split("\n")
    assert len(lines) == errors.MAX_LINES + 1
    assert lines[-1] == "..."


def test_python_errors_are_not_taken_for_a_dead_jvm():
    assert errors.message(ValueError("no such value")) == "no such value"
    assert "Spark's JVM is gone" in errors.message(ConnectionRefusedError(111, "refused"))


def test_of_a_thrift_server_only_what_spark_said():
    text = (
        "org.apache.hive.service.cli.HiveSQLException: Error running query: "
        "[PARSE_SYNTAX_ERROR] org.apache.spark.sql.catalyst.parser.ParseException: \n"
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'form'. SQLSTATE: 42601 (line 1, pos 9)\n\n"
        "== SQL ==\nselect a form t\n---------^^^\n\n"
        "\tat org.apache.spark.sql.hive.thriftserver.Errors$.failed(Errors.scala:44)\n"
        "Caused by: org.apache.spark.sql.catalyst.parser.ParseException: \n"
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'form'. SQLSTATE: 42601 (line 1, pos 9)\n\n"
        "== SQL ==\nselect a form t\n---------^^^\n\n\tat some.Frame.run(Frame.scala:1)\n"
    )
    assert errors.of_server(text) == (
        "[PARSE_SYNTAX_ERROR] Syntax error at or near 'form'. SQLSTATE: 42601 (line 1, pos 9)\n"
        "select a form t\n         ^^^"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (
            "[CAST_INVALID_INPUT] The value 'Ann' of the type STRING. SQLSTATE: 22018",
            f"[CAST_INVALID_INPUT] {errors.NOT_SHOWN}",
        ),
        (
            "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint a (b > 0) violated by row "
            "with values:\n - b : -1",
            "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint a (b > 0) violated. "
            + errors.NOT_SHOWN,
        ),
        ("[UNRESOLVED_COLUMN] no column a. SQLSTATE: 42703", ""),
        ("Spark's JVM is gone", ""),
    ],
)
def test_values_are_hidden_where_a_model_has_personal_data(text: str, shown: str) -> None:
    errors.hide_values(True)
    try:
        assert errors.without_values(text) == (shown or text)
    finally:
        errors.hide_values(False)
    assert errors.without_values(text) == text
