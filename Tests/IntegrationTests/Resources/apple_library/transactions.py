"""Purchases: one, all, refunded ones, those of an order; the app's own; tokens and finishing."""

from appstoreserverlibrary.api_client import APIError, GetTransactionHistoryVersion
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.InAppOwnershipType import InAppOwnershipType
from appstoreserverlibrary.models.OrderLookupStatus import OrderLookupStatus
from appstoreserverlibrary.models.RevocationType import RevocationType
from appstoreserverlibrary.models.TransactionHistoryRequest import Order, ProductType, TransactionHistoryRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest

TOKEN = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"


def check(stage, environment):
    """Every call about transactions, in one environment."""
    app = stage.app
    apple = app.production if environment == Environment.PRODUCTION else app.sandbox
    account = stage.account(environment)
    for index in range(44):
        last = stage.buy(account, f"coins.{index % 2}", "Consumable")
        if index < 23:
            refund = {"reason": 1, "percentage": 50000}
            stage.simulator.call("POST", f"/transactions/{last['transactionId']}/refund", refund)
    subscription = stage.buy(account, "gold", "Auto-Renewable Subscription")
    stage.simulator.call("POST", f"/transactions/{subscription['transactionId']}/renewals", {})

    for group in [_check_info, _check_history, _check_refunds, _check_app_transaction, _check_token, _check_finish]:
        stage.checks.section(group.__name__, group, stage, apple, last)
    other = app.sandbox if environment == Environment.PRODUCTION else app.production
    stage.checks.refused(
        lambda: other.get_transaction_info(last["transactionId"]),
        APIError.TRANSACTION_ID_NOT_FOUND,
        "transaction of the other environment",
    )


def _check_info(stage, apple, last):
    checks, verify = stage.checks, stage.app.verifier(apple.environment)
    transaction_id = last["transactionId"]
    info = apple.get_transaction_info(transaction_id)
    decoded = verify.verify_and_decode_signed_transaction(info.signedTransactionInfo)
    checks.equal(decoded.transactionId, transaction_id, "transaction id")
    checks.equal(decoded.environment, apple.environment, "environment")
    checks.equal(decoded.appTransactionId, last["appTransactionId"], "app transaction id")
    checks.equal(decoded.bundleId, stage.app.bundle_id, "bundle id")
    checks.equal(apple.answer.headers["content-type"], "application/json", "type of the body")
    many = apple.together("get_transaction_info", [[transaction_id]] * 20)
    for one in many:
        decoded = verify.verify_and_decode_signed_transaction(one.signedTransactionInfo)
        checks.equal(decoded.transactionId, transaction_id, "one of many calls at once")
    for identifier, error in [
        ("1", APIError.TRANSACTION_ID_NOT_FOUND),
        ("x", APIError.INVALID_TRANSACTION_ID),
        (last["appTransactionId"], APIError.APP_TRANSACTION_ID_NOT_SUPPORTED_ERROR),
    ]:
        checks.refused(lambda: apple.get_transaction_info(identifier), error, f"transaction {identifier}")


def _pages(stage, apple, call, what):
    """Reads a list to its end; the decoded transactions and the last revision."""
    checks, verify = stage.checks, stage.app.verifier(apple.environment)
    found, revision = [], None
    while True:
        page = call(revision)
        checks.check(len(page.signedTransactions) <= 20, f"{what}: size of a page")
        found += [verify.verify_and_decode_signed_transaction(signed) for signed in page.signedTransactions]
        revision = page.revision
        if not page.hasMore:
            return found, revision


def _check_history(stage, apple, last):
    checks = stage.checks
    transaction_id = last["transactionId"]

    def history(identifier=transaction_id, version=GetTransactionHistoryVersion.V2, **filters):
        request = TransactionHistoryRequest(**filters)

        def call(revision):
            page = apple.get_transaction_history(identifier, revision, request, version)
            checks.equal((page.bundleId, page.environment), (stage.app.bundle_id, apple.environment), "head of a page")
            return page

        return _pages(stage, apple, call, "history")[0]

    for what, found, count in [
        ("whole", history(), 46),
        ("by app transaction id", history(last["appTransactionId"]), 46),
        ("of version 1", history(version=GetTransactionHistoryVersion.V1), 46),
        ("revoked", history(revoked=True), 23),
        ("not revoked", history(revoked=False), 23),
        ("of two products", history(productIds=["coins.0", "gold"]), 24),
        ("of one type", history(productTypes=[ProductType.CONSUMABLE]), 44),
        ("of two types", history(productTypes=[ProductType.CONSUMABLE, ProductType.AUTO_RENEWABLE]), 46),
        ("bought", history(inAppOwnershipType=InAppOwnershipType.PURCHASED), 46),
        ("shared", history(inAppOwnershipType=InAppOwnershipType.FAMILY_SHARED), 0),
        ("of no group", history(subscriptionGroupIdentifiers=["none"]), 0),
        ("up to a date", history(endDate=1_000_000), 0),
        ("from a date", history(startDate=last["purchaseDate"] + 8_640_000_000), 0),
    ]:
        checks.equal(len(found), count, f"history {what}")
    renewed = history(productTypes=[ProductType.AUTO_RENEWABLE], sort=Order.DESCENDING)
    checks.equal([one.transactionReason.value for one in renewed], ["RENEWAL", "PURCHASE"], "descending history")
    checks.refused(
        lambda: history(startDate=2, endDate=1), APIError.START_DATE_AFTER_END_DATE, "history from end to start"
    )
    checks.refused(
        lambda: apple.get_transaction_history(
            transaction_id, "no revision", TransactionHistoryRequest(), GetTransactionHistoryVersion.V2
        ),
        APIError.INVALID_REQUEST_REVISION,
        "malformed revision",
    )


