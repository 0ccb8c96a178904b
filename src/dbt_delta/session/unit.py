"""Unit tests of the table after a run, which the model's own materialization does on given rows."""

import copy
import datetime as dt
import hashlib
from types import SimpleNamespace
from typing import Any

from dbt_common.exceptions import DbtRuntimeError

# Keys in the meta of a unit test: whose table is expected, and the start of a microbatch.
EXPECT, BATCH = "expect_table", "batch"
THIS = "this"
# What a command says of its own models only: a unit test has all of its rows.
_LIMITS = ("empty", "sample", "event_time_start", "event_time_end")


def run(adapter: Any, name: str, sql: str, compare: Any) -> Any:
    """Runs a unit test, of whose model ``sql`` is the SELECT with the given rows.

    ``compare`` is dbt's own materialization, which compares the rows of a SELECT with the expected
    ones. Where the test asks for a table, it is given that of a table beside the tested one, which
    is built here and gone afterwards, whatever happens.

    Raises:
        DbtRuntimeError: the test asks for a table that there is not, or the run failed.
    """
    test = adapter.get_macro_resolver().unit_tests[name]
    if EXPECT not in test.config.meta:
        return compare()
    return _Run(adapter, test, compare).expect(sql)


class _Run:
    """One run of a model or snapshot on a table of its own."""

    def __init__(self, adapter: Any, test: Any, compare: Any) -> None:
        self.adapter, self.test, self.compare = adapter, test, compare
        self.manifest = adapter.get_macro_resolver()
        self.model = self.manifest.nodes[test.depends_on.nodes[0]]
        self.tested = tested(self.manifest, test)
        digest = hashlib.md5(test.unique_id.encode()).hexdigest()[:8]
        # Names in the catalog have at most 128 characters, and what the run stages has a suffix.
        self.prefix = f"{self.tested.alias[:60]}__unit_{digest}".lower()
        self.node = self._node()

    def expect(self, sql: str) -> Any:
        """The result of the comparison."""
        if self.tested is not self.model:
            sql = self._snapshot_sql(sql)
        before = self._before()
        macros = self._context(self.node, "")["dbt_delta"]
        relation = self.adapter.Relation.create_from(self.adapter.config, self.node)
        try:
            if before is not None:
                self._build_before(before, sql)
            node = copy.deepcopy(self.node)
            node.config.full_refresh = self._is_rebuilt()
            self._set_batch(node)
            self._materialize(node, sql)
            self.compare.context["sql"] = f"select * from {macros['_named'](relation)}"
            return self.compare()
        finally:
            macros["_drop_unit"](relation, self.prefix)
            self.adapter.cache_dropped(relation)

    def _node(self) -> Any:
        """The tested node under another name; its hooks may change other tables."""
        node = copy.deepcopy(self.tested)
        beside = self.compare.context["dbt_delta"]["_beside"]
        base = self.adapter.Relation.create(schema=node.schema, identifier=self.prefix)
        node.alias = beside(base, "tmp").identifier
        node.config.pre_hook, node.config.post_hook, node.config.full_refresh = [], [], False
        # A table with a location leaves its files behind.
        node.config["location_root"] = None
        return node

    def _before(self) -> Any:
        """The given rows of the tested table, or None."""
        from dbt.parser.unit_tests import UnitTestManifestLoader

        loader = UnitTestManifestLoader(self.manifest, self.adapter.config, {self.test.unique_id})
        for given in self.test.given:
            # pylint: disable=protected-access
            if loader._get_original_input_node(given.input, self.model, self.test.name) is (
                self.tested
            ):
                return given
        return None

    def _build_before(self, given: Any, sql: str) -> None:
        context = self._context(self.node, sql)
        macros = context["dbt_delta"]
        if isinstance(given.rows, str):
            macros["_build_given"](context["render"](given.rows))
            self._built(self.node)
            return
        self._materialize(
            self.node, f"select * from (\n{macros['_inner_sql'](sql)}\n) as none where false"
        )
        macros["_insert_given"](given.rows)

    def _is_rebuilt(self) -> bool:
        """Whether the table is built anew, as the override of is_incremental() says."""
        overrides = self.test.overrides
        return bool(overrides and overrides.macros.get("is_incremental") is False)

    def _set_batch(self, node: Any) -> None:
        from dbt.materializations.incremental.microbatch import MicrobatchBuilder

        if node.config.get("incremental_strategy") != "microbatch":
            return
        asked = self.test.config.meta.get(BATCH)
        try:
            start = dt.datetime.fromisoformat(str(asked)).replace(tzinfo=dt.timezone.utc)
        except ValueError:
            raise DbtRuntimeError(
                f"Unit test {self.test.name} expects the table of a microbatch model. meta.{BATCH} "
                f"is the start of the batch, such as '2024-01-31'. Got: {asked!r}."
            ) from None
        size = node.config.batch_size
        start = MicrobatchBuilder.truncate_timestamp(start, size)
        node.config["__dbt_internal_microbatch_event_time_start"] = start
        node.config["__dbt_internal_microbatch_event_time_end"] = (
            MicrobatchBuilder.offset_timestamp(start, size, 1)
        )
        # The table may begin with any batch.
        node.config["begin"] = start.isoformat()

    def _materialize(self, node: Any, sql: str) -> None:
        """As a run of dbt does it."""
        from dbt.clients.jinja import MacroGenerator

        macro = self.manifest.find_materialization_macro_by_name(
            self.adapter.config.project_name, node.get_materialization(), self.adapter.type()
        )
        MacroGenerator(macro, self._context(node, sql))()
        self._built(node)

    def _built(self, node: Any) -> None:
        relation = self.adapter.Relation.create_from(self.adapter.config, node, type="table")
        self.adapter.cache_added(relation)

    def _context(self, node: Any, sql: str) -> dict[str, Any]:
        """Everything that macros see in a run of a node whose SELECT is ``sql``."""
        from dbt.clients.jinja import UnitTestMacroGenerator
        from dbt.context.providers import generate_runtime_model_context

        node = copy.copy(node)
        node.compiled, node.compiled_code, node.extra_ctes_injected = True, sql, True
        context = generate_runtime_model_context(node, self.adapter.config, self.manifest)
        context["flags"] = SimpleNamespace(**{**vars(context["flags"]), "EMPTY": False})
        asked = context["invocation_args_dict"]
        context["invocation_args_dict"] = {k: v for k, v in asked.items() if k not in _LIMITS}
        given = self.test.overrides.macros if self.test.overrides else {}
        for name, value in given.items():
            # The table that there is decides of is_incremental().
            *package, macro = name.split(".")
            if macro == "is_incremental":
                continue
            for place in (context[package[0]],) if package else (context, context["dbt"]):
                if macro in place:
                    place[macro] = UnitTestMacroGenerator(place[macro], value)
        return context

    def _snapshot_sql(self, sql: str) -> str:
        """The SELECT of a snapshot that reads the unit test's model, and its given inputs."""
        from dbt.compilation import Compiler
        from dbt.contracts.graph.nodes import DependsOn
        from dbt.parser.unit_tests import UnitTestManifestLoader

        config = self.adapter.config
        inputs = UnitTestManifestLoader(self.manifest, config, {self.test.unique_id}).load()
        model, node = copy.deepcopy(self.model), inputs.nodes[self.test.unique_id]
        model.config.materialized = "ephemeral"
        model.raw_code = f"{{% raw %}}{sql}{{% endraw %}}"
        model.compiled, model.compiled_code = False, None
        model.extra_ctes, model.extra_ctes_injected = [], False
        model.depends_on = DependsOn()
        inputs.nodes[model.unique_id] = model
        inputs.rebuild_ref_lookup()
        node.raw_code = self.tested.raw_code
        node.this_input_node_unique_id = None
        node.depends_on.nodes.append(model.unique_id)
        return str(Compiler(config).compile_node(node, inputs, {}, write=False).compiled_code)


def tested(manifest: Any, test: Any) -> Any:
    """The node whose table a unit test expects.

    Raises:
        DbtRuntimeError: there is no such snapshot, or the model has no table.
    """
    model = manifest.nodes[test.depends_on.nodes[0]]
    asked = test.config.meta[EXPECT]
    if asked == THIS:
        if model.config.materialized in ("incremental", "table"):
            return model
        raise DbtRuntimeError(
            f"Unit test {test.name} has {EXPECT}: {THIS}, but {model.name} is materialized as "
            f"{model.config.materialized}, which has no table. Leave {EXPECT} out."
        )
    for node in manifest.nodes.values():
        if node.name == asked and str(node.resource_type) == "snapshot":
            return node
    raise DbtRuntimeError(
        f"{EXPECT} of unit test {test.name} is {asked!r}. It is {THIS}, the table of the test's "
        "model, or the name of a snapshot that reads the model."
    )
