"""What a run is given: the simulator's control port, where the calls go, and keys to sign them with."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import urllib.parse
import urllib.request

from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier

from apple import Apple

# The most seconds that anything is waited for.
LIMIT = int(os.environ["WAIT_SECONDS"])


@dataclasses.dataclass
class Credential:
    """What Apple's client signs its tokens with."""

    key_id: str
    issuer_id: str
    private_key: bytes


class Simulator:
    """The control port of a running appstore-simulator."""

    def __init__(self, ready_file):
        self.ready = json.loads(pathlib.Path(ready_file).read_text(encoding="utf-8"))
        self.root = pathlib.Path(self.ready["rootDER"]).read_bytes()

    def call(self, method, path, body=None):
        """Makes a call; what was answered."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.ready["control"] + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=LIMIT) as response:
            content = response.read()
        return json.loads(content) if content else None

    def all_received(self, app, endpoint):
        """Every call of an app to an endpoint, as it came in, oldest first."""
        query = urllib.parse.urlencode({"bundleId": app.bundle_id, "endpoint": endpoint})
        return self.call("GET", f"/received?{query}")["received"]

    def received(self, app, endpoint):
        """The latest call of an app to an endpoint, as it came in."""
        return self.all_received(app, endpoint)[-1]


class Direct:
    """The calls go to the simulator itself, signed with keys of the developer's team."""

    name = "direct"
    issuer = "57246542-96fe-1a63-e053-0824d011072a"

    def __init__(self, simulator):
        self._simulator = simulator

    def base_url(self, environment):
        """Where the calls of an environment go."""
        return self._simulator.ready["production" if environment == Environment.PRODUCTION else "sandbox"]

    def issue(self, _app):
        """Makes a key."""
        key = self._simulator.call("POST", "/keys", {"issuerId": self.issuer})
        return Credential(key["keyId"], self.issuer, key["privateKey"].encode())

    def revoke(self, credential):
        """Revokes a key."""
        self._simulator.call("DELETE", f"/keys/{credential.key_id}")


class Door:
    """The calls go to the Apple-compatible doors of `purser serve`, signed with keys that its operator has issued."""

    name = "door"

    def __init__(self, options, folder):
        self._options = options
        self._folder = pathlib.Path(folder)
        self._count = 0
        self.issuer = options["issuer"]

    def base_url(self, environment):
        """Where the calls of an environment go."""
        return self._options["production" if environment == Environment.PRODUCTION else "sandbox"]

    def issue(self, app, scopes=()):
        """Makes a key: of the configured caller, or with scopes of a caller that it makes exist."""
        self._count += 1
        file = self._folder / f"caller-{app.slug}-{self._count}.p8"
        name = f"by-key-{self._count}" if scopes else "library"
        wanted = [part for scope in scopes for part in ("--scope", scope)]
        text = self._callers("issue-key", name, "--app", app.slug, "--out", str(file), *wanted)
        key_id = re.search(r"key id:\s*(\S+)", text).group(1)
        issuer_id = re.search(r"issuer id:\s*(\S+)", text).group(1)
        return Credential(key_id, issuer_id, file.read_bytes())

    def revoke(self, credential):
        """Revokes a key of the configured caller."""
        self._callers("revoke", "library", credential.key_id)

    @property
    def own_key(self):
        """The id of the key that only the daemon has."""
        return self._options["keyId"]

    @property
    def own_credential(self):
        """The key that only the daemon has, to make with Apple's library what the daemon makes."""
        return Credential(self.own_key, self.issuer, pathlib.Path(self._options["ownKey"]).read_bytes())

    def ask(self, path, body):
        """Posts to the daemon's own API; what was answered."""
        token = pathlib.Path(self._options["token"]).read_text(encoding="utf-8")
        request = urllib.request.Request(
            self._options["api"] + path,
            data=body,
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request, timeout=LIMIT) as response:
            return json.loads(response.read())

    def _callers(self, *arguments):
        command = [self._options["purser"], "callers", *arguments, "--config", self._options["config"]]
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout


class App:
    """One app of the run, with Apple's client for each environment."""

    def __init__(self, slug, number, stage):
        self.slug = slug
        self.bundle_id = f"com.example.{slug}"
        self.apple_id = 1234567890 + number
        self._stage = stage
        simulator, setting = stage.simulator, stage.setting
        simulator.call(
            "PUT", f"/apps/{self.bundle_id}", {"appAppleId": self.apple_id, "issuerId": setting.issuer}
        )
        self.credential = setting.issue(self)
        self.production = self.client(Environment.PRODUCTION)
        self.sandbox = self.client(Environment.SANDBOX)

    def client(self, environment, credential=None):
        """Apple's client, with the app's own key unless another is given."""
        stage = self._stage
        return Apple(
            stage.form, stage.setting.base_url(environment), credential or self.credential, self.bundle_id, environment
        )

    def verifier(self, environment):
        """Apple's verifier, which trusts the simulator's root in place of Apple's, offline."""
        return SignedDataVerifier([self._stage.simulator.root], False, environment, self.bundle_id, self.apple_id)

    def close(self):
        """Ends the clients."""
        self.production.close()
        self.sandbox.close()


@dataclasses.dataclass
class Stage:
    """All that a group of checks may use."""

    simulator: Simulator
    setting: object
    form: object
    checks: object
    receiver: object
    app: App = None
    limited: App = None

    def account(self, environment, **more):
        """Makes an Apple Account; its id."""
        return self.simulator.call("POST", "/accounts", {"environment": environment.value, **more})["id"]

    def buy(self, account, product, kind, app=None, **more):
        """Buys; the transaction as Apple would sign it."""
        body = {"bundleId": (app or self.app).bundle_id, "productId": product, "type": kind, **more}
        return self.simulator.call("POST", f"/accounts/{account}/purchases", body)
