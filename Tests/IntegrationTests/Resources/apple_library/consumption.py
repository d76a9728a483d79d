"""Consumption information, of both versions."""

from appstoreserverlibrary.api_client import APIError
from appstoreserverlibrary.models.AccountTenure import AccountTenure
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.ConsumptionRequestV1 import ConsumptionRequestV1
from appstoreserverlibrary.models.ConsumptionStatus import ConsumptionStatus
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.DeliveryStatusV1 import DeliveryStatusV1
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.LifetimeDollarsPurchased import LifetimeDollarsPurchased
from appstoreserverlibrary.models.LifetimeDollarsRefunded import LifetimeDollarsRefunded
from appstoreserverlibrary.models.Platform import Platform
from appstoreserverlibrary.models.PlayTime import PlayTime
from appstoreserverlibrary.models.RefundPreference import RefundPreference
from appstoreserverlibrary.models.RefundPreferenceV1 import RefundPreferenceV1
from appstoreserverlibrary.models.UserStatus import UserStatus


def check(stage, environment):
    """Both versions, what they refuse, and what reaches the App Store."""
    checks, app = stage.checks, stage.app
    apple = app.production if environment == Environment.PRODUCTION else app.sandbox
    account = stage.account(environment)
    bought = stage.buy(account, "coins.0", "Consumable")["transactionId"]
    advanced = stage.buy(account, "generic", "Consumable", advancedCommerceInfo={"items": []})["transactionId"]

    apple.send_consumption_information(bought, _report())
    checks.equal(apple.answer.status_code, 202, "status of consumption")
    received = stage.simulator.received(app, "Send Consumption Information")
    checks.equal(received["status"], 202, "status as the App Store gave it")
    checks.equal(
        received["body"],
        {
            "customerConsented": True,
            "deliveryStatus": "DELIVERED",
            "sampleContentProvided": False,
            "consumptionPercentage": 67932,
            "refundPreference": "GRANT_PRORATED",
        },
        "consumption as it came in",
    )
    subscribed = stage.buy(account, "gold", "Auto-Renewable Subscription", subscriptionGroupIdentifier="first")
    consumable = stage.buy(account, "coins.1", "Consumable")["transactionId"]
    for identifier in [consumable, subscribed["transactionId"], advanced]:
        apple.send_consumption_data(identifier, _report_of_version_1())
        checks.equal(apple.answer.status_code, 202, "status of consumption of version 1")
        received = stage.simulator.received(app, "Send Consumption Information V1")
        checks.equal(received["status"], 202, "status of version 1 as the App Store gave it")
        checks.equal(received["path"].rsplit("/", 1)[-1], identifier, "transaction of version 1 as it came in")
        checks.equal(
            received["body"],
            {
                "accountTenure": 4,
                "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
                "consumptionStatus": 2,
                "customerConsented": True,
                "deliveryStatus": 0,
                "lifetimeDollarsPurchased": 2,
                "lifetimeDollarsRefunded": 1,
                "platform": 1,
                "playTime": 5,
                "refundPreference": 2,
                "sampleContentProvided": False,
                "userStatus": 1,
            },
            "consumption of version 1 as it came in",
        )

    for change, error in [
        ({"customerConsented": False}, APIError.INVALID_CUSTOMER_CONSENTED),
        ({"rawDeliveryStatus": "LOST", "deliveryStatus": None}, APIError.INVALID_DELIVERY_STATUS),
        ({"sampleContentProvided": None}, APIError.INVALID_SAMPLE_CONTENT_PROVIDED),
    ]:
        checks.refused(
            lambda: apple.send_consumption_information(bought, _report(**change)), error, f"consumption with {change}"
        )
    for change, error in [
        ({"customerConsented": False}, APIError.INVALID_CUSTOMER_CONSENTED),
        ({"customerConsented": None}, APIError.INVALID_CUSTOMER_CONSENTED),
        ({"accountTenure": None, "rawAccountTenure": 8}, APIError.INVALID_ACCOUNT_TENURE),
        ({"appAccountToken": "nobody"}, APIError.INVALID_APP_ACCOUNT_TOKEN),
        ({"deliveryStatus": None, "rawDeliveryStatus": 6}, APIError.INVALID_DELIVERY_STATUS),
        ({"playTime": None}, APIError.INVALID_PLAY_TIME),
    ]:
        checks.refused(
            lambda: apple.send_consumption_data(consumable, _report_of_version_1(**change)),
            error,
            f"consumption of version 1 with {change}",
        )
    checks.refused(
        lambda: apple.send_consumption_information("1", _report()),
        APIError.TRANSACTION_ID_NOT_FOUND,
        "consumption of an unknown transaction",
    )


def _report(**changes):
    return ConsumptionRequest(
        **{
            "customerConsented": True,
            "deliveryStatus": DeliveryStatus.DELIVERED,
            "sampleContentProvided": False,
            "consumptionPercentage": 67932,
            "refundPreference": RefundPreference.GRANT_PRORATED,
            **changes,
        }
    )


def _report_of_version_1(**changes):
    return ConsumptionRequestV1(
        **{
            "customerConsented": True,
            "consumptionStatus": ConsumptionStatus.PARTIALLY_CONSUMED,
            "platform": Platform.APPLE,
            "sampleContentProvided": False,
            "deliveryStatus": DeliveryStatusV1.DELIVERED_AND_WORKING_PROPERLY,
            "appAccountToken": "7e3fb20b-4cdb-47cc-936d-99d65f608138",
            "accountTenure": AccountTenure.THIRTY_DAYS_TO_NINETY_DAYS,
            "playTime": PlayTime.ONE_DAY_TO_FOUR_DAYS,
            "lifetimeDollarsRefunded": LifetimeDollarsRefunded.ZERO_DOLLARS,
            "lifetimeDollarsPurchased": LifetimeDollarsPurchased.ONE_CENT_TO_FORTY_NINE_DOLLARS_AND_NINETY_NINE_CENTS,
            "userStatus": UserStatus.ACTIVE,
            "refundPreference": RefundPreferenceV1.PREFER_DECLINE,
            **changes,
        }
    )
