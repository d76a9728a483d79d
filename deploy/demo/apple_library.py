"""Uses Apple's own server library as any program does: only the base URL and the key are Purser's.

Usage: apple_library.py BASE_URL KEY_FILE ISSUED TRANSACTION_ID

ISSUED is what `purser callers issue-key` printed.
"""

import re
import sys

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.models.Environment import Environment

base_url, key_file, issued, transaction_id = sys.argv[1:]
with open(issued, encoding="utf-8") as file:
    text = file.read()
key_id = re.search(r"[Kk]ey id:?\s+(\S+)", text)[1]
issuer_id = re.search(r"[Ii]ssuer id:?\s+(\S+)", text)[1]
with open(key_file, "rb") as file:
    key = file.read()

client = AppStoreServerAPIClient(key, key_id, issuer_id, "com.example.coins", Environment.SANDBOX)
client._base_url = base_url
signed = client.get_transaction_info(transaction_id).signedTransactionInfo
print(f"get_transaction_info({transaction_id}): a signed transaction of {len(signed)} characters, as Apple sent it")
try:
    client.get_transaction_info("1")
except APIException as error:
    print(f"get_transaction_info(1): {error.api_error.name} ({error.raw_api_error}), Apple's own error")
