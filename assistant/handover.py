"""Tells a webhook of each visitor who wants or needs a person.

In: a conversation, a reason, what was asked. Out: a signed POST, sent again until it arrives.
Never: makes a reply wait, sends what is not masked, follows a redirect, or gives up without a line in the log.

The hook is signed as https://www.standardwebhooks.com says: HMAC-SHA256 over id, time and body.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import random
import threading
import time
import uuid
from queue import Empty, SimpleQueue
from typing import Any

import httpx
from sqlalchemy import select, update

from assistant.errors import InputError, StoreUnavailable
from assistant.mask import mask
from assistant.records import HandoverReason
from assistant.store import Store
from assistant.tables import conversations, handovers

ATTEMPTS, FIRST_DELAY_S, LONGEST_DELAY_S = 8, 2.0, 600.0
TIMEOUT_S, LEASE_S, LOOK_EVERY_S = 10.0, 30.0, 5.0
BATCH = 20
log = logging.getLogger("assistant.handover")


class Courier:
    """Tells the hook; what waits is kept in the store, so that it outlives this process.

    Args:
        url, secret: of the hook; a secret that begins with `whsec_` is base64, as the standard writes it.
    """

    def __init__(self, store: Store, url: str, secret: str) -> None:
        self._store, self._url, self._secret = store, url, _secret_bytes(secret)
        self._new: SimpleQueue[dict[str, Any] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="handover", daemon=True)
        self._thread.start()

    def send(self, conversation_id: str, reason: HandoverReason, asked: str, language: str) -> None:
        """Tells the hook soon; returns at once."""
        self._new.put(
            {"id": uuid.uuid4().hex, "conversation_id": conversation_id, "reason": reason, "at": time.time(),
             "language": language, "question": mask(asked)}
        )  # fmt: skip

    def close(self) -> None:
        """Stops; what was not delivered is when the next process starts."""
        self._new.put(None)
        self._thread.join(TIMEOUT_S + 1)

    def _run(self) -> None:
        with httpx.Client(timeout=TIMEOUT_S, follow_redirects=False) as client:
            while True:
                try:
                    body = self._new.get(timeout=LOOK_EVERY_S)
                    if body is None:
                        return
                    self._keep(body)
                except Empty:
                    pass
                except StoreUnavailable as error:
                    log.error("a handover waits: %s", error)
                    time.sleep(FIRST_DELAY_S)
                    self._new.put(body)
                    continue
                try:
                    self._deliver(client)
                except StoreUnavailable as error:
                    log.error("handovers wait: %s", error)

    def _keep(self, body: dict[str, Any]) -> None:
        name, now = body["conversation_id"], body["at"]
        with self._store.engine.write() as connection:
            insert = self._store.engine.insert(conversations).values(id=name, begun=now, touched=now)
            connection.execute(insert.on_conflict_do_nothing())
            row = {"id": body["id"], "conversation_id": name, "reason": body["reason"], "body": body, "at": now}
            connection.execute(handovers.insert().values(**row, attempts=0, due=now, state="waiting"))

    def _deliver(self, client: httpx.Client) -> None:
        """Sends what is due; each is claimed first, so that of several processes one sends it."""
        now = time.time()
        waiting = (handovers.c.state == "waiting") & (handovers.c.due <= now)
        with self._store.engine.read() as connection:
            rows = connection.execute(select(handovers).where(waiting).order_by(handovers.c.due).limit(BATCH)).all()
        for row in rows:
            own = (handovers.c.id == row.id) & (handovers.c.due == row.due) & (handovers.c.state == "waiting")
            claim = {"due": time.time() + LEASE_S, "attempts": row.attempts + 1}
            with self._store.engine.write() as connection:
                claimed = connection.execute(update(handovers).where(own).values(claim)).rowcount
            if claimed:
                self._settle(row.id, row.attempts + 1, self._post(client, row.id, row.body))

    def _post(self, client: httpx.Client, name: str, body: dict[str, Any]) -> str:
        """Sends one; "" when it arrived, else why not."""
        content = json.dumps(body, ensure_ascii=False).encode()
        stamp = str(int(time.time()))
        signed = hmac.new(self._secret, f"{name}.{stamp}.".encode() + content, hashlib.sha256).digest()
        headers = {
            "Content-Type": "application/json", "webhook-id": name, "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
        }  # fmt: skip
        try:
            with client.stream(
                "POST", self._url, content=content, headers=headers
            ) as response:  # its body may never end
                return "" if response.is_success else f"status {response.status_code}"
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return type(error).__name__

    def _settle(self, name: str, attempts: int, failure: str) -> None:
        values: dict[str, Any] = {"state": "delivered"}
        if failure:
            delay = min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (attempts - 1)) * random.uniform(0.75, 1.25)  # noqa: S311
            values = {"state": "failed"} if attempts >= ATTEMPTS else {"due": time.time() + delay}
            log.warning("handover %s: attempt %d of %d failed: %s", name, attempts, ATTEMPTS, failure)
        with self._store.engine.write() as connection:
            connection.execute(update(handovers).where(handovers.c.id == name).values(values))


def _secret_bytes(secret: str) -> bytes:
    if secret.startswith("whsec_"):
        try:
            return base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except ValueError:
            raise InputError("ASSISTANT_HANDOVER_SECRET can't be used: what follows whsec_ must be base64") from None
    return secret.encode()
