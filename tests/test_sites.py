"""Sites and rates: whose pages are admitted, under which key, and how often they may ask."""

from __future__ import annotations

import httpx2
import pytest

from assistant.errors import InputError
from assistant.settings import Settings, read_settings
from assistant.surfaces.sites import BUCKETS, Limiter, Sites, is_same_origin, network_of
from assistant.surfaces.web import create_app
from tests.fakes import REPLIES, FakeAssistant

CHAT = "/api/v1/chat"
SHOP = "https://shop.example.com"
SITES = {"shop": (SHOP, "https://*.example.org", "http://localhost:*"), "frames": ("null",)}


def client_for(**settings: object) -> httpx2.AsyncClient:
    app = create_app(FakeAssistant(), Settings(**settings))  # type: ignore[arg-type]
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://test")


@pytest.mark.parametrize(
    ("origin", "key", "expected"),
    [
        (SHOP, "shop", True),
        ("HTTPS://Shop.Example.com", "shop", True),
        ("https://a.example.org", "shop", True),
        ("https://a.b.example.org", "shop", True),
        ("http://localhost:5173", "shop", True),
        ("null", "frames", True),
        (SHOP, "frames", False),
        (SHOP, "", False),
        (SHOP, "unknown", False),
        ("https://example.org", "shop", False),
        ("https://evilexample.org", "shop", False),
        ("https://shop.example.com.evil.test", "shop", False),
        ("https://shopxexample.com", "shop", False),
        ("http://shop.example.com", "shop", False),
        ("https://shop.example.com:8443", "shop", False),
        ("null", "shop", False),
    ],
)
def test_only_listed_origins_are_admitted(origin: str, key: str, expected: bool) -> None:
    """A key admits exactly the origins listed under it; `*.` is any subdomain, `:*` any port."""
    assert Sites(SITES).admits(origin, key) is expected


@pytest.mark.parametrize(("origin", "expected"), [("http://localhost:3000", True), ("https://shop.example.com", False)])
def test_without_sites_only_this_machine_is_admitted(origin: str, expected: bool) -> None:
    """Before any site is configured, pages served from this machine can try the tag under any key, others can't."""
    assert Sites({}).admits(origin, "your-key") is expected


@pytest.mark.parametrize(
    ("origin", "host", "expected"),
    [
        ("http://127.0.0.1:8000", "127.0.0.1:8000", True),
        ("https://help.example.com", "help.example.com", True),
        ("https://help.example.com.evil.test", "help.example.com", False),
        ("null", "", False),
    ],
)
def test_own_pages_are_recognised(origin: str, host: str, expected: bool) -> None:
    """A page of this server needs no key."""
    assert is_same_origin(origin, host) is expected


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ('{"shop": ["https://shop.example.com/help"]}', "https://shop.example.com/help"),
        ('{"shop": ["shop.example.com"]}', "shop.example.com"),
        ('{"my shop": []}', "ASSISTANT_SITES"),
        ('{"shop": ', "JSON"),
        ('["shop"]', "ASSISTANT_SITES"),
    ],
)
def test_unusable_sites_are_named(monkeypatch: pytest.MonkeyPatch, value: str, named: str) -> None:
    """A setting that can't be used is refused at the start, in one sentence that names it."""
    monkeypatch.setenv("ASSISTANT_SITES", value)
    with pytest.raises(InputError, match=named) as caught:
        read_settings()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_admitted_page_gets_what_the_browser_asks_for(language: str) -> None:
    """A listed page's preflight and question are answered with the headers that let it read them, and no more."""
    async with client_for(sites=SITES) as client:
        headers = {"Origin": SHOP, "Access-Control-Request-Method": "POST"}
        preflight = await client.options(f"{CHAT}?key=shop", headers=headers)
        asked = await client.post(f"{CHAT}?key=shop", json={"message": REPLIES[language][0]}, headers={"Origin": SHOP})
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-headers"] == "Content-Type, Last-Event-ID"
    assert asked.json()["language"] == language
    for response in (preflight, asked):
        assert response.headers["access-control-allow-origin"] == SHOP
        assert "access-control-allow-credentials" not in response.headers
        assert "Origin" in response.headers["vary"]
        assert response.headers["cross-origin-resource-policy"] == "cross-origin"


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        (f"{CHAT}?key=shop", "https://evil.test"),
        (f"{CHAT}?key=unknown", SHOP),
        (CHAT, SHOP),
        ("/api/v1/staff/drafts?key=shop", SHOP),
        ("/api/v1/feedback?key=frames", SHOP),
    ],
)
@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
async def test_other_pages_get_nothing(method: str, path: str, origin: str) -> None:
    """A page that is not listed, or that wants anything but the widget's addresses, is refused and told no more."""
    async with client_for(sites=SITES) as client:
        response = await client.request(method, path, headers={"Origin": origin}, json={"message": "a"})
    assert response.status_code == 403
    assert "ASSISTANT_SITES" in response.json()["error"]
    assert not [name for name in response.headers if name.startswith("access-control")]


async def test_clients_and_sites_are_limited() -> None:
    """More requests than a client or a site may make get 429 with the seconds to wait; other sites go on."""
    async with client_for(sites=SITES, rate_per_client=2) as client:

        async def asked(origin: str, key: str) -> httpx2.Response:
            return await client.post(f"{CHAT}?key={key}", json={"message": "a"}, headers={"Origin": origin})

        codes = [(await asked(SHOP, "shop")).status_code for _ in range(3)]
        refused = await asked(SHOP, "shop")
        assert codes == [200, 200, 429]
        assert 0 < int(refused.headers["retry-after"]) <= 30
        assert refused.headers["access-control-allow-origin"] == SHOP
        assert (await asked("null", "frames")).status_code == 200
    async with client_for(sites=SITES, rate_per_site=1) as client:
        assert [(await asked(SHOP, "shop")).status_code for _ in range(2)] == [200, 429]


async def test_programs_of_this_machine_are_not_limited() -> None:
    """What asks from this machine without being a page, such as an evaluation, has no limit."""
    async with client_for(rate_per_client=1) as client:
        assert [(await client.post(CHAT, json={"message": "a"})).status_code for _ in range(3)] == [200] * 3


def test_buckets_refill_and_are_bounded() -> None:
    """A bucket refills evenly, tells how long until then, and the least used are forgotten."""
    now = [0.0]
    limiter = Limiter(lambda: now[0])
    assert [limiter.wait("a", 2) for _ in range(3)] == [0.0, 0.0, 30.0]
    now[0] = 15.0
    assert limiter.wait("a", 2) == 15.0
    now[0] = 30.0
    assert limiter.wait("a", 2) == 0.0
    for number in range(BUCKETS):
        limiter.wait(str(number), 1)
    assert limiter.wait("a", 2) == 0.0


@pytest.mark.parametrize(
    ("address", "expected"),
    [("203.0.113.7", "203.0.113.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("unix", "unix")],
)
def test_clients_are_told_apart_by_network(address: str, expected: str) -> None:
    """An IPv6 subscriber is one client, however many addresses it uses."""
    assert network_of(address) == expected
