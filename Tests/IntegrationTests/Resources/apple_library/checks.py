"""Counts what holds, and keeps what does not."""

import pathlib
import time
import traceback

from appstoreserverlibrary.api_client import APIException

from stage import LIMIT

# Where a failure is worth pointing at: the checks themselves, not what they are made with.
TOOLS = {"apple.py", "checks.py", "receiver.py", "stage.py"}
GROUPS = {file for file in pathlib.Path(__file__).parent.glob("*.py") if file.name not in TOOLS}


class Checks:
    """The checks of one run; a failure does not end it."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self._place = ""

    def section(self, name, body, *arguments):
        """Runs one group of checks, which may have groups of its own; what it throws is a failure."""
        place, self._place = self._place, f"{self._place}{name}: "
        try:
            return body(*arguments)
        except Exception as exception:  # pylint: disable=broad-exception-caught
            frames = traceback.extract_tb(exception.__traceback__)
            line = [frame for frame in frames if pathlib.Path(frame.filename) in GROUPS][-1]
            self._fail(f"{exception!r} at {pathlib.Path(line.filename).name}:{line.lineno}: {line.line}")
            return None
        finally:
            self._place = place

    def check(self, condition, what):
        """Counts a condition."""
        if condition:
            self.passed += 1
        else:
            self._fail(what)

    def equal(self, found, expected, what):
        """Counts an equality."""
        self.check(found == expected, f"{what}: {found!r} instead of {expected!r}")

    def refused(self, call, error, what):
        """Counts a call that fails with one of Apple's errors; returns what it threw."""
        try:
            call()
        except APIException as exception:
            status = error.value // 10_000
            self.check(
                exception.api_error == error and exception.http_status_code == status,
                f"{what}: {exception!r} instead of {error!r}",
            )
            return exception
        self._fail(f"{what}: no error instead of {error!r}")
        return None

    def refused_with_status(self, call, status, what):
        """Counts a call that fails with a status and without a number of Apple's."""
        try:
            call()
        except APIException as exception:
            self.check(
                exception.http_status_code == status and exception.raw_api_error is None,
                f"{what}: {exception!r} instead of {status}",
            )
        else:
            self._fail(f"{what}: no error instead of {status}")

    def eventually(self, condition, what):
        """Counts a condition that takes a while; returns what it became."""
        end = time.monotonic() + LIMIT
        while not (found := condition()):
            if time.monotonic() > end:
                self._fail(f"waited in vain for {what}")
                return None
            time.sleep(0.05)
        self.passed += 1
        return found

    def _fail(self, what):
        self.failures.append(f"{self._place}{what}")
