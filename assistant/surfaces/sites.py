"""Which pages may use the assistant, and how often: public site keys with their addresses, and rate limits.

In: the Origin a browser states, the key of the page's tag, the client's address. Out: admitted or not; seconds to wait.
Never: takes a key for a secret, keeps a client's address longer than its bucket, or grows without limit.
"""

from __future__ import annotations

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import regex

LOOPBACK = ("http://localhost", "http://localhost:*", "http://127.0.0.1", "http://127.0.0.1:*")
BUCKETS = 20_000
WINDOW_S = 60.0
IPV6_SITE = 64  # bits that one subscriber usually holds


class Sites:
    """The configured sites; where there are none, pages served from this machine are admitted under any key.

    Args:
        sites: key -> origins such as `https://shop.example.com`, `https://*.example.com`, `http://localhost:*`, or
            `null` for sandboxed frames.
    """

    def __init__(self, sites: Mapping[str, Sequence[str]]) -> None:
        self._patterns = {key: _pattern(origins) for key, origins in sites.items()}
        self._unnamed = None if sites else _pattern(LOOPBACK)

    def admits(self, origin: str, key: str) -> bool:
        """Whether a page of that origin may use the assistant with that key."""
        pattern = self._patterns.get(key) or self._unnamed
        return bool(pattern and pattern.fullmatch(origin.lower()))


def is_same_origin(origin: str, host: str) -> bool:
    """Whether the page came from this server; the scheme is left out, for a proxy may have ended TLS."""
    return origin.partition("://")[2].lower() == host.lower() != ""


class Limiter:
    """A bucket of requests for each name, refilled evenly over a minute.

    Args:
        clock: seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # name -> requests left, at which time

    def wait(self, name: str, per_minute: int, cost: float = 1.0) -> float:
        """Takes `cost` requests from the bucket; 0, or the seconds until as many are there (nothing is taken then)."""
        now = self._clock()
        left, at = self._buckets.pop(name, (float(per_minute), now))
        left = min(float(per_minute), left + (now - at) * per_minute / WINDOW_S)
        is_enough = left >= cost
        self._buckets[name] = (left - cost if is_enough else left, now)
        while len(self._buckets) > BUCKETS:
            self._buckets.popitem(last=False)
        return 0.0 if is_enough else (cost - left) * WINDOW_S / per_minute


def network_of(address: str) -> str:
    """What one client is counted by: its IPv4 address, or the /64 its IPv6 address lies in."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address[:64]
    if found.version == 4:
        return str(found)
    return str(ipaddress.ip_network((found, IPV6_SITE), strict=False))


def is_local(address: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _pattern(origins: Sequence[str]) -> regex.Pattern[str]:
    parts = (
        regex.escape(origin.lower()).replace(r"//\*\.", r"//(?:[a-z0-9-]+\.)+").replace(r":\*", r":[0-9]+")
        for origin in origins
    )
    return regex.compile("|".join(parts) or r"(?!)")
