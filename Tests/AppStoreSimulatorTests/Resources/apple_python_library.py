"""Holds a running appstore-simulator against Apple's own server library for Python.

Usage: apple_python_library.py READY_FILE

READY_FILE is what `appstore-simulator --state DIR --ready-file READY_FILE` writes. Needs the package app-store-server-library.
Leaves nothing behind: the simulator is reset at the end.
"""

import json
import os
import sys
import urllib.request

with open(sys.argv[1], encoding="utf-8") as ready_file:
    READY = json.load(ready_file)
# The library leaves TLS to `requests`, which trusts what this variable names.
os.environ["REQUESTS_CA_BUNDLE"] = READY["tlsCAPEM"]

from appstoreserverlibrary.api_client import (  # noqa: E402
    APIError,
    APIException,
    AppStoreServerAPIClient,
    GetTransactionHistoryVersion,
)
from appstoreserverlibrary.models.AccountTenure import AccountTenure  # noqa: E402
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest  # noqa: E402
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1  # noqa: E402
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus  # noqa: E402
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus  # noqa: E402
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1  # noqa: E402
from appstoreserverlibrary.models.Environment import Environment  # noqa: E402
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased  # noqa: E402
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded  # noqa: E402
from appstoreserverlibrary.models.Platform import Platform  # noqa: E402
from appstoreserverlibrary.models.PlayTime import PlayTime  # noqa: E402
from appstoreserverlibrary.models.RefundPreference import RefundPreference  # noqa: E402
from appstoreserverlibrary.models.RefundPreferenceV1 import RefundPreferenceV1  # noqa: E402
from appstoreserverlibrary.models.RevocationType import RevocationType  # noqa: E402
from appstoreserverlibrary.models.TransactionHistoryRequest import (  # noqa: E402
    Order,
    ProductType,
    TransactionHistoryRequest,
)
from appstoreserverlibrary.models.UserStatus import UserStatus  # noqa: E402
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException  # noqa: E402

BUNDLE_ID = "com.example.coins"
APP_APPLE_ID = 1234567890
CHECKS = 0


def check(condition, what):
    """Counts a check, or ends the run."""
    global CHECKS
    if not condition:
        sys.exit(f"FAILED: {what}")
    CHECKS += 1


def control(method, path, body=None):
    """Calls the control port."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(READY["control"] + path, data=data, method=method)
    with urllib.request.urlopen(request) as response:
        content = response.read()
    return json.loads(content) if content else None


def refused_with(call, error, what):
    """Checks that a call fails with one of Apple's errors."""
    try:
        call()
    except APIException as exception:
        check(exception.api_error == error, f"{what}: {exception.raw_api_error} instead of {error}")
        return exception
    sys.exit(f"FAILED: {what}: no error")


def verifier(environment):
    """Trusts the simulator's root in place of Apple's, offline."""
    with open(READY["rootDER"], "rb") as root:
        return SignedDataVerifier([root.read()], False, environment, BUNDLE_ID, APP_APPLE_ID)


def client(environment, key, key_id):
    """Apple's client, pointed at the simulator."""
    made = AppStoreServerAPIClient(key.encode(), key_id, "team", BUNDLE_ID, environment)
    made._base_url = READY["production" if environment == Environment.PRODUCTION else "sandbox"]
    return made


