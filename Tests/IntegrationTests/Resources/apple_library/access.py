"""Who may call, and how often."""

import time

import jwt
from appstoreserverlibrary.api_client import APIError, APIException
from appstoreserverlibrary.models.Environment import Environment

from stage import Credential


def check(stage):
    """Wrong credentials first; then too many calls, of an app that nothing else uses."""
    for group in [_check_credentials, _check_rate] + ([_check_door] if stage.setting.name == "door" else []):
        stage.checks.section(group.__name__, group, stage)


def _check_credentials(stage):
    checks, app = stage.checks, stage.app
    bought = stage.buy(stage.account(Environment.SANDBOX), "coins.0", "Consumable")["transactionId"]
    good, other = app.credential, stage.setting.issue(app)
    stage.setting.revoke(other)
    for what, credential in [
        ("revoked key", other),
        ("key of another id", Credential(good.key_id, good.issuer_id, other.private_key)),
        ("unknown key id", Credential("UNKNOWN000", good.issuer_id, good.private_key)),
        ("wrong issuer", Credential(good.key_id, "somebody else", good.private_key)),
    ]:
        for environment in [Environment.PRODUCTION, Environment.SANDBOX]:
            apple = app.client(environment, credential)
            checks.refused_with_status(lambda: apple.get_transaction_info(bought), 401, what)
            apple.close()
    apple = app.client(Environment.SANDBOX)
    token = None
    apple.client._generate_token = lambda: token
    for what, claims in [
        ("expired token", {"exp": int(time.time()) - 10}),
        ("token that lasts too long", {"exp": int(time.time()) + 7200}),
        ("wrong audience", {"aud": "somebody"}),
        ("no audience", {"aud": None}),
    ]:
        token = _token(app, claims)
        checks.refused_with_status(lambda: apple.get_transaction_info(bought), 401, what)
    token = _token(app, {"bid": "com.example.unknown"})
    if stage.setting.name == "door":
        # A caller's key is for one app.
        checks.refused_with_status(lambda: apple.get_transaction_info(bought), 401, "another app")
    else:
        checks.refused(lambda: apple.get_transaction_info(bought), APIError.APP_NOT_FOUND, "unknown app")
    apple.close()
    checks.check(app.sandbox.get_transaction_info(bought).signedTransactionInfo, "good key after bad ones")


def _token(app, claims):
    """A token as Apple's client makes it, with other claims."""
    whole = {
        "bid": app.bundle_id,
        "iss": app.credential.issuer_id,
        "aud": "appstoreconnect-v1",
        "exp": int(time.time()) + 300,
        **claims,
    }
    whole = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(whole, app.credential.private_key, algorithm="ES256", headers={"kid": app.credential.key_id})


def _check_rate(stage):
    """The limit of one endpoint is reached; others go on."""
    checks, app = stage.checks, stage.limited
    bought = stage.buy(stage.account(Environment.SANDBOX), "coins.0", "Consumable", app=app)["transactionId"]
    limit = {"endpoint": "Get Refund History", "bundleId": app.bundle_id, "limit": 2}
    stage.simulator.call("PUT", "/rate-limits", {"rateLimits": [limit]})
    for _ in range(2):
        app.sandbox.get_refund_history(bought, None)
    for _ in range(3):
        refused = checks.refused(
            lambda: app.sandbox.get_refund_history(bought, None), APIError.RATE_LIMIT_EXCEEDED, "call over the rate"
        )
        if refused is None:
            break
        resume = int(app.sandbox.answer.headers["retry-after"])
        now = time.time() * 1000
        checks.check(now < resume <= now + 3_601_000, f"time to resume: {resume}, now {now}")
    if stage.setting.name == "door":
        # Told once, the daemon answers for the App Store until then.
        received = stage.simulator.all_received(app, "Get Refund History")
        checks.equal(len(received), 3, "calls that reached the App Store")
    checks.check(app.sandbox.get_transaction_info(bought).signedTransactionInfo, "another endpoint at that time")
    stage.simulator.call("DELETE", "/rate-limits")


def _check_door(stage):
    """What only a door does: the real key stays inside, and a key may be allowed less than all."""
    checks, app = stage.checks, stage.app
    bought = stage.buy(stage.account(Environment.SANDBOX), "coins.0", "Consumable")["transactionId"]
    app.sandbox.get_transaction_info(bought)
    received = stage.simulator.received(app, "Get Transaction Info")
    checks.equal(received["keyId"], stage.setting.own_key, "key that the App Store sees")
    reader = app.client(Environment.SANDBOX, stage.setting.issue(app, ["refunds:read"]))
    checks.equal(reader.get_refund_history(bought, None).signedTransactions, [], "call within the scopes of a key")
    try:
        reader.get_transaction_info(bought)
    except APIException as exception:
        checks.equal(exception.http_status_code, 403, "status of a call beyond the scopes of a key")
    else:
        checks.check(False, "call beyond the scopes of a key: no error")
    reader.close()
