"""Holds appstore-simulator, or the doors of `purser serve` in front of it, against Apple's own library for Python.

Usage: python apple_library STAGE_FILE

STAGE_FILE is JSON: `simulator`, the ready file of the simulator; `certificate` and `key`, files with which to take
notifications over TLS; and, for the doors, `door`: `production` and `sandbox` (their URLs), `api` (the URL of that
listener), `token` (a file with a caller's), `purser` (the program), `config` (its configuration file), `issuer`, `keyId`
and `ownKey` (of the daemon's own key, the last its file). Needs app-store-server-library and
httpx.

Every method that Apple's clients have must have been called at the end. run-apple-library.sh does all that.
"""

import json
import pathlib
import sys
import tempfile
import warnings

from appstoreserverlibrary.models.Environment import Environment

import access
import consumption
import errors
import notifications
import retention
import signatures
import storekit
import subscriptions
import transactions
from apple import AsyncForm, SyncForm, public_methods
from checks import Checks
from receiver import Receiver
from stage import App, Direct, Door, Simulator, Stage


def run(stage):
    """Makes every check in one form of the client."""
    checks, form = stage.checks, stage.form
    stage.app = App(form.name, 0 if form.name == "sync" else 1, stage)
    stage.limited = App(f"limited-{form.name}", 2 if form.name == "sync" else 3, stage)
    notifications.subscribe(stage)
    if stage.setting.name == "door":
        checks.section("signatures for StoreKit", storekit.check, stage)
    for environment in [Environment.PRODUCTION, Environment.SANDBOX]:
        for group in [transactions, consumption, subscriptions, notifications, retention, signatures]:
            checks.section(f"{group.__name__} in {environment.value}", group.check, stage, environment)
    checks.section("orders", transactions.check_orders, stage)
    checks.section("errors", errors.check, stage)
    checks.section("access", access.check, stage)
    stage.app.close()
    stage.limited.close()
    for name in sorted(public_methods(form) - form.called):
        checks.section("methods", checks.check, False, f"{name} has not been called")
    form.end()


def main(stage_file):
    """Runs both forms; returns the exit code."""
    warnings.simplefilter("ignore", DeprecationWarning)  # Deprecated methods are called on purpose.
    options = json.loads(pathlib.Path(stage_file).read_text(encoding="utf-8"))
    simulator = Simulator(options["simulator"])
    checks, receiver = Checks(), Receiver(options["certificate"], options["key"])
    forms = [SyncForm(), AsyncForm()]
    with tempfile.TemporaryDirectory() as folder:
        setting = Door(options["door"], folder) if "door" in options else Direct(simulator)
        for form in forms:
            run(Stage(simulator, setting, form, checks, receiver))
    receiver.close()
    for failure in checks.failures:
        print(f"FAILED: {failure}", file=sys.stderr)
    methods = ", ".join(f"{len(public_methods(form) & form.called)} methods {form.name}" for form in forms)
    print(f"Apple's Python library: {checks.passed} checks passed, {methods}, {setting.name}")
    return 1 if checks.failures else 0


sys.exit(main(*sys.argv[1:]))
