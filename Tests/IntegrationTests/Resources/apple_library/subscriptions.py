"""Subscriptions: how they stand, and renewal dates that are put off, one by one and for all."""

import uuid

from appstoreserverlibrary.api_client import APIError
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.ExtendReasonCode import ExtendReasonCode
from appstoreserverlibrary.models.ExtendRenewalDateRequest import ExtendRenewalDateRequest
from appstoreserverlibrary.models.MassExtendRenewalDateRequest import MassExtendRenewalDateRequest
from appstoreserverlibrary.models.NotificationTypeV2 import NotificationTypeV2
from appstoreserverlibrary.models.Status import Status
from appstoreserverlibrary.models.Subtype import Subtype

import notifications

DAY = 86_400_000


def check(stage, environment):
    """Every call about subscriptions, in one environment."""
    apple = stage.app.production if environment == Environment.PRODUCTION else stage.app.sandbox
    for group in [_check_statuses, _check_extension, _check_mass_extension]:
        stage.checks.section(group.__name__, group, stage, apple)


def _subscribe(stage, apple, product, periods=2, **more):
    """Buys a subscription and renews it; its latest transaction."""
    account = stage.account(apple.environment)
    last = stage.buy(account, product, "Auto-Renewable Subscription", price=9990, currency="EUR", **more)
    for _ in range(periods - 1):
        last = stage.simulator.call("POST", f"/transactions/{last['transactionId']}/renewals", {})
    return last


def _check_statuses(stage, apple):
    checks, verify = stage.checks, stage.app.verifier(apple.environment)
    account = stage.account(apple.environment)
    kind = "Auto-Renewable Subscription"
    one = stage.buy(account, "gold", kind, subscriptionGroupIdentifier="first")
    two = stage.buy(account, "silver", kind, subscriptionGroupIdentifier="second")
    stage.simulator.call("POST", f"/transactions/{two['transactionId']}/expiry", {})

    def statuses(*arguments):
        answer = apple.get_all_subscription_statuses(*arguments)
        checks.equal((answer.bundleId, answer.environment), (stage.app.bundle_id, apple.environment), "whose statuses")
        return {item.originalTransactionId: item for group in answer.data for item in group.lastTransactions}

    for identifier in [one["transactionId"], two["originalTransactionId"], one["appTransactionId"]]:
        found = statuses(identifier)
        checks.equal(
            {key: item.status for key, item in found.items()},
            {one["originalTransactionId"]: Status.ACTIVE, two["originalTransactionId"]: Status.EXPIRED},
            "statuses",
        )
    item = found[one["originalTransactionId"]]
    renewal = verify.verify_and_decode_renewal_info(item.signedRenewalInfo)
    checks.equal(renewal.originalTransactionId, one["originalTransactionId"], "renewal info")
    checks.equal(renewal.autoRenewProductId, "gold", "product of the next period")
    transaction = verify.verify_and_decode_signed_transaction(item.signedTransactionInfo)
    checks.equal(transaction.transactionId, one["transactionId"], "latest transaction of a subscription")
    checks.equal(len(statuses(one["transactionId"], [Status.ACTIVE])), 1, "active subscriptions")
    checks.equal(len(statuses(one["transactionId"], [Status.ACTIVE, Status.EXPIRED])), 2, "of two statuses")
    checks.equal(len(statuses(one["transactionId"], [Status.REVOKED])), 0, "revoked subscriptions")
    checks.refused(
        lambda: apple.get_all_subscription_statuses("1"), APIError.TRANSACTION_ID_NOT_FOUND, "unknown subscriber"
    )


def _extension(days=10, identifier=None):
    return ExtendRenewalDateRequest(
        extendByDays=days,
        extendReasonCode=ExtendReasonCode.CUSTOMER_SATISFACTION,
        requestIdentifier=identifier or str(uuid.uuid4()),
    )


