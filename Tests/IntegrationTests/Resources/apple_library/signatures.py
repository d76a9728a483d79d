"""Every way to tamper with what is signed, which Apple's verifier must notice."""

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import VerificationException

TAMPERINGS = [
    "expiredCertificate",
    "foreignRoot",
    "missingLeafExtension",
    "missingIntermediateExtension",
    "wrongSignature",
    "wrongBundleId",
    "wrongEnvironment",
]


def check(stage, environment):
    """What passes through unread must arrive as it was, good or bad."""
    app = stage.app
    apple = app.production if environment == Environment.PRODUCTION else app.sandbox
    verify = app.verifier(environment)
    bought = stage.buy(stage.account(environment), "coins.0", "Consumable")["transactionId"]
    for effect in TAMPERINGS:
        stage.simulator.call("POST", "/faults", {"effect": effect, "count": 1, "bundleId": app.bundle_id})
        signed = apple.get_transaction_info(bought).signedTransactionInfo
        try:
            verify.verify_and_decode_signed_transaction(signed)
        except VerificationException:
            stage.checks.check(True, effect)
        else:
            stage.checks.check(False, f"accepted {effect}")
    signed = apple.get_transaction_info(bought).signedTransactionInfo
    stage.checks.equal(verify.verify_and_decode_signed_transaction(signed).transactionId, bought, "after tampering")
