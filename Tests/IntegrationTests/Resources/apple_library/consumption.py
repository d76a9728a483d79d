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
    apple.send_consumption_data(advanced, _report_of_version_1())
    received = stage.simulator.received(app, "Send Consumption Information V1")
    checks.equal(received["body"]["consumptionStatus"], 2, "consumption of version 1 as it came in")

    for change, error in [
        ({"customerConsented": False}, APIError.INVALID_CUSTOMER_CONSENTED),
        ({"rawDeliveryStatus": "LOST", "deliveryStatus": None}, APIError.INVALID_DELIVERY_STATUS),
        ({"sampleContentProvided": None}, APIError.INVALID_SAMPLE_CONTENT_PROVIDED),
    ]:
        checks.refused(
            lambda: apple.send_consumption_information(bought, _report(**change)), error, f"consumption with {change}"
        )
    checks.refused(
        lambda: apple.send_consumption_data(advanced, _report_of_version_1(customerConsented=False)),
        APIError.INVALID_CUSTOMER_CONSENTED,
        "consumption of version 1 without consent",
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


def _report_of_version_1(customerConsented=True):  # pylint: disable=invalid-name
    return ConsumptionRequestV1(
        customerConsented=customerConsented,
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
    )
