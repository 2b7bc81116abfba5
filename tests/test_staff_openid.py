"""Signing in through an OpenID provider: over real HTTP, with a provider that can lie."""

from __future__ import annotations

import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from assistant.errors import AccessRefused, InputError
from assistant.settings import read_settings
from assistant.surfaces.staff.openid import Provider, derive, new_flow, role_of
from tests.fakes import FakeAssistant
from tests.openid_server import CLIENT, SECRET, OpenIdServer, running_openid
from tests.staff import Desk, make_desk, running_desk

PEOPLE = {
    "zh": {"sub": "1", "email": "李小明@例子.中国", "email_verified": True},
    "ja": {"sub": "2", "email": "Hanako@Example.co.jp", "email_verified": True},
    "es": {"sub": "3", "email": "jose.nunez@ejemplo.es", "email_verified": True},
    "en": {"sub": "4", "email": "ann@example.com", "email_verified": True},
}
ALLOWED = "@例子.中国, hanako@example.co.jp, @ejemplo.es, ann@example.com"
EDITORS = "boss@example.com"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenIdServer]:
    with running_openid() as server:
        yield server


@pytest.fixture
def provider(server: OpenIdServer) -> OpenIdServer:
    """The provider, truthful again, with ann."""
    fresh = OpenIdServer(address=server.address, key=server.key, person=dict(PEOPLE["en"]))
    server.__dict__.update(fresh.__dict__)
    return server


@pytest.fixture
def desk(provider: OpenIdServer) -> Iterator[Desk]:
    with running_desk(FakeAssistant(), **settings(provider)) as desk:
        yield desk


def settings(provider: OpenIdServer, **changes: object) -> dict[str, Any]:
    return {
        "staff_oidc_issuer": provider.address,
        "staff_oidc_client_id": CLIENT,
        "staff_oidc_client_secret": SECRET,
        "staff_oidc_agents": ALLOWED,
        "staff_oidc_editors": EDITORS,
        **changes,
    }


def sign_in(desk: Desk, target: str = "") -> httpx2.Response:
    """What a new browser sees in the end that follows all redirects."""
    with httpx2.Client(follow_redirects=True, timeout=20) as client:
        return client.get(f"{desk.address}/staff/openid", params={"next": target} if target else {})


def place(response: httpx2.Response) -> str:
    """Path and query of where a browser ended."""
    return str(response.url.raw_path.decode())


@pytest.mark.parametrize("person", PEOPLE.values(), ids=PEOPLE)
def test_listed_people_enter(desk: Desk, provider: OpenIdServer, person: dict[str, Any]) -> None:
    """Whose verified address or domain is listed enters as an agent, under that address, at the page asked for."""
    provider.person = person
    response = sign_in(desk, "/staff?language=ja")
    assert response.status_code == 200
    assert place(response).endswith("?language=ja")
    assert person["email"] in response.text
    assert [(row.name, row.role, row.way) for row in desk.staff.members.everybody()] == [
        (person["email"], "agent", "openid")
    ]


def test_the_flow_is_tied_to_the_browser(desk: Desk, provider: OpenIdServer) -> None:
    """The provider is asked with state, nonce and PKCE, which differ each time, and for no more than is needed."""
    sign_in(desk)
    sign_in(desk)
    first, second = provider.asked
    assert first["scope"] == "openid email profile"
    assert first["code_challenge_method"] == "S256"
    for name in ("state", "nonce", "code_challenge"):
        assert len(first[name]) >= 43
        assert first[name] != second[name]


def test_editors_are_listed_apart(desk: Desk, provider: OpenIdServer) -> None:
    """Who is listed as editor is one, and who no longer is, is none at the next sign-in."""
    provider.person = {"sub": "9", "email": "Boss@example.com", "email_verified": True}
    assert "/staff/audit" in sign_in(desk, "/staff/audit").text
    assert [row.role for row in desk.staff.members.everybody()] == ["editor"]
    provider.person["email"] = "ann@example.com"
    assert sign_in(desk, "/staff/audit").status_code == 403
    assert [row.role for row in desk.staff.members.everybody()] == ["agent"]


UNLISTED = {
    "unverified": {"email": "ann@example.com", "email_verified": False},
    "not said to be verified": {"email": "ann@example.com"},
    "verified in words": {"email": "ann@example.com", "email_verified": "true"},
    "another domain": {"email": "ann@ejemplo.es.evil.example", "email_verified": True},
    "a subdomain": {"email": "ann@mail.ejemplo.es", "email_verified": True},
    "two at signs": {"email": "ann@example.com@evil.example", "email_verified": True},
    "a domain alone": {"email": "@ejemplo.es", "email_verified": True},
    "an empty address": {"email": "", "email_verified": True},
    "no address": {"email_verified": True},
    "a list": {"email": ["ann@example.com"], "email_verified": True},
}