def _check_extension(stage, apple):
    checks = stage.checks
    last = _subscribe(stage, apple, "gold")
    original = last["originalTransactionId"]
    request = _extension()
    answer = apple.extend_subscription_renewal_date(original, request)
    checks.equal(answer.success, True, "success of an extension")
    checks.equal(answer.originalTransactionId, original, "subscription of an extension")
    checks.equal(answer.effectiveDate, last["expiresDate"] + 10 * DAY, "new end of the period")
    again = apple.extend_subscription_renewal_date(original, request)
    checks.equal(again.effectiveDate, answer.effectiveDate, "extension with the same identifier")
    apple.extend_subscription_renewal_date(original, _extension())
    checks.refused(
        lambda: apple.extend_subscription_renewal_date(original, _extension()),
        APIError.SUBSCRIPTION_MAX_EXTENSION,
        "third extension",
    )
    expired = _subscribe(stage, apple, "gold")["originalTransactionId"]
    stage.simulator.call("POST", f"/transactions/{expired}/expiry", {})
    fresh = _subscribe(stage, apple, "gold")["originalTransactionId"]
    for identifier, wrong, error in [
        (expired, _extension(), APIError.SUBSCRIPTION_EXTENSION_INELIGIBLE),
        (fresh, _extension(days=91), APIError.INVALID_EXTEND_BY_DAYS),
        (fresh, _extension(days=0), APIError.INVALID_EXTEND_BY_DAYS),
        (fresh, _extension(identifier="x" * 129), APIError.INVALID_REQUEST_IDENTIFIER),
        ("1", _extension(), APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND),
    ]:
        checks.refused(
            lambda: apple.extend_subscription_renewal_date(identifier, wrong), error, f"extension of {identifier}"
        )


def _check_mass_extension(stage, apple):
    checks, app = stage.checks, stage.app
    verify = app.verifier(apple.environment)
    where = notifications.path(app, apple.environment)
    wanted = [_subscribe(stage, apple, "bulk", storefront="DEU") for _ in range(3)]
    _subscribe(stage, apple, "bulk", storefront="USA")
    identifier = str(uuid.uuid4())

    def request(**changes):
        return MassExtendRenewalDateRequest(
            **{
                "extendByDays": 5,
                "extendReasonCode": ExtendReasonCode.SERVICE_ISSUE_OR_OUTAGE,
                "requestIdentifier": identifier,
                "storefrontCountryCodes": ["DEU", "FRA"],
                "productId": "bulk",
                **changes,
            }
        )

    answer = apple.extend_renewal_date_for_all_active_subscribers(request())
    checks.equal(answer.requestIdentifier, identifier, "identifier of a mass extension")

    def complete():
        status = apple.get_status_of_subscription_renewal_date_extensions(identifier, "bulk")
        return status if status.complete else None

    status = checks.eventually(complete, "end of a mass extension")
    checks.equal((status.succeededCount, status.failedCount), (3, 0), "counts of a mass extension")
    extended = verify.verify_and_decode_signed_transaction(
        apple.get_transaction_info(wanted[0]["transactionId"]).signedTransactionInfo
    )
    checks.equal(extended.expiresDate, wanted[0]["expiresDate"] + 5 * DAY, "end of a period after a mass extension")

    def summary():
        found = [verify.verify_and_decode_notification(one["signedPayload"]) for one in stage.receiver.bodies(where)]
        kind = (NotificationTypeV2.RENEWAL_EXTENSION, Subtype.SUMMARY)
        return next((one.summary for one in found if (one.notificationType, one.subtype) == kind), None)

    found = checks.eventually(summary, "summary of a mass extension")
    checks.equal((found.requestIdentifier, found.succeededCount), (identifier, 3), "summary of a mass extension")
    for changes, error in [
        ({"extendByDays": 91}, APIError.INVALID_EXTEND_BY_DAYS),
        ({"requestIdentifier": "no-uuid"}, APIError.INVALID_REQUEST_IDENTIFIER),
        ({"storefrontCountryCodes": []}, APIError.INVALID_EMPTY_STOREFRONT_COUNTRY_CODE_LIST),
        ({"storefrontCountryCodes": ["XXX"]}, APIError.INVALID_STOREFRONT_COUNTRY_CODE),
        ({"productId": ""}, APIError.INVALID_PRODUCT_ID),
    ]:
        checks.refused(
            lambda: apple.extend_renewal_date_for_all_active_subscribers(request(**changes)),
            error,
            f"mass extension with {changes}",
        )
    checks.refused(
        lambda: apple.get_status_of_subscription_renewal_date_extensions(str(uuid.uuid4()), "bulk"),
        APIError.STATUS_REQUEST_NOT_FOUND,
        "status of an unknown mass extension",
    )
