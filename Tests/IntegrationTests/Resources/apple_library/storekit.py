"""What the daemon signs for callers: an app's requests to StoreKit, and tokens for Apple, against what Apple's own creators make with the same key."""

import base64
import json
import time
import uuid

import jwt
from appstoreserverlibrary.api_client import AppStoreServerAPIClient
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator,
    IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeCreateRequest import (
    AdvancedCommerceOneTimeChargeCreateRequest,
)
from appstoreserverlibrary.models.AdvancedCommerceOneTimeChargeItem import AdvancedCommerceOneTimeChargeItem
from appstoreserverlibrary.models.AdvancedCommerceRequestInfo import AdvancedCommerceRequestInfo
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

# The most seconds that may lie between the two signatures of one request.
APART = 600


def check(stage):
    """Every kind of signature."""
    credential = stage.setting.own_credential
    public_key = load_pem_private_key(credential.private_key, None).public_key()
    identity = (credential.private_key, credential.key_id, credential.issuer_id, stage.app.bundle_id)
    promotional, introductory, commerce = (
        creator(*identity)
        for creator in (
            PromotionalOfferV2SignatureCreator,
            IntroductoryOfferEligibilitySignatureCreator,
            AdvancedCommerceAPIInAppSignatureCreator,
        )
    )
    charge = AdvancedCommerceOneTimeChargeCreateRequest(
        requestInfo=AdvancedCommerceRequestInfo(requestReferenceId=uuid.uuid4()),
        currency="USD",
        item=AdvancedCommerceOneTimeChargeItem(description="A chest", displayName="Chest", SKU="chest-7", price=990),
        taxCode="C003-00-2",
    )
    theirs = commerce.create_signature(charge)
    request = base64.b64decode(jwt.decode(theirs, options={"verify_signature": False})["request"])
    for kind, body, expected in [
        (
            "promotionalOffer",
            {"productId": "gold", "offerIdentifier": "winback", "transactionId": "7"},
            promotional.create_signature("gold", "winback", "7"),
        ),
        (
            "promotionalOffer",
            {"productId": "gold", "offerIdentifier": "winback"},
            promotional.create_signature("gold", "winback", None),
        ),
        (
            "introductoryOffer",
            {"productId": "gold", "allowIntroductoryOffer": False, "transactionId": "7"},
            introductory.create_signature("gold", False, "7"),
        ),
        ("advancedCommerce", json.loads(request), theirs),
    ]:
        ours = _ask(stage, kind, body)
        _compare(stage.checks, kind, ours, expected, public_key)
    _check_original(stage, credential, public_key)
    _check_token(stage, identity, public_key)


def _ask(stage, kind, body):
    return stage.setting.ask(f"/v1/apps/{stage.app.slug}/signatures/{kind}", json.dumps(body).encode())


def _compare(checks, kind, answer, expected, public_key):
    """Header and claims are those of Apple's library, but for the moment and the nonce."""
    decode = {"key": public_key, "algorithms": ["ES256"], "options": {"verify_aud": False}}
    ours, theirs = (jwt.decode(token, **decode) for token in (answer["signature"], expected))
    checks.equal(
        jwt.get_unverified_header(answer["signature"]), jwt.get_unverified_header(expected), f"header of {kind}"
    )
    checks.check(abs(ours.pop("iat") - theirs.pop("iat")) <= APART, f"time of {kind}")
    nonces = [claims.pop("nonce") for claims in (ours, theirs)]
    checks.check(nonces[0] == answer["nonce"] == str(uuid.UUID(nonces[0])) != nonces[1], f"nonce of {kind}")
    checks.equal(ours, theirs, f"claims of {kind}")


class _Recorder:
    """Stands for the key of Apple's creator, and keeps what it is to sign and how."""

    def sign(self, *arguments):
        """Signs nothing."""
        self.arguments = arguments
        return b""


def _check_original(stage, credential, public_key):
    """The older form is over the text that Apple's library puts together."""
    for field, name in [("appAccountToken", str(uuid.uuid4()).upper()), ("applicationUsername", "SHA1-Ab"), (None, "")]:
        named = {field: name} if field else {}
        answer = _ask(stage, "promotionalOfferV1", {"productId": "gold", "offerIdentifier": "winback", **named})
        creator = PromotionalOfferSignatureCreator(credential.private_key, credential.key_id, stage.app.bundle_id)
        recorder = creator._signing_key = _Recorder()
        creator.create_signature("gold", "winback", name, uuid.UUID(answer["nonce"]), answer["timestamp"])
        signature = base64.b64decode(answer["encodedSignature"], validate=True)
        try:
            public_key.verify(signature, *recorder.arguments)
        except InvalidSignature:
            stage.checks.check(False, f"older form with {field}")
        else:
            stage.checks.check(True, f"older form with {field}")
        stage.checks.equal(answer["keyId"], credential.key_id, "key of the older form")


def _check_token(stage, identity, public_key):
    """A token that a caller is given says what the token of Apple's own client says."""
    answer = stage.setting.ask(f"/v1/apps/{stage.app.slug}/tokens", b"")
    theirs = AppStoreServerAPIClient(*identity, Environment.SANDBOX)._generate_token()
    decode = {"key": public_key, "algorithms": ["ES256"], "audience": "appstoreconnect-v1"}
    ours, expected = (jwt.decode(token, **decode) for token in (answer["token"], theirs))
    stage.checks.equal(
        jwt.get_unverified_header(answer["token"]), jwt.get_unverified_header(theirs), "header of a token"
    )
    # Apple's page asks for `iat`, which its Python library leaves out.
    issued, expires = ours.pop("iat"), ours.pop("exp")
    stage.checks.check(issued <= time.time() < expires <= issued + 3600, "times of a token")
    expected.pop("exp")
    stage.checks.equal(ours, expected, "claims of a token")
    stage.checks.equal(answer["keyId"], identity[1], "key of a token")