@pytest.mark.parametrize("person", UNLISTED.values(), ids=UNLISTED)
def test_others_stay_outside(desk: Desk, provider: OpenIdServer, person: dict[str, Any]) -> None:
    """Whom the lists do not name, by a verified address, is told so, and becomes no member."""
    provider.person = {"sub": "5", **person}
    response = sign_in(desk)
    assert place(response) == "/staff/sign-in?problem=sso_refused"
    assert "Your account has no access to this desk." in response.text
    assert desk.staff.members.everybody() == []


LIES: dict[str, dict[str, Any]] = {
    "another issuer": {"lies": {"iss": "https://evil.example"}},
    "another program's": {"lies": {"aud": "another"}},
    "another program's, for us too": {"lies": {"aud": ["another"], "azp": CLIENT}},
    "expired": {"lies": {"exp": 1_000_000_000}},
    "not yet valid": {"lies": {"nbf": 4_000_000_000}},
    "another browser's": {"lies": {"nonce": "another"}},
    "no nonce": {"lies": {"nonce": None}},
    "no subject": {"lies": {"sub": None}},
    "unsigned": {"algorithm": "none"},
    "signed with the shared secret": {"algorithm": "HS256"},
    "both, and says that it may": {
        "algorithm": "HS256",
        "metadata": {"id_token_signing_alg_values_supported": ["none", "HS256"]},
    },
    "signed by somebody else": {"is_other_key": True},
    "called something else": {"metadata": {"issuer": "https://evil.example"}},
    "no discovery": {"fails": {"/.well-known/openid-configuration"}},
    "no keys": {"fails": {"/jwks"}},
    "no token": {"fails": {"/token"}},
}


@pytest.mark.parametrize("behaviour", LIES.values(), ids=LIES)
def test_a_false_word_is_not_believed(desk: Desk, provider: OpenIdServer, behaviour: dict[str, Any]) -> None:
    """A token that is not the provider's own fresh word for this browser, or none, opens nothing; the page says so."""
    provider.__dict__.update(behaviour)
    response = sign_in(desk)
    assert place(response) == "/staff/sign-in?problem=sso_failed"
    assert response.status_code == 200
    assert desk.staff.members.everybody() == []


def test_a_provider_that_comes_back_is_asked_again(desk: Desk, provider: OpenIdServer) -> None:
    """After a failure of the provider the next sign-in works."""
    provider.fails = {"/.well-known/openid-configuration"}
    assert "sso_failed" in place(sign_in(desk))
    provider.fails = set()
    assert "ann@example.com" in sign_in(desk).text


def test_a_foreign_flow_is_refused(desk: Desk, provider: OpenIdServer) -> None:
    """An address to return to that was begun in another browser, or in none, signs nobody in."""
    with httpx2.Client(timeout=20) as attacker:
        leaving = attacker.get(f"{desk.address}/staff/openid")
        back = httpx2.get(leaving.headers["location"]).headers["location"]
    with httpx2.Client(timeout=20) as victim:
        assert victim.get(back).headers["location"] == "/staff/sign-in?problem=sso_failed"
        victim.get(f"{desk.address}/staff/openid")
        assert victim.get(back).headers["location"] == "/staff/sign-in?problem=sso_failed"
        victim.cookies.clear()
        assert victim.get(begun_without_cookie(desk, provider)).headers["location"].endswith("sso_failed")
        assert "staff_session" not in victim.cookies


def begun_without_cookie(desk: Desk, provider: OpenIdServer) -> str:
    """The provider's true answer to a flow whose secret is empty, which anybody could begin."""
    challenge = urlsafe_b64encode(sha256(derive("", "verifier").encode()).digest()).decode().rstrip("=")
    asked = {"redirect_uri": f"{desk.address}/staff/openid/return", "state": derive("", "state")}
    return provider.authorize({**asked, "nonce": derive("", "nonce"), "code_challenge": challenge})


def test_a_code_counts_once(desk: Desk, provider: OpenIdServer) -> None:
    """Going back to the provider's answer does not sign in a second time."""
    with httpx2.Client(timeout=20) as client:
        leaving = client.get(f"{desk.address}/staff/openid")
        flow = client.cookies["staff_flow"]
        back = httpx2.get(leaving.headers["location"]).headers["location"]
        assert client.get(back).headers["location"] == "/staff"
        assert "staff_flow" not in client.cookies
    with httpx2.Client(timeout=20) as again:
        again.cookies.set("staff_flow", flow)
        assert again.get(back).headers["location"] == "/staff/sign-in?problem=sso_failed"


