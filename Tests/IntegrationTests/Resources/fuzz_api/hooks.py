"""What dictionaries cannot do for schemathesis: dates that fit each other, in a body of several shapes; and hostile text."""

import time

import hostile
import schemathesis

DAY = 86_400_000
LATEST = 253_402_300_799_999


@schemathesis.hook
def before_call(context, case, kwargs):
    """Puts a long run of characters that are expensive to compare into some calls."""
    hostile.put(case)


@schemathesis.hook.apply_to(operation_id="queryAppleNotificationHistory")
def map_body(context, body):
    """Moves most spans of time to where Apple has notifications; what is wrong about a body stays wrong."""
    if not isinstance(body, dict):
        return body
    dates = [body.get("startDate"), body.get("endDate")]
    if any(type(date) is not int or not 0 <= date <= LATEST for date in dates) or dates[0] % 4 == 3:
        return body
    now = int(time.time() * 1000)
    return {**body, "startDate": now - DAY * (1 + dates[0] % 20), "endDate": now + dates[1] % DAY}
