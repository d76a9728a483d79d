"""Sets the scene that schemathesis plays in: customers of an app in both environments of the simulator.

Usage: customers.py CONTROL_URL DIRECTORY

Writes what exists there into DIRECTORY: one dictionary file for each kind of identifier (see schemathesis.toml), and
`owners`, a user and an Apple Account (its app transaction id) on each line.
"""

import json
import os
import pathlib
import sys
import time
import urllib.request

BUNDLE_ID = "com.example.coins"
TOKEN = "7e3fb204-2e2e-4d4b-a1e0-6e6b5b8f1d11"


def main(control, directory):
    """Makes the customers, then writes the dictionaries."""

    def call(path, body=None, method="POST"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(control + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=int(os.environ["WAIT_SECONDS"])) as response:
            content = response.read()
        return json.loads(content) if content else {}

    # Whatever is sent there is refused, which is an attempt all the same.
    nowhere = control + "/nowhere"
    call(f"/apps/{BUNDLE_ID}/notification-urls", {"production": nowhere, "sandbox": nowhere}, "PUT")
    bought = []
    for environment in ["Production", "Sandbox"]:
        account = call("/accounts", {"environment": environment})["id"]

        def buy(product, kind, **more):
            body = {"bundleId": BUNDLE_ID, "productId": product, "type": kind, "price": 4990, "currency": "EUR", **more}
            bought.append(call(f"/accounts/{account}/purchases", body))
            return bought[-1]

        for _ in range(22):
            buy("coins.100", "Consumable")
        buy("theme.dark", "Non-Consumable", appAccountToken=TOKEN)
        buy("pass.season", "Non-Renewing Subscription")
        for _ in range(5):
            gold = buy("gold", "Auto-Renewable Subscription")
            bought.append(call(f"/transactions/{gold['transactionId']}/renewals", {}))
        buy("silver", "Auto-Renewable Subscription", subscriptionGroupIdentifier="second")
        buy("generic", "Consumable", advancedCommerceInfo={"items": []})
        for index in range(3):
            refunded = bought[-20 + index]["transactionId"]
            call(f"/transactions/{refunded}/refund", {"reason": index % 2, "percentage": 50000})

    def write(name, values):
        lines = [f'"{value}"\n' for value in dict.fromkeys(values)]
        (pathlib.Path(directory) / f"{name}.txt").write_text("".join(lines), encoding="utf-8")

    accounts = list(dict.fromkeys(one["appTransactionId"] for one in bought))
    owners = [f"{user} {account}\n" for user, account in zip(["alice", "bob"], accounts)]
    (pathlib.Path(directory) / "owners").write_text("".join(owners), encoding="utf-8")
    # One of each kind is enough to be met often.
    kinds = [one for one in bought if one["productId"] != "coins.100"] + bought[:2] + bought[26:28]
    write("transactions", [one["transactionId"] for one in kinds])
    write("products", [one["productId"] for one in kinds])
    orders = [call(f"/transactions/{one['transactionId']}/order", method="GET")["orderId"] for one in kinds]
    write("orders", orders)
    now, day = int(time.time() * 1000), 86_400_000
    write("starts", [now - 10 * day, now - day])
    write("ends", [now + day, now + 10 * day])
    write("identifiers", [one["transactionId"] for one in kinds] + accounts + [TOKEN])


main(*sys.argv[1:])
