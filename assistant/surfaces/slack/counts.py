"""Slack's numbers for Prometheus. In: what the bot counts. Out: metrics. Never: labels of unbounded variety."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

from assistant.surfaces.metrics import SECONDS, Metrics


class Counts:
    """The bot's numbers, beside the server's own."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics, registry = metrics, metrics.registry
        self.events = Counter(
            "assistant_slack_events", "What Slack delivered, by kind and what became of it", ("kind", "fate"),
            registry=registry,
        )  # fmt: skip
        self.again = Counter("assistant_slack_again", "Jobs put off, by reason", ("reason",), registry=registry)
        self.done = Counter("assistant_slack_done", "Jobs by their outcome", ("outcome",), registry=registry)
        self.recorded = Histogram(
            "assistant_slack_recorded_seconds", "From an event's arrival to its being kept", buckets=SECONDS,
            registry=registry,
        )  # fmt: skip
        self.waiting = Gauge("assistant_slack_waiting", "Jobs that are not dealt with", registry=registry)
