"""Keyed hashes of subjects: a certificate names subjects by them, and a scan finds them by them."""

import hashlib
import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column

# dbt removes the values of variables with this prefix from its logs.
SECRET = "DBT_ENV_SECRET_ERASURE_KEY"
_SHORTEST = 16
# Delta's statistics keep so many characters of a text; of a maximum one more that is larger.
KEPT = 32
_BLOCK = 64


@dataclass(frozen=True)
class Hasher:
    """HMAC-SHA256 with the project's secret, in Python and as an expression of Spark."""

    key: bytes

    @classmethod
    def from_environment(cls) -> "Hasher":
        """
        Raises:
            ValueError: there is no secret, or a short one.
        """
        secret = os.environ.get(SECRET, "")
        if len(secret) < _SHORTEST:
            raise ValueError(
                f"The environment variable {SECRET} needs at least {_SHORTEST} characters. The "
                "certificate names subjects by a hash with this key: without it keys such as 4711 "
                "could be guessed. Use the same value for all erasures, and keep it."
            )
        return cls(secret.encode())

    def of(self, value: object) -> str:
        return hmac.new(self.key, str(value).encode(), hashlib.sha256).hexdigest()

    @property
    def mark(self) -> str:
        """A certificate keeps it: hashes of another secret would find nobody."""
        return self.of("dbt_delta erasure")

    def group(self, values: Iterable[object]) -> dict[str, list[str]]:
        """Hashes of keys, and of what statistics keep of long ones."""
        texts = sorted({str(value) for value in values})
        return {
            "keys": [self.of(text) for text in texts],
            "starts": sorted({self.of(text[:KEPT]) for text in texts if len(text) > KEPT}),
        }

    def column(self, value: "Column") -> "Column":
        from pyspark.sql import functions as F

        key = self.key if len(self.key) <= _BLOCK else hashlib.sha256(self.key).digest()
        key = key.ljust(_BLOCK, b"\0")
        inner, outer = (F.lit(bytearray(byte ^ pad for byte in key)) for pad in (0x36, 0x5C))
        text = F.encode(value.cast("string"), "UTF-8")
        return F.sha2(F.concat(outer, F.unhex(F.sha2(F.concat(inner, text), 256))), 256)


def merged(some: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Groups with the hashes of both: a killed erasure has removed what leads to others."""
    return {
        name: {
            part: sorted({*some.get(name, {}).get(part, []), *more.get(name, {}).get(part, [])})
            for part in ("keys", "starts")
        }
        for name in sorted({*some, *more})
    }
