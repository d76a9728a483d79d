"""Test notifications that really arrive, and the history of all that were sent."""

import time

from appstoreserverlibrary.api_client import APIError
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.NotificationHistoryRequest import NotificationHistoryRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.SendAttemptResult import SendAttemptResult
from appstoreserverlibrary.models.Subtype import Subtype


def path(app, environment):
    """Where the notifications of an app arrive."""
    return f"/{app.slug}/{environment.value}"


def subscribe(stage):
    """Has the notifications of the app sent to the receiver."""
    app = stage.app
    urls = {
        environment.value.lower(): stage.receiver.url(path(app, environment))
        for environment in [Environment.PRODUCTION, Environment.SANDBOX]
    }
    urls["certificateAuthorities"] = stage.receiver.certificate
    stage.simulator.call("PUT", f"/apps/{app.bundle_id}/notification-urls", urls)


def check(stage, environment):
    """Every call about notifications, in one environment."""
    apple = stage.app.production if environment == Environment.PRODUCTION else stage.app.sandbox
    for group in [_check_test, _check_history]:
        stage.checks.section(group.__name__, group, stage, apple)


def _check_test(stage, apple):
    checks, app = stage.checks, stage.app
    verify, where = app.verifier(apple.environment), path(app, apple.environment)
    token = apple.request_test_notification().testNotificationToken

    def delivered():
        found = [verify.verify_and_decode_notification(one["signedPayload"]) for one in stage.receiver.bodies(where)]
        return [one for one in found if one.notificationType == NotificationTypeV2.TEST]

    tests = checks.eventually(delivered, "arrival of a test notification")
    checks.equal(tests[0].data.bundleId, app.bundle_id, "app of a test notification")
    status = _attempted(checks, apple, token)
    checks.equal(
        [one.sendAttemptResult for one in status.sendAttempts], [SendAttemptResult.SUCCESS], "attempts of a test"
    )
    decoded = verify.verify_and_decode_notification(status.signedPayload)
    checks.equal(decoded.notificationUUID, tests[0].notificationUUID, "notification of a test")

    stage.receiver.answer(where, 500)
    status = _attempted(checks, apple, apple.request_test_notification().testNotificationToken)
    checks.equal(
        status.sendAttempts[0].sendAttemptResult,
        SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE,
        "attempt of a test that is refused",
    )
    stage.receiver.answer(where, 200)
    unknown = "00000000-0000-4000-8000-000000000000_1700000000"
    for token, error in [
        (unknown, APIError.TEST_NOTIFICATION_NOT_FOUND),
        ("no-token", APIError.INVALID_TEST_NOTIFICATION_TOKEN),
    ]:
        checks.refused(lambda: apple.get_test_notification_status(token), error, f"status of test {token}")
    limited = stage.limited.production if apple.environment == Environment.PRODUCTION else stage.limited.sandbox
    checks.refused(
        limited.request_test_notification, APIError.SERVER_NOTIFICATION_URL_NOT_FOUND, "test without an address"
    )


def _attempted(checks, apple, token):
    """The status of a test, once it has been tried: until then Apple knows none."""

    def status():
        try:
            return apple.get_test_notification_status(token)
        except Exception as exception:  # pylint: disable=broad-exception-caught
            if getattr(exception, "api_error", None) != APIError.TEST_NOTIFICATION_NOT_FOUND:
                raise
            return None

    return checks.eventually(status, "first attempt of a test")


def _check_history(stage, apple):
    checks, app = stage.checks, stage.app
    verify = app.verifier(apple.environment)
    account = stage.account(apple.environment)
    bought = stage.buy(account, "silver", "Auto-Renewable Subscription")["transactionId"]
    draft = {"notificationType": "EXPIRED", "subtype": "VOLUNTARY", "transactionId": bought}
    for _ in range(25):
        stage.simulator.call("POST", "/notifications", draft)
    start = int(time.time() * 1000) - 3_600_000

    def ask(token=None, **filters):
        request = NotificationHistoryRequest(**{"startDate": start, "endDate": start + 7_200_000, **filters})
        return apple.get_notification_history(token, request)

    def pages(**filters):
        found, token = [], None
        while True:
            page = ask(token, **filters)
            checks.check(len(page.notificationHistory) <= 20, "size of a page of notifications")
            found += page.notificationHistory
            if not page.hasMore:
                return found
            token = page.paginationToken

    def attempted():
        sent = stage.simulator.call("GET", f"/notifications?transactionId={bought}")["notifications"]
        return all(one["sendAttempts"] for one in sent)

    def ours(**filters):
        """What was sent above, found among all."""
        found = [verify.verify_and_decode_notification(one.signedPayload) for one in pages(**filters)]
        return [one for one in found if one.notificationType == NotificationTypeV2.EXPIRED and about(one) == bought]

    def about(notification):
        return verify.verify_and_decode_signed_transaction(notification.data.signedTransactionInfo).transactionId

    # The history has only what the App Store has already tried to send.
    checks.eventually(attempted, "first attempts")
    kinds = {"notificationType": NotificationTypeV2.EXPIRED, "notificationSubtype": Subtype.VOLUNTARY}
    for what, filters in [("type", kinds), ("transaction", {"transactionId": bought})]:
        found = ours(**filters)
        checks.equal(len({one.notificationUUID for one in found}), 25, f"history by {what}")
    failed = pages(onlyFailures=True)
    checks.equal(
        {one.sendAttempts[0].sendAttemptResult for one in failed},
        {SendAttemptResult.UNSUCCESSFUL_HTTP_RESPONSE_CODE},
        "history of failures",
    )
    for filters, error in [
        ({"startDate": None}, APIError.INVALID_START_DATE),
        ({"endDate": None}, APIError.INVALID_END_DATE),
        ({"endDate": start}, APIError.START_DATE_AFTER_END_DATE),
        ({"startDate": start - 200 * 86_400_000}, APIError.START_DATE_TOO_FAR_IN_PAST),
        ({"notificationSubtype": Subtype.VOLUNTARY}, APIError.INVALID_NOTIFICATION_TYPE),
        ({**kinds, "transactionId": bought}, APIError.MULTIPLE_FILTERS_SUPPLIED),
        ({"token": "no-token"}, APIError.INVALID_PAGINATION_TOKEN),
    ]:
        checks.refused(lambda: ask(**filters), error, f"history of notifications with {filters}")
