"""Numbers for Prometheus: requests, answers, how long they took, open streams, refusals.

In: what the other surfaces count. Out: the text format of `/metrics`, for clients on private networks only.
Never: holds a word of a message, an address, or a label of unbounded variety.
"""

from __future__ import annotations

import ipaddress

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.exceptions import HTTPException

METHODS = ("GET", "POST", "OPTIONS", "HEAD", "PUT", "DELETE", "PATCH")
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15)


class Metrics:
    """The numbers of one application."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "assistant_requests", "Requests by route, method and status", ("route", "method", "status"),
            registry=registry,
        )  # fmt: skip
        self.answers = Counter("assistant_answers", "Answers", ("outcome", "language"), registry=registry)
        self.failures = Counter("assistant_failed_answers", "Answers that broke off", registry=registry)
        self.first = Histogram(
            "assistant_first_sentence_seconds", "From a question to its first sentence", buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self.whole = Histogram(
            "assistant_answer_seconds", "From a question to its whole answer", buckets=SECONDS, registry=registry
        )
        self.streams = Gauge("assistant_open_streams", "Streams being read now", registry=registry)
        self.resumed = Counter("assistant_resumed_streams", "Streams taken up again", registry=registry)
        self.refused = Counter("assistant_refused_requests", "Requests turned away", ("reason",), registry=registry)

    def count(self, route: str, method: str, status: int) -> None:
        """One request."""
        self.requests.labels(route, method if method in METHODS else "other", str(status)).inc()


def metrics_router(metrics: Metrics) -> APIRouter:
    """`GET /metrics`."""
    router = APIRouter(include_in_schema=False)

    @router.get("/metrics")
    async def show(request: Request) -> Response:
        if not _is_private(request.client.host if request.client else ""):
            raise HTTPException(404)
        text = generate_latest(metrics.registry)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_LATEST, "Cache-Control": "no-store"})

    return router


def _is_private(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_private
    except ValueError:
        return False
