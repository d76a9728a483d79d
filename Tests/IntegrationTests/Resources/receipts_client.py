"""A client of the receipts API, written from that API's public description alone, with nothing but Python's library.

    ACCESS_TOKEN=... receipts_client.py BASE_URL UPLOADS

uploads what the file UPLOADS holds, a JSON list of request bodies, and prints a line of JSON about each: what it came to, in
the client's own words. What does not look as described ends it with an error: each field must be there, and of its type.
"""

import datetime
import json
import os
import sys
import urllib.error
import urllib.request
import uuid

PATH = "/client/itunes_connect/receipts"
STYLES = {"transaction", "unified"}
ENVIRONMENTS = {"sandbox", "production"}
# Whoever waits longer waits in vain; the server of a test may be slow.
LIMIT = 600


class InvalidToken(Exception):
    """401."""


class InvalidSignature(Exception):
    """402: possible fraud."""


class InvalidPayload(Exception):
    """422; `errors` is what the server says is wrong."""

    def __init__(self, errors):
        super().__init__(json.dumps(errors))
        self.errors = errors


def timestamp(value):
    """Reads `{"utc": "2026-03-01 09:30:12 UTC", "ms": 1772357412345}`, whose two halves must agree."""
    moment = datetime.datetime.strptime(value["utc"], "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=datetime.timezone.utc)
    if type(value["ms"]) is not int or int(moment.timestamp()) != value["ms"] // 1000:
        raise ValueError(f"not a timestamp: {value}")
    return moment


class Receipt:
    """The answer to an upload that was taken."""

    def __init__(self, members, is_validated):
        self.is_validated = is_validated
        self.id = uuid.UUID(members["id"])
        self.app_family_id = uuid.UUID(members["app_family_id"])
        self.style = self._one_of(members, "style", STYLES)
        self.environment = self._one_of(members, "environment", ENVIRONMENTS)
        self.bundle_id = self._of_type(members, "bundle_id", str)
        self.is_fraud = self._of_type(members, "is_fraud", bool)
        # There is none where there is no fraud.
        self.fraud_reason = self._of_type(members, "fraud_reason", str if self.is_fraud else (str, type(None)))
        self.user_identifier = self._of_type(members, "user_identifier", (str, type(None)))
        self.metadata = self._of_type(members, "metadata", (dict, type(None)))
        self.ip_address = self._of_type(members, "ip_address", (str, type(None)))
        self.in_app_purchases = self._of_type(members, "in_app_purchases", list)
        self.created_at = timestamp(members["created_at"])
        self.updated_at = timestamp(members["updated_at"])

    @staticmethod
    def _of_type(members, name, kind):
        if not isinstance(members[name], kind):
            raise TypeError(f"{name} is {members[name]!r}")
        return members[name]

    @staticmethod
    def _one_of(members, name, values):
        if members[name] not in values:
            raise ValueError(f"{name} is {members[name]!r}")
        return members[name]


class Client:
    """Uploads receipts for the owner of an access token."""

    def __init__(self, base, token):
        self._base = base
        self._token = token

    def upload(self, body):
        """Uploads one receipt; the body has the fields of the request.

        Returns a Receipt; raises InvalidToken, InvalidSignature or InvalidPayload.
        """
        request = urllib.request.Request(
            self._base + PATH,
            data=json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=LIMIT) as response:
                if response.status not in (200, 206):
                    raise ValueError(f"status {response.status}")
                return Receipt(json.load(response), is_validated=response.status == 200)
        except urllib.error.HTTPError as error:
            if error.code == 401:
                raise InvalidToken() from error
            if error.code == 402:
                raise InvalidSignature() from error
            if error.code == 422:
                raise InvalidPayload(json.load(error)["errors"]) from error
            raise


def outcome(client, body):
    """What an upload came to, as JSON."""
    try:
        receipt = client.upload(body)
    except InvalidToken:
        return {"outcome": "invalid token"}
    except InvalidSignature:
        return {"outcome": "invalid signature"}
    except InvalidPayload as error:
        return {"outcome": "invalid payload", "errors": error.errors}
    return {
        "outcome": "validated" if receipt.is_validated else "queued",
        "id": str(receipt.id),
        "app_family_id": str(receipt.app_family_id),
        "style": receipt.style,
        "environment": receipt.environment,
        "bundle_id": receipt.bundle_id,
        "is_fraud": receipt.is_fraud,
        "fraud_reason": receipt.fraud_reason,
        "user_identifier": receipt.user_identifier,
        "metadata": receipt.metadata,
        "ip_address": receipt.ip_address,
        "in_app_purchases": receipt.in_app_purchases,
        "created_at": receipt.created_at.isoformat(),
        "updated_at": receipt.updated_at.isoformat(),
    }


def main():
    """Uploads everything in the file."""
    base, uploads = sys.argv[1:]
    client = Client(base, os.environ["ACCESS_TOKEN"])
    with open(uploads, encoding="utf-8") as file:
        bodies = json.load(file)
    for body in bodies:
        print(json.dumps(outcome(client, body)), flush=True)


if __name__ == "__main__":
    main()
