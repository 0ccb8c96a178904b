"""Publishes at the end of a run without hooks, and writes the texts of views without planning."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dbt_common.exceptions import DbtRuntimeError

from dbt_delta.session import profile
from dbt_delta.session.java import bulk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

VARIABLE = "dbt_delta_publish"
PACKAGE = "dbt_delta"
AGAIN = "Readers see what they saw. dbt run-operation publish tries it again."


def around_hooks(stock: Any) -> Any:
    """Checks after a project's ``on-run-start``, and publishes after its ``on-run-end``.

    A project whose own hook publishes, as it must without the Python side, publishes there.

    Raises (the new function):
        DbtRuntimeError: what cannot be published, before the first node; or, after the last one,
            why the publication failed.
    """
    from dbt.artifacts.schemas.results import RunStatus
    from dbt.node_types import RunHookType

    def safe_run_hooks(self: Any, adapter: Any, hook_type: Any, extra_context: Any) -> Any:
        status = stock(self, adapter, hook_type, extra_context)
        if adapter.method not in profile.OURS or not _is_wanted(self.config):
            return status
        if hook_type == RunHookType.End:
            hooks = [r for r in self.node_results if r.status == RunStatus.Error]
            results = [*extra_context["results"]]
            results += [hook for hook in hooks if hook not in results]
            try:
                adapter.execute_macro("_publish_once", project=PACKAGE, kwargs={"results": results})
            except DbtRuntimeError as error:
                raise DbtRuntimeError(f"{error.msg}\n{AGAIN}") from error
        elif status == RunStatus.Success:
            adapter.execute_macro("publish_check", project=PACKAGE)
        return status

    return safe_run_hooks


def _is_wanted(config: Any) -> bool:
    """Whether the project sets the variable where the macros of the package see it.

    Raises:
        DbtRuntimeError: it is set for the nodes of the project only.
    """
    given = config.vars.to_dict()
    scopes = (config.cli_vars, given, given.get(PACKAGE))
    if any(isinstance(scope, Mapping) and scope.get(VARIABLE) for scope in scopes):
        return True
    own = given.get(config.project_name)
    if isinstance(own, Mapping) and own.get(VARIABLE):
        raise DbtRuntimeError(
            f"The variable {VARIABLE} is in dbt_project.yml below the name of the project, where "
            f"the macros of {PACKAGE} do not see it. Put it at the top of vars"
        )
    return False


def set_views(
    spark: "SparkSession", schema: str, texts: Mapping[str, tuple[str, str]]
) -> list[str]:
    """Gives views, {name: (old, new)}, the texts of SELECTs with the columns that they have.

    ALTER VIEW plans the SELECT and opens all tables in it, ten times as long. It also forgets rows
    that Spark keeps of a view, so that it must where any are kept, and where a view is no longer
    what it was: the names of these are returned.
    """
    if not spark._jsparkSession.sharedState().cacheManager().isEmpty():
        return list(texts)
    return alter(spark, schema, texts)


def alter(spark: "SparkSession", schema: str, texts: Mapping[str, tuple[str, str]]) -> list[str]:
    """Writes the texts one after the other; returns what is no longer what it was."""
    found = bulk(spark._jvm).alter(spark._jsparkSession, schema, json.dumps(texts))
    return list(json.loads(found))
