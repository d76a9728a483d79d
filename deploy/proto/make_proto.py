#!/usr/bin/env python3
"""Writes api/purser/v1/*.proto from api/openapi.yaml: each operation becomes a method, each schema a message; and of those the
descriptors that the daemon reads.

usage: make_proto.py ROOT
"""

import base64
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

from proto_contract import Contract
from proto_files import write

# What the descriptors are made of, in the order in which it is digested; `GeneratedTests` does the same.
SOURCES = ["api/openapi.yaml", "api/purser/numbers.json", "Tests/AppStoreAPITests/Resources/models.json"]
SWIFT = """\
// Made from api/openapi.yaml by `make proto`; do not edit.

/// The contract as descriptors.
enum GeneratedDescriptors {{
    /// SHA-256 of what they were made of: {sources}.
    static let sources = "{digest}"

    /// A `google.protobuf.FileDescriptorSet` in Base64, without comments.
    static let base64 = \"\"\"
{lines}
        \"\"\"
}}
"""


def read(root):
    contract = Contract(root)
    contract.build()
    # Once more: which schemas requests are made of is known now.
    asked = contract.asked
    contract = Contract(root)
    contract.asked = asked
    contract.build()
    return contract


def descriptors(root):
    """The descriptors of all files and of what they import; what is known of Google's comes with the compiler."""
    import grpc_tools
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.rpc import error_details_pb2, status_pb2
    from grpc_health.v1 import health_pb2

    files = sorted(path.relative_to(root / "api").as_posix() for path in (root / "api/purser").rglob("*.proto"))
    with tempfile.NamedTemporaryFile() as output:
        subprocess.run(
            [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={root / 'api'}",
             f"--proto_path={Path(grpc_tools.__file__).parent / '_proto'}", "--include_imports",
             f"--descriptor_set_out={output.name}", *files], check=True)
        found = FileDescriptorSet.FromString(Path(output.name).read_bytes())
    names = {file.name for file in found.file}
    # What errors and health are told by, for clients that ask by reflection.
    for module in (error_details_pb2, status_pb2, health_pb2):
        waiting = [module.DESCRIPTOR]
        while waiting:
            file = waiting.pop()
            if file.name not in names:
                names.add(file.name)
                found.file.add().ParseFromString(file.serialized_pb)
                waiting += file.dependencies
    return found.SerializeToString(deterministic=True)


def main():
    root = Path(sys.argv[1]).resolve()
    write(read(root))
    text = base64.b64encode(descriptors(root)).decode()
    digest = hashlib.sha256()
    for source in SOURCES:
        digest.update((root / source).read_bytes())
    width = 112
    lines = [text[start:start + width] for start in range(0, len(text), width)]
    (root / "Sources/GRPCAPI/Generated").mkdir(parents=True, exist_ok=True)
    (root / "Sources/GRPCAPI/Generated/GeneratedDescriptors.swift").write_text(SWIFT.format(
        sources=", ".join(SOURCES), digest=digest.hexdigest(), lines="\n".join(f"        {line}" for line in lines)))


if __name__ == "__main__":
    main()
