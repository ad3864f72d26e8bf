"""Sends one reading and a batch, and repeats what can pass later. Needs Python 3.7 or later, and no package.

CELLARBOOK_URL=https://cellars.example CELLARBOOK_KEY=clr_… CELLARBOOK_CELLAR=wine-berlin python3 send.py
"""

import http.client
import json
import os
import random
import sys
import time
import uuid
from datetime import datetime, timezone
from urllib.parse import urlsplit

RETRY_STATUSES = {408, 409, 429, 500, 502, 503, 504}
TRIES_MAX = 8
TIMEOUT_S = 60
BACKOFF_S_MAX = 60
SECOND_MS = int(os.environ.get("CELLARBOOK_SECOND_MS", "1000"))  # Tests make the second shorter.


class NotStored(Exception):
    """The service refused the request for good, or every try failed."""


class Cellarbook:
    """One connection, which stays open between requests. http.client follows no redirect, so the key goes nowhere else."""

    def __init__(self, url: str, key: str) -> None:
        parts = urlsplit(url)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        self._connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=TIMEOUT_S)
        self._base_path = parts.path.rstrip("/")
        self._key = key

    def send(self, path: str, content: dict) -> str:
        """Returns the body of the answer. Raises NotStored. Every try has the same bytes and the same idempotency key."""
        body = json.dumps(content, allow_nan=False).encode()
        headers = {
            "X-API-Key": self._key,
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        }
        backoff_s = 1
        for tries_left in reversed(range(TRIES_MAX)):
            wait_s = backoff_s
            try:
                self._connection.request("POST", self._base_path + path, body, headers)
                answer = self._connection.getresponse()
                text = answer.read().decode(errors="replace")
            except (OSError, http.client.HTTPException) as fault:
                # The next request opens a new connection.
                self._connection.close()
                problem = repr(fault)
            else:
                if answer.status in (200, 207):
                    return text
                problem = f"{answer.status} {text}"
                if answer.status not in RETRY_STATUSES:
                    raise NotStored(problem)
                retry_after = answer.headers.get("Retry-After", "")
                if retry_after.isdigit():
                    wait_s = int(retry_after)
            if tries_left:
                print(f"{problem}: next try in {wait_s} s", file=sys.stderr)
                wait(wait_s)
                backoff_s = min(backoff_s * 2, BACKOFF_S_MAX)
        raise NotStored(f"{problem}, after {TRIES_MAX} tries: keep the readings")


def wait(seconds: float) -> None:
    """Waits up to a half longer, so that the devices of a fleet do not return at the same moment."""
    time.sleep(seconds * random.uniform(1, 1.5) * SECOND_MS / 1000)


def reading(keg: str, value: float) -> dict:
    return {
        "cellar": os.environ["CELLARBOOK_CELLAR"],
        "rack": "rack-17",
        "keg": keg,
        "value": value,
        # An aware time. datetime.utcnow() has no zone, so its text would be refused.
        "timestamp": datetime.now(timezone.utc).isoformat(timespec="milliseconds"),
    }


def main() -> None:
    cellarbook = Cellarbook(os.environ["CELLARBOOK_URL"], os.environ["CELLARBOOK_KEY"])
    print(cellarbook.send("/api/v1/ingest", reading("temperature", 21.5)))
    batch = {"readings": [reading("temperature", 21.6), reading("humidity", 64)]}
    print(cellarbook.send("/api/v1/ingest/batch", batch))


if __name__ == "__main__":
    try:
        main()
    except NotStored as refusal:
        sys.exit(f"not stored: {refusal}")
