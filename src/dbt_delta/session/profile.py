"""The profile's Spark settings as the user wrote them."""

from typing import Any

ANSI = "spark.sql.ansi.enabled"
SESSION = "session"
THRIFT = "thrift"
# The methods whose connections are ours.
OURS = (SESSION, THRIFT)


def restore_ansi(credentials: Any) -> None:
    """Sets the ANSI mode of the profile in ``server_side_parameters`` of a target.

    dbt-spark overwrites that one setting with "false" in every profile
    (SparkCredentials.__post_init__), before any plugin is loaded. So it is read from profiles.yml
    again, once per invocation. A profile that does not set it gets Spark's default.
    """
    if getattr(credentials, "_dbt_delta_ansi_restored", False):
        return
    asked = asked_ansi(credentials)
    settings = dict(credentials.server_side_parameters)
    if asked is None:
        settings.pop(ANSI, None)
    else:
        settings[ANSI] = asked
    credentials.server_side_parameters = settings
    credentials._dbt_delta_ansi_restored = True


def asked_ansi(credentials: Any) -> str | None:
    """The ANSI mode in profiles.yml: true, false or nothing."""
    written = _as_written(credentials)
    asked = (written.get("server_side_parameters") or {}).get(ANSI)
    return None if asked is None else str(asked).lower()


def certificate_authority(credentials: Any) -> str | None:
    """``ssl_ca_file`` of a target, which dbt-spark does not know."""
    return _as_written(credentials).get("ssl_ca_file")


def _as_written(credentials: Any) -> dict[str, Any]:
    """The target in profiles.yml; read once per invocation, as each connection asks."""
    from dbt.adapters.factory import FACTORY

    written = getattr(credentials, "_dbt_delta_written", None)
    if written is None:
        config = FACTORY.adapters[credentials.type].config
        written = rendered(config.profile_name, config.target_name)
        if written is None:  # credentials that do not come from a file
            written = credentials.to_dict()
        credentials._dbt_delta_written = written
    return written


def rendered(name: str, target: str) -> dict[str, Any] | None:
    """A target in profiles.yml, as dbt's Profile renders it; None without such a profile."""
    from dbt.config.profile import Profile, read_profile
    from dbt.config.renderer import ProfileRenderer
    from dbt.flags import get_flags

    flags = get_flags()
    raw = read_profile(flags.PROFILES_DIR).get(name)
    if raw is None:
        return None
    renderer = ProfileRenderer(getattr(flags, "VARS", None) or {})
    return Profile.render_profile(raw, name, target, renderer)[1]