def test_who_was_revoked_stays_outside(desk: Desk, provider: OpenIdServer) -> None:
    """Revoking counts, although the provider still vouches."""
    sign_in(desk)
    desk.staff.members.revoke("ann@example.com")
    assert place(sign_in(desk)) == "/staff/sign-in?problem=sso_refused"


def test_failing_again_and_again_locks_out(desk: Desk, provider: OpenIdServer) -> None:
    """The way through the provider is locked like the token's, so that it can't be hammered through us."""
    provider.algorithm = "none"
    for _ in range(5):
        sign_in(desk)
    provider.algorithm = "RS256"
    assert place(sign_in(desk)) == "/staff/sign-in?problem=locked_out"


def test_nobody_is_led_elsewhere(desk: Desk, provider: OpenIdServer) -> None:
    """Where a link wants to lead outside the desk, signing in ends in the desk."""
    assert urlsplit(str(sign_in(desk, "https://evil.example/staff").url)).netloc == urlsplit(desk.address).netloc


def test_the_sign_in_page_offers_it(desk: Desk) -> None:
    """The page leads to the provider, and on to where one wanted to go."""
    with httpx2.Client(follow_redirects=True) as client:
        page = client.get(f"{desk.address}/staff/audit", headers={"Accept-Language": "ja"}).text
    assert "組織のアカウントでサインイン" in page
    assert 'href="/staff/openid?next=%2Fstaff%2Faudit"' in page


@pytest.mark.parametrize(
    ("given", "role"),
    [
        ("agent", "agent"),
        (["x", "agent"], "agent"),
        (["agent", "editor"], "editor"),
        ("editor", "editor"),
        ("Editor", None),
        ("superagent", None),
        ([], None),
        (None, None),
        ({"agent": True}, None),
        (True, None),
    ],
    ids=repr,
)
def test_a_claim_gives_the_role(given: object, role: str | None) -> None:
    """With a claim named in the settings, its value decides alone; the lists are not asked."""
    own = read_settings(staff_oidc_role_claim="groups", staff_oidc_editors="ann@example.com")
    claims = {"email": "ann@example.com", "email_verified": True, "groups": given}
    if role:
        assert role_of(claims, own) == role
        return
    with pytest.raises(AccessRefused):
        role_of(claims, own)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"staff_oidc_issuer": "http://id.example.com"}, "https://"),
        ({"staff_oidc_client_id": ""}, "ASSISTANT_STAFF_OIDC_CLIENT_ID"),
        ({"staff_oidc_agents": "", "staff_oidc_editors": ""}, "lets nobody in"),
    ],
    ids=["not encrypted", "no client", "nobody listed"],
)
def test_settings_that_can_not_work_end_the_start(changes: dict[str, object], named: str) -> None:
    """What is missing is said in one sentence when the server starts, not when somebody signs in."""
    with pytest.raises(InputError, match=named):
        make_desk(FakeAssistant(), **settings(OpenIdServer(address="https://id.example.com"), **changes))


def test_the_extra_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Authlib the start ends with what to install."""
    monkeypatch.setitem(sys.modules, "authlib.integrations.starlette_client", None)
    with pytest.raises(InputError, match=r"pip install 'multilingual-faq-assistant\[oidc\]'"):
        make_desk(FakeAssistant(), **settings(OpenIdServer(address="https://id.example.com")))


def test_changing_ones_mind_locks_nobody_out(desk: Desk, provider: OpenIdServer) -> None:
    """Coming back from the provider without a code, again and again, is no guessing."""
    for _ in range(6):
        response = httpx2.get(f"{desk.address}/staff/openid/return?error=access_denied&state=x")
        assert response.headers["location"] == "/staff/sign-in?problem=sso_failed"
    assert "ann@example.com" in sign_in(desk).text


def test_derived_values_tell_nothing_of_each_other() -> None:
    """State, nonce and verifier differ by purpose and by flow."""
    flows = [new_flow(), new_flow()]
    assert len({derive(flow, purpose) for flow in flows for purpose in ("state", "nonce", "verifier")}) == 6


async def test_without_a_secret_the_client_is_public(provider: OpenIdServer) -> None:
    """A provider that gave no secret is asked without one; PKCE protects the code."""
    public = Provider(read_settings(**settings(provider, staff_oidc_client_secret=None)))
    address = await public.address(new_flow(), "http://desk/staff/openid/return", "es")
    sent = parse_qs(urlsplit(address).query)
    assert sent["ui_locales"] == ["es"]
    assert "client_secret" not in sent
