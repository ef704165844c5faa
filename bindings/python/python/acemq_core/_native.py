"""Loads the native module, or says in one sentence why it cannot be used."""

from __future__ import annotations

import platform
import sys

#: What this package was written for: the major number in the upper 16 bits, the minor one in the lower.
WANTED_ABI = 1 << 16


def _here() -> str:
    return f"{platform.python_implementation()} {platform.python_version()} on {sys.platform} {platform.machine()}"


def check_abi(found: int, wanted: int, path: str) -> None:
    """Refuses a native module of another major number or a smaller minor one."""
    if found >> 16 != wanted >> 16 or found < wanted:
        shown = [f"{abi >> 16}.{abi & 0xFFFF}" for abi in (found, wanted)]
        raise ImportError(
            f"acemq_core: the native module {path} has ABI {shown[0]}, and this package needs ABI {shown[1]} "
            "of the same major version or a newer minor one; install acemq-core again, so that both come from one wheel"
        )


try:
    from . import _acemq
except ImportError as error:
    raise ImportError(
        f"acemq_core: the native module acemq_core._acemq cannot be loaded ({error}); this is {_here()}: install a wheel "
        "of acemq-core for it (pip install --force-reinstall acemq-core), or build one with maturin"
    ) from error

check_abi(getattr(_acemq, "ABI_VERSION", 0), WANTED_ABI, str(_acemq.__file__))

__all__ = ["_acemq", "check_abi"]
