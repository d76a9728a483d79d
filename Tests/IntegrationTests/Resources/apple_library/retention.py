"""Retention Messaging: images, messages, what is shown by default, and the realtime URL with its test."""

import struct
import uuid
import zlib

from appstoreserverlibrary.api_client import APIError
from appstoreserverlibrary.models.BulletPoint import BulletPoint
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.HeaderPosition import HeaderPosition
from appstoreserverlibrary.models.ImageSize import ImageSize
from appstoreserverlibrary.models.ImageState import ImageState
from appstoreserverlibrary.models.MessageState import MessageState
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.PerformanceTestStatus import PerformanceTestStatus
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.UploadMessageImage import UploadMessageImage
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody

PRODUCT = "gold"
LOCALE = "en-US"


def check(stage, environment):
    """Every call of Retention Messaging, in one environment."""
    apple = stage.app.production if environment == Environment.PRODUCTION else stage.app.sandbox
    stage.checks.section("images and messages", _check_contents, stage, apple)
    group = _check_realtime if environment == Environment.SANDBOX else _check_realtime_before_a_test
    stage.checks.section(group.__name__, group, stage, apple)


def png(width, height, colour_type=2):
    """A picture in one colour; colour type 2 is opaque, 6 has transparency."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    row = b"\0" + b"\x40\x80\xc0\xff"[: 3 if colour_type == 2 else 4] * width
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row * height))
        + chunk(b"IEND", b"")
    )


def _review(stage, apple, kind, identifier, state):
    """Ends the review of an image or a message."""
    stage.simulator.call(
        "PUT",
        f"/apps/{apple.bundle_id}/{kind}s/{identifier}/review",
        {"environment": apple.environment.value, "state": state},
    )


def _check_contents(stage, apple):
    full, bullet = _check_images(stage, apple)
    _check_messages(stage, apple, full, bullet)


def _check_images(stage, apple):
    checks = stage.checks
    full, bullet = uuid.uuid4(), uuid.uuid4()
    apple.upload_image(full, png(3840, 160))
    checks.equal(apple.answer.status_code // 100, 2, "status of an image")
    apple.upload_image(bullet, png(96, 96), ImageSize.BULLET_POINT)
    listed = {one.imageIdentifier: one for one in apple.get_image_list().imageIdentifiers}
    checks.equal(set(listed), {full, bullet}, "list of images")
    checks.equal(listed[bullet].imageSize, ImageSize.BULLET_POINT, "size of an image")
    # In the sandbox whatever is uploaded is approved at once.
    first = ImageState.PENDING if apple.environment == Environment.PRODUCTION else ImageState.APPROVED
    checks.equal(listed[full].imageState, first, "state of a new image")
    for identifier in [full, bullet]:
        _review(stage, apple, "image", identifier, "APPROVED")
    states = {one.imageState for one in apple.get_image_list().imageIdentifiers}
    checks.equal(states, {ImageState.APPROVED}, "state of an image")
    for identifier, image, error in [
        (full, png(3840, 160), APIError.IMAGE_ALREADY_EXISTS),
        (uuid.uuid4(), png(3840, 160, colour_type=6), APIError.INVALID_IMAGE),
        (uuid.uuid4(), png(100, 100), APIError.INVALID_IMAGE),
        (uuid.uuid4(), b"no picture", APIError.INVALID_IMAGE),
    ]:
        checks.refused(lambda: apple.upload_image(identifier, image), error, "image")
    checks.refused(lambda: apple.delete_image(uuid.uuid4()), APIError.IMAGE_NOT_FOUND, "deleting an unknown image")
    stage.simulator.call("PUT", "/messaging-settings", {"imageQuota": 2})
    checks.refused(
        lambda: apple.upload_image(uuid.uuid4(), png(3840, 2160)),
        APIError.MAXIMUM_NUMBER_OF_IMAGES_REACHED,
        "image beyond the quota",
    )
    stage.simulator.call("PUT", "/messaging-settings", {})
    return full, bullet


def _check_messages(stage, apple, full, bullet):
    checks = stage.checks
    identifier = uuid.uuid4()
    message = UploadMessageRequestBody(
        header="Stay",
        body="There is more to come.",
        image=UploadMessageImage(imageIdentifier=full, altText="Something blue"),
        headerPosition=HeaderPosition.ABOVE_IMAGE,
        bulletPoints=[BulletPoint(text="New every week", imageIdentifier=bullet, altText="A square")],
    )
    apple.upload_message(identifier, message)
    listed = {one.messageIdentifier: one.messageState for one in apple.get_message_list().messageIdentifiers}
    checks.equal(set(listed), {identifier}, "list of messages")
    checks.refused(
        lambda: apple.upload_message(identifier, message), APIError.MESSAGE_ALREADY_EXISTS, "message for a second time"
    )
    checks.refused(
        lambda: apple.upload_message(
            uuid.uuid4(),
            UploadMessageRequestBody(header="Stay", body="Please.", headerPosition=HeaderPosition.ABOVE_IMAGE),
        ),
        APIError.BAD_REQUEST_ABOVE_IMAGE_REQUIRES_AN_IMAGE,
        "header above no image",
    )
    _review(stage, apple, "message", identifier, "REJECTED")
    configured = DefaultConfigurationRequest(messageIdentifier=identifier)
    checks.refused(
        lambda: apple.configure_default_message(PRODUCT, LOCALE, configured),
        APIError.MESSAGE_NOT_APPROVED,
        "rejected message by default",
    )
    _review(stage, apple, "message", identifier, "APPROVED")
    _review(stage, apple, "image", full, "PENDING")
    checks.refused(
        lambda: apple.configure_default_message(PRODUCT, LOCALE, configured),
        APIError.IMAGE_NOT_APPROVED,
        "default message with a pending image",
    )
    _review(stage, apple, "image", full, "APPROVED")
    states = [one.messageState for one in apple.get_message_list().messageIdentifiers]
    checks.equal(states, [MessageState.APPROVED], "state of a message")
    _check_default(stage, apple, configured)

    checks.refused(lambda: apple.delete_image(full), APIError.IMAGE_IN_USE, "deleting an image of a message")
    apple.delete_message(identifier)
    checks.equal(apple.get_message_list().messageIdentifiers, [], "list without messages")
    checks.refused(lambda: apple.delete_message(identifier), APIError.MESSAGE_NOT_FOUND, "deleting a message again")
    for image in [full, bullet]:
        apple.delete_image(image)
    checks.equal(apple.get_image_list().imageIdentifiers, [], "list without images")


def _check_default(stage, apple, configured):
    checks = stage.checks
    apple.configure_default_message(PRODUCT, LOCALE, configured)
    found = apple.get_default_message(PRODUCT, LOCALE).messageIdentifier
    checks.equal(found, configured.messageIdentifier, "default message")
    checks.refused(
        lambda: apple.configure_default_message(PRODUCT, "no locale", configured),
        APIError.INVALID_LOCALE,
        "default message of no locale",
    )
    apple.delete_default_message(PRODUCT, LOCALE)
    checks.refused(
        lambda: apple.get_default_message(PRODUCT, LOCALE), APIError.DEFAULT_MESSAGE_NOT_FOUND, "no default message"
    )


def _check_realtime_before_a_test(stage, apple):
    checks = stage.checks
    url = RealtimeUrlRequest(realtimeURL=stage.receiver.url(f"/{stage.app.slug}/realtime"))
    checks.refused(
        lambda: apple.configure_realtime_url(url), APIError.FORBIDDEN_NO_PASSING_TEST, "realtime URL without a test"
    )
    checks.refused(apple.get_realtime_url, APIError.REALTIME_URL_NOT_FOUND, "no realtime URL")


def _check_realtime(stage, apple):
    """In the sandbox: a URL, its test, and thereupon one in production."""
    checks, app = stage.checks, stage.app
    stage.simulator.call("PUT", "/messaging-settings", {"certificateAuthorities": stage.receiver.certificate})
    where = f"/{app.slug}/realtime"
    url = stage.receiver.url(where)
    apple.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url))
    checks.equal(apple.get_realtime_url().realtimeURL, url, "realtime URL")
    checks.refused(
        lambda: apple.configure_realtime_url(RealtimeUrlRequest(realtimeURL="no URL")),
        APIError.BAD_REQUEST_REALTIME_URL,
        "realtime URL that is none",
    )
    bought = stage.buy(stage.account(Environment.SANDBOX), PRODUCT, "Auto-Renewable Subscription")
    original = bought["originalTransactionId"]
    request = PerformanceTestRequest(originalTransactionId=original)
    started = apple.initiate_performance_test(request)

    def result():
        found = apple.get_performance_test_results(started.requestId)
        return found if found.result != PerformanceTestStatus.PENDING else None

    found = checks.eventually(result, "end of a performance test")
    checks.equal(found.result, PerformanceTestStatus.PASS, "result of a performance test")
    checks.equal(found.target, url, "target of a performance test")
    checks.equal(found.config.totalRequests, len(stage.receiver.bodies(where)), "requests of a performance test")
    verify = app.verifier(Environment.SANDBOX)
    decoded = verify.verify_and_decode_realtime_request(stage.receiver.bodies(where)[0]["signedPayload"])
    checks.equal(decoded.originalTransactionId, original, "transaction of a realtime request")
    checks.refused(
        lambda: apple.get_performance_test_results(str(uuid.uuid4())),
        APIError.PERFORMANCE_TEST_RUN_NOT_FOUND,
        "unknown performance test",
    )
    app.production.configure_realtime_url(RealtimeUrlRequest(realtimeURL=url))
    checks.equal(app.production.get_realtime_url().realtimeURL, url, "realtime URL in production")
    for one in [apple, app.production]:
        one.delete_realtime_url()
        checks.refused(one.get_realtime_url, APIError.REALTIME_URL_NOT_FOUND, "deleted realtime URL")
