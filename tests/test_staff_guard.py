"""Nothing of the staff desk answers without sign-in, and nothing changes because another site's page asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import regex
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from tests.fakes import FakeAssistant
from tests.staff import Desk, make_desk

# What lets people in has to be open.
OPEN = {"GET /staff/sign-in", "POST /api/v1/staff/sign-in"}


def routes(found: list[BaseRoute]) -> Iterator[APIRoute]:
    """All routes of an application, those of included routers too."""
    for route in found:
        if isinstance(route, APIRoute):
            yield route
        else:
            yield from routes(list(getattr(getattr(route, "original_router", route), "routes", ())))


def staff_routes() -> list[str]:
    """Method and address of everything under /staff and /api/v1/staff, with an id where one is wanted."""
    paths = {
        f"{method} {regex.sub(r'{[^}]*}', 'x1', route.path)}"
        for route in routes(make_desk(FakeAssistant()).app.routes)
        for method in route.methods or ()
        if route.path.startswith(("/staff", "/api/v1/staff"))
    }
    return sorted(paths - OPEN)


@pytest.fixture
def desk() -> Desk:
    return make_desk(FakeAssistant())


def test_there_are_staff_routes() -> None:
    """The walk finds pages and the API, so that the tests below look at something."""
    assert {"GET /staff", "GET /staff/audit", "GET /api/v1/staff/audit", "POST /api/v1/staff/sign-out"} <= set(
        staff_routes()
    )


@pytest.mark.parametrize("route", staff_routes())
async def test_nothing_answers_without_sign_in(desk: Desk, route: str) -> None:
    """Every route sends a browser to the sign-in page, or refuses a program, and says nothing else."""
    method, path = route.split()
    async with desk.client() as client:
        response = await client.request(method, path, json={} if method != "GET" else None)
    if path.startswith("/api/") or method not in ("GET", "HEAD"):
        assert response.status_code == 401
        assert list(response.json()) == ["error"]
    else:
        assert response.status_code == 303
        assert response.headers["location"].startswith("/staff/sign-in?next=")
        assert response.content == b""


@pytest.mark.parametrize("route", [route for route in staff_routes() if not route.startswith(("GET", "HEAD"))])
async def test_every_change_needs_the_pages_token(desk: Desk, route: str) -> None:
    """A cookie alone changes nothing: every route that is no reading wants what only our page knows."""
    method, path = route.split()
    async with desk.signed_in("editor") as client:
        del client.headers["X-Request-Token"]
        response = await client.request(method, path, json={})
    assert response.status_code == 403
    assert "X-Request-Token" in response.json()["error"]


def test_the_contract_says_how_to_sign_in() -> None:
    """Every staff route of /openapi.json names the bearer token, except the one that lets people in."""
    paths = make_desk(FakeAssistant()).app.openapi()["paths"]
    found = {
        f"{method.upper()} {path}": "security" in described
        for path, methods in paths.items()
        for method, described in methods.items()
        if path.startswith("/api/v1/staff")
    }
    assert found.pop("POST /api/v1/staff/sign-in") is False
    assert found
    assert all(found.values())
