"""Every error that Apple's library knows, as the App Store gives it."""

from appstoreserverlibrary.api_client import APIError, APIException
from appstoreserverlibrary.models.Environment import Environment

# Said of too many calls: `access` has its own checks of that.
ELSEWHERE = {APIError.RATE_LIMIT_EXCEEDED}


def check(stage):
    """Gives each error once and looks at what the library makes of it."""
    checks, apple = stage.checks, stage.app.sandbox
    bought = stage.buy(stage.account(Environment.SANDBOX), "coins.0", "Consumable")["transactionId"]
    for error in APIError:
        if error in ELSEWHERE:
            continue
        fault = stage.simulator.call(
            "POST",
            "/faults",
            {
                "effect": "status",
                "status": error.value // 10_000,
                "errorCode": error.value,
                "errorMessage": f"This is {error.name}.",
                "endpoint": "Get Transaction Info",
                "bundleId": stage.app.bundle_id,
            },
        )
        exception = checks.refused(lambda: apple.get_transaction_info(bought), error, error.name)
        if isinstance(exception, APIException):
            checks.equal(exception.error_message, f"This is {error.name}.", f"message of {error.name}")
        stage.simulator.call("DELETE", f"/faults/{fault['id']}")
    checks.check(apple.get_transaction_info(bought).signedTransactionInfo, "answer after all errors")