def _check_refunds(stage, apple, last):
    checks, transaction_id = stage.checks, last["transactionId"]
    refunds, revision = _pages(
        stage, apple, lambda revision: apple.get_refund_history(transaction_id, revision), "refunds"
    )
    checks.equal(len(refunds), 23, "refunds")
    checks.check(all(one.revocationType == RevocationType.REFUND_PRORATED for one in refunds), "kind of refund")
    checks.check(all(one.revocationPercentage == 50000 for one in refunds), "share of refund")
    checks.equal(apple.get_refund_history(transaction_id, revision).signedTransactions, [], "what follows all refunds")
    checks.refused(lambda: apple.get_refund_history("1", None), APIError.TRANSACTION_ID_NOT_FOUND, "unknown customer")


def _check_app_transaction(stage, apple, last):
    checks, verify = stage.checks, stage.app.verifier(apple.environment)
    for identifier in [last["transactionId"], last["appTransactionId"]]:
        info = apple.get_app_transaction_info(identifier)
        decoded = verify.verify_and_decode_app_transaction(info.signedAppTransactionInfo)
        checks.equal(decoded.appTransactionId, last["appTransactionId"], "app transaction id of an app transaction")
        checks.equal(decoded.receiptType, apple.environment, "environment of an app transaction")
    checks.refused(
        lambda: apple.get_app_transaction_info("1"), APIError.TRANSACTION_ID_NOT_FOUND, "unknown app transaction"
    )


def _check_token(stage, apple, _last):
    checks, verify = stage.checks, stage.app.verifier(apple.environment)
    pearl = stage.buy(stage.account(apple.environment), "pearl", "Auto-Renewable Subscription")
    original = pearl["originalTransactionId"]
    apple.set_app_account_token(original, UpdateAppAccountTokenRequest(appAccountToken=TOKEN))
    checks.equal(apple.answer.status_code // 100, 2, "status of a token that is set")
    renewal = stage.simulator.call("POST", f"/transactions/{original}/renewals", {})
    signed = apple.get_transaction_info(renewal["transactionId"]).signedTransactionInfo
    decoded = verify.verify_and_decode_signed_transaction(signed)
    checks.equal(decoded.appAccountToken, TOKEN, "token of a renewal")
    for identifier, token, error in [
        (original, "no-uuid", APIError.INVALID_APP_ACCOUNT_TOKEN_UUID_ERROR),
        (renewal["transactionId"], TOKEN, APIError.TRANSACTION_ID_IS_NOT_ORIGINAL_TRANSACTION_ID_ERROR),
        ("1", TOKEN, APIError.ORIGINAL_TRANSACTION_ID_NOT_FOUND),
    ]:
        checks.refused(
            lambda: apple.set_app_account_token(identifier, UpdateAppAccountTokenRequest(appAccountToken=token)),
            error,
            f"token {token} for {identifier}",
        )


def _check_finish(stage, apple, _last):
    bought = stage.buy(stage.account(apple.environment), "coins.1", "Consumable")
    for _ in range(2):
        apple.finish_transaction(bought["transactionId"])
        stage.checks.equal(apple.answer.status_code // 100, 2, "status of a finished transaction")
    stage.checks.refused(
        lambda: apple.finish_transaction("1"), APIError.TRANSACTION_ID_NOT_FOUND, "finishing an unknown transaction"
    )


def check_orders(stage):
    """Look Up Order ID, which only production has."""
    checks, app = stage.checks, stage.app
    bought = stage.buy(stage.account(Environment.PRODUCTION), "coins.0", "Consumable")
    order = stage.simulator.call("GET", f"/transactions/{bought['transactionId']}/order")["orderId"]
    found = app.production.look_up_order_id(order)
    checks.equal(found.status, OrderLookupStatus.VALID, "status of an order")
    verify = app.verifier(Environment.PRODUCTION)
    decoded = [verify.verify_and_decode_signed_transaction(one).transactionId for one in found.signedTransactions]
    checks.equal(decoded, [bought["transactionId"]], "transactions of an order")
    checks.equal(app.production.look_up_order_id("MUNKNOWN00").status, OrderLookupStatus.INVALID, "unknown order")
    checks.refused_with_status(lambda: app.sandbox.look_up_order_id(order), 404, "order in the sandbox")