def check_environment(environment, key, key_id):
    """Runs every call in one environment; returns a transaction id of it."""
    name = environment.value
    account = control("POST", "/accounts", {"environment": name})["id"]
    for index in range(44):
        last = control(
            "POST",
            f"/accounts/{account}/purchases",
            {"bundleId": BUNDLE_ID, "productId": f"coins.{index % 2}", "type": "Consumable"},
        )
        if index < 23:
            control("POST", f"/transactions/{last['transactionId']}/refund", {"reason": 1, "percentage": 50000})
    subscription = control(
        "POST",
        f"/accounts/{account}/purchases",
        {"bundleId": BUNDLE_ID, "productId": "gold", "type": "Auto-Renewable Subscription"},
    )
    control("POST", f"/transactions/{subscription['transactionId']}/renewals", {})
    advanced = control(
        "POST",
        f"/accounts/{account}/purchases",
        {"bundleId": BUNDLE_ID, "productId": "generic", "type": "Consumable", "advancedCommerceInfo": {"items": []}},
    )
    apple, verify = client(environment, key, key_id), verifier(environment)
    transaction_id = last["transactionId"]

    info = apple.get_transaction_info(transaction_id)
    decoded = verify.verify_and_decode_signed_transaction(info.signedTransactionInfo)
    check(decoded.transactionId == transaction_id, "transaction info")
    check(decoded.environment == environment, "environment")
    check(decoded.appTransactionId == last["appTransactionId"], "app transaction id")

    def history(request, identifier=transaction_id):
        found, revision = [], None
        while True:
            page = apple.get_transaction_history(identifier, revision, request, GetTransactionHistoryVersion.V2)
            check(len(page.signedTransactions) <= 20, "size of a page")
            check(page.bundleId == BUNDLE_ID and page.environment == environment, "head of a page")
            found += [verify.verify_and_decode_signed_transaction(signed) for signed in page.signedTransactions]
            revision = page.revision
            if not page.hasMore:
                return found

    check(len(history(TransactionHistoryRequest())) == 47, "whole history")
    check(len(history(TransactionHistoryRequest(), last["appTransactionId"])) == 47, "history by app transaction id")
    check(len(history(TransactionHistoryRequest(revoked=True))) == 23, "revoked history")
    check(len(history(TransactionHistoryRequest(revoked=False))) == 24, "history that is not revoked")
    check(len(history(TransactionHistoryRequest(productIds=["coins.0", "gold"]))) == 24, "history of two products")
    renewed = history(TransactionHistoryRequest(productTypes=[ProductType.AUTO_RENEWABLE], sort=Order.DESCENDING))
    check([one.transactionReason.value for one in renewed] == ["RENEWAL", "PURCHASE"], "descending subscriptions")

    refunds, revision = [], None
    while True:
        page = apple.get_refund_history(transaction_id, revision)
        refunds += [verify.verify_and_decode_signed_transaction(signed) for signed in page.signedTransactions]
        revision = page.revision
        if not page.hasMore:
            break
    check(len(refunds) == 23, "refund history")
    check(all(one.revocationType == RevocationType.REFUND_PRORATED for one in refunds), "kind of refund")
    check(apple.get_refund_history(transaction_id, revision).signedTransactions == [], "nothing after the last revision")

    report = ConsumptionRequest(
        customerConsented=True,
        deliveryStatus=DeliveryStatus.DELIVERED,
        sampleContentProvided=False,
        consumptionPercentage=67932,
        refundPreference=RefundPreference.GRANT_PRORATED,
    )
    apple.send_consumption_information(transaction_id, report)
    received = control("GET", "/received?endpoint=Send%20Consumption%20Information")["received"][-1]
    check(received["status"] == 202, "status of consumption")
    check(received["body"]["consumptionPercentage"] == 67932, "body of consumption")
    apple.send_consumption_data(
        advanced["transactionId"],
        ConsumptionRequestV1(
            customerConsented=True,
            consumptionStatus=ConsumptionStatus.PARTIALLY_CONSUMED,
            platform=Platform.APPLE,
            sampleContentProvided=False,
            deliveryStatus=DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY,
            appAccountToken="",
            accountTenure=AccountTenure.UNDECLARED,
            playTime=PlayTime.UNDECLARED,
            lifetimeDollarsRefunded=LifetimeDollarsRefunded.UNDECLARED,
            lifetimeDollarsPurchased=LifetimeDollarsPurchased.UNDECLARED,
            userStatus=UserStatus.ACTIVE,
            refundPreference=RefundPreferenceV1.UNDECLARED,
        ),
    )
    check(True, "consumption of version 1")

    report.customerConsented = False
    refused_with(
        lambda: apple.send_consumption_information(transaction_id, report),
        APIError.INVALID_CUSTOMER_CONSENTED,
        "consumption without consent",
    )
    refused_with(lambda: apple.get_transaction_info("1"), APIError.TRANSACTION_ID_NOT_FOUND, "unknown transaction")
    refused_with(lambda: apple.get_transaction_info("x"), APIError.INVALID_TRANSACTION_ID, "malformed transaction id")
    refused_with(
        lambda: apple.get_transaction_info(last["appTransactionId"]),
        APIError.APP_TRANSACTION_ID_NOT_SUPPORTED_ERROR,
        "app transaction id",
    )
    for effect in [
        "expiredCertificate",
        "foreignRoot",
        "missingLeafExtension",
        "missingIntermediateExtension",
        "wrongSignature",
        "wrongBundleId",
        "wrongEnvironment",
    ]:
        control("POST", "/faults", {"effect": effect, "count": 1})
        bad = apple.get_transaction_info(transaction_id).signedTransactionInfo
        try:
            verify.verify_and_decode_signed_transaction(bad)
        except VerificationException:
            check(True, effect)
        else:
            sys.exit(f"FAILED: accepted {effect}")
    return transaction_id


def main():
    control("POST", "/reset")
    key = control("POST", "/keys", {"issuerId": "team"})
    control("PUT", f"/apps/{BUNDLE_ID}", {"appAppleId": APP_APPLE_ID, "issuerId": "team"})
    production_id = check_environment(Environment.PRODUCTION, key["privateKey"], key["keyId"])
    check_environment(Environment.SANDBOX, key["privateKey"], key["keyId"])
    sandbox = client(Environment.SANDBOX, key["privateKey"], key["keyId"])
    refused_with(
        lambda: sandbox.get_transaction_info(production_id),
        APIError.TRANSACTION_ID_NOT_FOUND,
        "production transaction in the sandbox",
    )
    control("PUT", "/rate-limits", {"rateLimits": [{"limit": 0}]})
    refused_with(
        lambda: sandbox.get_transaction_info("1"), APIError.RATE_LIMIT_EXCEEDED, "call over the rate"
    )
    control("DELETE", f"/keys/{key['keyId']}")
    exception = refused_with(lambda: sandbox.get_transaction_info("1"), None, "revoked key")
    check(exception.http_status_code == 401, "status of a revoked key")
    control("POST", "/reset")
    print(f"Apple's Python library accepts the simulator: {CHECKS} checks.")


main()
