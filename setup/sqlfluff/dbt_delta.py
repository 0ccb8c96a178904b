"""What sqlfluff reads in place of the package's macros: SQL of the same shape."""


def landed_csv(folder, columns, null_value="", separator=","):
    values = ",\n    ".join(f"cast(null as {kind}) as `{name}`" for name, kind in columns.items())
    return f"select\n    {values}"


def latest_dump(relation):
    return f"select * from {relation}"


def landed_file_column():
    return "_file"


def landing_dir():
    return "landing"


def _quoted(name):
    return f"`{name}`"


def _literal(text):
    return f"'{text}'"


def _file_columns(folder):
    return "_file, _file_modified_at, _file_size"


def get_diff_versions_sql(relation, from_version, **options):
    return f"select * from {relation}"


def new_changes(relation, unique_key):
    return f"{relation}"


def stream(relation):
    return f"{relation}"
