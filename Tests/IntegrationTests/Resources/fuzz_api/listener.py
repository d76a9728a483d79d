"""What one listener serves, by the description of all.

Usage: listener.py document|scopes OPENAPI_FILE

`document` prints the description of the api listener alone, as JSON; `scopes` prints every scope, as a YAML list
without brackets.
"""

import json
import sys

import yaml

LISTENER = "api"
METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]


def document(description):
    """The description without the operations that other listeners serve."""
    paths = {}
    for path, item in description["paths"].items():
        kept = {
            name: value
            for name, value in item.items()
            if name not in METHODS or LISTENER in value["x-purser-listeners"]
        }
        if any(name in METHODS for name in kept):
            paths[path] = kept
    return {**description, "paths": paths}


def main(what, file):
    with open(file, encoding="utf-8") as opened:
        description = yaml.safe_load(opened)
    if what == "document":
        json.dump(document(description), sys.stdout)
    else:
        print(", ".join(json.dumps(scope) for scope in description["components"]["schemas"]["Scope"]["enum"]))


main(*sys.argv[1:])
