"""Getting into the staff desk: who is let in, what is refused, what another site's page can't do."""

from __future__ import annotations

from collections.abc import Mapping

import httpx2
import pytest
import regex

from assistant.members import LONGEST_NAME
from assistant.sessions import request_token
from assistant.surfaces.staff.sign_in import HOME, inside
from assistant.wording import Wordings
from tests.fakes import REPLIES, FakeAssistant
from tests.staff import Desk, make_desk

SIGN_IN, SIGN_OUT, AUDIT = "/api/v1/staff/sign-in", "/api/v1/staff/sign-out", "/api/v1/staff/audit"
NAMES = {"zh": "李小明", "ja": "佐藤花子", "es": "José Núñez", "en": "Ann Lee", "ar": "ليلى"}
FOREIGN: dict[str, Mapping[str, str]] = {
    "another origin": {"Origin": "https://evil.example"},
    "another port": {"Origin": "http://test:8080"},
    "a sandboxed frame": {"Origin": "null"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
    "a sibling host": {"Sec-Fetch-Site": "same-site"},
}


@pytest.fixture
def desk() -> Desk:
    return make_desk(FakeAssistant())


async def sign_in(client: httpx2.AsyncClient, token: str, **more: str) -> httpx2.Response:
    return await client.post(SIGN_IN, json={"token": token, **more})


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_a_token_opens_the_desk(desk: Desk, name: str) -> None:
    """A member signs in with the token, white space around it or not, and sees a page with their own name."""
    async with desk.client() as client:
        response = await sign_in(client, f" {desk.token('editor', name)}\n", next="/staff/audit")
        assert (response.status_code, response.json()) == (200, {"next": "/staff/audit"})
        page = await client.get("/staff/audit")
    assert page.status_code == 200
    assert f"<bdi>{name}</bdi>" in page.text
    assert page.headers["cache-control"] == "no-store"


async def test_the_cookie_is_safe(desk: Desk) -> None:
    """No script reads the cookie, no foreign page's request carries it; over https it is bound to the host."""
    token = desk.token()
    for base, name, secure in (("http://test", "staff_session", False), ("https://test", "__Host-staff_session", True)):
        desk.address = base
        async with desk.client() as client:
            cookie = (await sign_in(client, token)).headers["set-cookie"]
        parts = {part.strip().lower() for part in cookie.split(";")}
        assert cookie.startswith(f"{name}=")
        assert {"httponly", "samesite=lax", "path=/"} <= parts
        assert ("secure" in parts) is secure
        assert not any(part.startswith("domain") for part in parts)


@pytest.mark.parametrize("token", ["staff_wrong", "x", "staff_" + "é" * 60, "' OR 1=1 --", "令牌"])
async def test_a_wrong_token_opens_nothing(desk: Desk, token: str) -> None:
    """What is no member's token is refused in one sentence, always the same, and sets no cookie."""
    desk.token()
    async with desk.client() as client:
        response = await sign_in(client, token)
        assert response.status_code == 401
        assert response.json() == {"error": "this token opens nothing; see that it is whole, or ask for a new one"}
        assert "set-cookie" not in response.headers
        assert (await client.get(AUDIT)).status_code == 401


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_no_other_page_signs_in(desk: Desk, headers: Mapping[str, str]) -> None:
    """Another site's page can't sign a browser in, not even with a token that is right."""
    async with desk.client() as client:
        response = await client.post(SIGN_IN, json={"token": desk.token()}, headers=headers)
    assert response.status_code == 403
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_no_other_page_changes_anything(desk: Desk, headers: Mapping[str, str]) -> None:
    """Even with the cookie and the page's token, what another site's page asks is refused and changes nothing."""
    async with desk.signed_in("editor") as client:
        response = await client.post(SIGN_OUT, json={}, headers=headers)
        assert response.status_code == 403
        assert (await client.get(AUDIT)).status_code == 200


@pytest.mark.parametrize("headers", FOREIGN.values(), ids=FOREIGN)
async def test_no_other_page_reads_the_api(desk: Desk, headers: Mapping[str, str]) -> None:
    """Another site's page gets nothing from the API, although the browser would send the cookie."""
    async with desk.signed_in("editor") as client:
        response = await client.get(AUDIT, headers=headers)
    assert response.status_code == 403
    assert "access-control-allow-origin" not in response.headers


@pytest.mark.parametrize("sent", ["", "x", request_token("another session"), "令牌"])
async def test_the_pages_token_must_be_right(desk: Desk, sent: str) -> None:
    """A change without the token of just this session's pages is refused."""
    async with desk.signed_in() as client:
        response = await client.post(SIGN_OUT, json={}, headers={b"X-Request-Token": sent.encode()})
    assert response.status_code == 403


async def test_a_followed_link_opens_a_page(desk: Desk) -> None:
    """A link in somebody's mail or chat leads to a page of the desk without signing in anew."""
    async with desk.signed_in("editor") as client:
        response = await client.get(
            "/staff/audit", headers={"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        )
    assert response.status_code == 200


@pytest.mark.parametrize("path", ["/staff/audit", AUDIT])
async def test_agents_are_no_editors(desk: Desk, path: str) -> None:
    """What only editors may do is refused to agents, with session or bearer token, and not offered to them."""
    token = desk.token("agent", "Ben")
    async with desk.signed_in("agent") as client:
        assert (await client.get(path)).status_code == 403
        start = await client.get("/staff", follow_redirects=True)
    assert start.status_code == 200
    assert "/staff/audit" not in start.text
    async with desk.client() as client:
        assert (await client.get(path, headers={"Authorization": f"Bearer {token}"})).status_code == 403


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_a_refused_page_is_a_page(desk: Desk, language: str) -> None:
    """An agent who opens an editors' page sees the desk in their language with the refusal, not JSON."""
    async with desk.signed_in("agent") as client:
        response = await client.get(f"/staff/audit?language={language}")
    assert response.status_code == 403
    assert Wordings().nearest(language).staff["no_page"] in response.text
    assert 'href="/staff' in response.text or "<nav" in response.text


async def test_a_role_is_not_asked_of_the_browser(desk: Desk) -> None:
    """Nothing that a signed-in agent sends makes an editor of them."""
    token = desk.token("agent")
    async with desk.client() as client:
        assert (await client.post(SIGN_IN, json={"token": token, "role": "editor"})).status_code == 422
        assert (await sign_in(client, token)).status_code == 200
        client.cookies.set("staff_role", "editor")
        response = await client.get(f"{AUDIT}?role=editor", headers={"X-Role": "editor"})
    assert response.status_code == 403


async def test_a_session_is_never_taken_from_the_browser(desk: Desk) -> None:
    """Signing in gives a new secret: one that was planted in the browser beforehand stays worth nothing."""
    async with desk.client() as client:
        client.cookies.set("staff_session", "planted")
        given = (await sign_in(client, desk.token("editor"))).headers["set-cookie"]
        assert regex.match("staff_session=[A-Za-z0-9_-]{43};", given)
    async with desk.client() as thief:
        thief.cookies.set("staff_session", "planted")
        assert (await thief.get(AUDIT)).status_code == 401


async def test_signing_in_again_ends_the_session_before(desk: Desk) -> None:
    """Whoever signs in where somebody else is signed in ends that session."""
    first, second = desk.token("editor", "Ann"), desk.token("editor", "Ben")
    async with desk.client() as client:
        await sign_in(client, first)
        old = client.cookies["staff_session"]
        await sign_in(client, second)
        assert "<bdi>Ben</bdi>" in (await client.get("/staff/audit")).text
    assert desk.staff.sessions.member(old) is None


@pytest.mark.parametrize("secret", ["forged", "", "0" * 43, "A" * 5000, "é", '"; DROP TABLE sessions'])
async def test_a_forged_cookie_opens_nothing(desk: Desk, secret: str) -> None:
    """A cookie that the server did not give is as good as none."""
    async with desk.client() as client:
        headers = {b"Cookie": f"staff_session={secret}".encode()}
        assert (await client.get(AUDIT, headers=headers)).status_code == 401
        page = await client.get("/staff/audit?before=3", headers=headers)
    assert page.status_code == 303
    assert page.headers["location"] == "/staff/sign-in?next=%2Fstaff%2Faudit%3Fbefore%3D3"


async def test_signing_out_ends_the_session(desk: Desk) -> None:
    """After signing out the cookie is gone from the browser and worth nothing to whoever kept it."""
    async with desk.signed_in("editor") as client:
        secret = client.cookies["staff_session"]
        response = await client.post(SIGN_OUT, json={}, headers={"Origin": "http://test"})
        assert response.json() == {"next": "/staff/sign-in"}
        assert "Max-Age=0" in response.headers["set-cookie"]
    async with desk.client() as thief:
        thief.cookies.set("staff_session", secret)
        assert (await thief.get(AUDIT)).status_code == 401


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_who_is_revoked_is_out_at_once(desk: Desk, name: str) -> None:
    """The next request of somebody revoked is refused, of the browser as of the program."""
    token = desk.token("editor", name)
    headers = {"Authorization": f"Bearer {token}"}
    async with desk.client() as client, desk.client() as program:
        await sign_in(client, token)
        assert (await client.get(AUDIT)).status_code == 200
        assert (await program.get(AUDIT, headers=headers)).status_code == 200
        desk.staff.members.revoke(name)
        assert (await client.get(AUDIT)).status_code == 401
        assert (await program.get(AUDIT, headers=headers)).status_code == 401


@pytest.mark.parametrize("setting", ["staff_idle_minutes", "staff_session_hours"])
async def test_a_session_ends_by_itself(setting: str) -> None:
    """The settings for idle and whole time hold for the browser's cookie and on the server."""
    desk = make_desk(FakeAssistant(), **{setting: 1e-9})
    async with desk.client() as client:
        response = await sign_in(client, desk.token("editor"))
        secret = response.headers["set-cookie"].split("=")[1].split(";")[0]
        response = await client.get(AUDIT, headers={"Cookie": f"staff_session={secret}"})
    assert response.status_code == 401


async def test_guessing_is_locked_out(desk: Desk) -> None:
    """After five wrong tokens, of sign-ins and bearers together, the right one is refused too, with a time to wait."""
    token = desk.token("editor")
    async with desk.client() as client:
        for number in range(5):
            bearer = {"Authorization": f"Bearer staff_{number}"}
            response = await (sign_in(client, f"staff_{number}") if number % 2 else client.get(AUDIT, headers=bearer))
            assert response.status_code == 401
        for response in (
            await sign_in(client, token),
            await client.get(AUDIT, headers={"Authorization": f"Bearer {token}"}),
        ):
            assert response.status_code == 429
            assert 890 <= int(response.headers["retry-after"]) <= 900


async def test_a_signed_in_browser_is_not_locked_out(desk: Desk) -> None:
    """Somebody guessing in the same network does not interrupt who is signed in already."""
    async with desk.signed_in("editor") as client, desk.client() as guesser:
        for _ in range(6):
            await sign_in(guesser, "staff_wrong")
        assert (await client.get(AUDIT)).status_code == 200


@pytest.mark.parametrize(
    "shown", ["", "Bearer", "Bearer ", "Basic QW5hOng=", "Token x", "staff_x", "bearer é"], ids=repr
)
async def test_other_credentials_are_refused(desk: Desk, shown: str) -> None:
    """An Authorization header that holds no member's token is refused, whatever the cookie says."""
    async with desk.signed_in("editor") as client:
        response = await client.get(AUDIT, headers={b"Authorization": shown.encode()})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_program_needs_no_cookie(desk: Desk) -> None:
    """With a bearer token the API is used without cookie and page token, and keeps no session."""
    token = desk.token("editor")
    async with desk.client() as client:
        response = await client.post(SIGN_OUT, json={}, headers={"Authorization": f"bearer {token}"})
        assert response.status_code == 200
        assert (await client.get(AUDIT, headers={"Authorization": f"Bearer {token}"})).status_code == 200


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
async def test_the_log_shows_signing_in_and_out(desk: Desk, name: str) -> None:
    """Editors read who signed in and out and when; nothing else of a person is in it."""
    token = desk.token("editor", name)
    async with desk.client() as client:
        await sign_in(client, token)
        secret = client.cookies["staff_session"]
        await client.post(SIGN_OUT, json={}, headers={"X-Request-Token": request_token(secret)})
        found = (await client.get(AUDIT, headers={"Authorization": f"Bearer {token}"})).json()
    assert [(one["name"], one["action"], one["target"]) for one in found] == [
        (name, "signed_out", ""),
        (name, "signed_in", ""),
    ]
    assert "203.0.113" not in str(found)


@pytest.mark.parametrize("language", ["zh-Hans", "ja", "es", "en"])
async def test_editors_forget_conversations(desk: Desk, language: str) -> None:
    """An editor deletes a conversation for a customer, which the log says; an agent can't."""
    async with desk.client() as visitor:
        asked = await visitor.post("/api/v1/chat", json={"message": REPLIES[language][0]})
    conversation = asked.json()["conversation_id"]
    address = f"/api/v1/staff/conversations/{conversation}"
    desk.staff.store.flush()
    async with desk.signed_in("agent") as client:
        assert (await client.delete(address)).status_code == 403
        assert desk.staff.store.history(conversation)
    async with desk.signed_in("editor", "Boss") as client:
        assert (await client.delete(address)).json() == {"status": "forgotten"}
        assert (await client.delete(address)).status_code == 404
        log = (await client.get(AUDIT)).json()
    assert not desk.staff.store.history(conversation)
    assert [(one["name"], one["action"], one["target"]) for one in log] == [
        ("Boss", "conversation.forgotten", conversation)
    ]
    assert REPLIES[language][0] not in str(log)


async def test_live_checks_are_not_taken_for_a_flood(desk: Desk) -> None:
    """Somebody at work asks more than a visitor may, while signing in is limited like everything else."""
    desk = make_desk(FakeAssistant(), rate_per_client=10)
    async with desk.signed_in("editor") as client:
        found = [(await client.delete("/api/v1/staff/conversations/c1")).status_code for _ in range(40)]
        tried = [(await client.post(SIGN_IN, json={})).status_code for _ in range(12)]
    assert set(found) == {404}
    assert set(tried) == {422, 429}


@pytest.mark.parametrize("path", ["/staff", "/staff/audit", "/staff/sign-in", AUDIT, "/api/v1/staff/nothing"])
async def test_nothing_is_kept_by_caches(desk: Desk, path: str) -> None:
    """Whatever a staff address answers, no cache keeps it."""
    async with desk.signed_in("editor") as client:
        assert (await client.get(path)).headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("/staff", "/staff"),
        ("/staff/drafts/d1?language=ja", "/staff/drafts/d1?language=ja"),
        ("/staff?language=ja", "/staff?language=ja"),
        ("", HOME),
        ("https://evil.example/staff", HOME),
        ("//evil.example/staff", HOME),
        ("/\\evil.example", HOME),
        ("/staff\\..\\..\\evil", HOME),
        ("/staffing", HOME),
        ("/staff/sign-in?next=/staff", HOME),
        ("/staff/\r\nSet-Cookie: a=b", HOME),
        ("javascript:alert(1)", HOME),
        ("/api/v1/staff/audit", HOME),
    ],
)
def test_nobody_is_led_elsewhere(target: str, expected: str) -> None:
    """After signing in one lands in the desk, whatever the link said."""
    assert inside(target) == expected


@pytest.mark.parametrize("language", Wordings().languages)
async def test_pages_speak_every_language(desk: Desk, language: str) -> None:
    """A language asked for once stays, before and after signing in; without one the browser's preference counts."""
    said = Wordings().by_language[language].staff
    async with desk.client() as client:
        page = await client.get(f"/staff/sign-in?language={language}")
        assert said["sign_in_intro"].replace("'", "&#x27;") in page.text
        await sign_in(client, desk.token("editor"))
        page = await client.get("/staff/audit", headers={"Accept-Language": "xx"})
        assert f'<html lang="{language}"' in page.text
        assert said["page_audit"] in page.text
    async with desk.client() as client:
        page = await client.get("/staff/sign-in", headers={"Accept-Language": f"xx, {language};q=0.5"})
    assert f'<html lang="{language}"' in page.text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "${request_token}", "&amp;"])
async def test_names_stay_text(desk: Desk, name: str) -> None:
    """A name that looks like markup is shown as it is, in the frame and in the log."""
    assert len(name) < LONGEST_NAME
    async with desk.client() as client:
        await sign_in(client, desk.token("editor", name))
        page = (await client.get("/staff/audit")).text
    assert page.count("<script") == 1
    assert "<img" not in page
    assert "&lt;" in page or "$" in page or "&amp;amp;" in page


async def test_pages_allow_no_foreign_code(desk: Desk) -> None:
    """Pages hold no inline script, style or handler, and their policy would not run any."""
    async with desk.signed_in("editor") as client:
        for path in ("/staff/audit", "/staff/sign-in"):
            page = await client.get(path, follow_redirects=True)
            policy = page.headers["content-security-policy"]
            assert "unsafe" not in policy
            assert all(
                part in policy for part in ("default-src 'none'", "trusted-types 'none'", "frame-ancestors 'none'")
            )
            assert not regex.search(r"<style|<[^>]* (style|on[a-z]+)=|javascript:", page.text)
            assert page.text.count("<script") == page.text.count('<script type="module" src="/assets/')
