#!/bin/bash
# Prints what a program is made of, as a document of SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3/).
#   make-sbom.sh SCRATCH_DIRECTORY PROGRAM VERSION COMMIT
# Packages that are linked in come with version and licence, libraries that the system provides with the version that was
# built against. SOURCE_DATE_EPOCH is the time of the document.
set -euo pipefail

scratch=${1:?usage: make-sbom.sh SCRATCH_DIRECTORY PROGRAM VERSION COMMIT}
program=$2 version=$3 commit=$4
here=$(cd "$(dirname "$0")" && pwd)
swift=$(swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p')

packages='' relations=''
# ID NAME VERSION LOCATION LICENSE PURPOSE PURL
add_package() {
    packages+=$(printf ',\n    {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "%s",\n      %s' \
        "$1" "$2" "$3" "$4" "\"filesAnalyzed\": false, \"primaryPackagePurpose\": \"$6\",")
    packages+=$(printf '\n      "licenseConcluded": "%s", "licenseDeclared": "%s", "copyrightText": "NOASSERTION",' "$5" "$5")
    packages+=$(printf '\n      "supplier": "NOASSERTION", "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "%s"}]}' "$7")
}
# KIND ID
relate() {
    relations+=$(printf ',\n    {"spdxElementId": "SPDXRef-Program", "relationshipType": "%s", "relatedSpdxElement": "SPDXRef-%s"}' "$1" "$2")
}

while IFS=$'\t' read -r identity number revision location license _; do
    add_package "Linked-$identity" "$identity" "$number" "git+$location@$revision" "$license" LIBRARY \
        "pkg:swift/$(sed 's,^https://,,; s,\.git$,,' <<<"$location")@$number"
    relate STATIC_LINK "Linked-$identity"
done < <("$here/linked-packages.sh" "$scratch" "$program")
[ -n "$packages" ] || { echo "${0##*/}: nothing is linked" >&2; exit 1; }

add_package Linked-swift-runtime swift-runtime "$swift" "https://www.swift.org/install/linux/" \
    'Apache-2.0 WITH Swift-exception AND Unicode-3.0' LIBRARY "pkg:generic/swift-runtime@$swift"
relate STATIC_LINK Linked-swift-runtime

# Which package of the system has each shared library that the program asks for.
while read -r library; do
    file=$(ldconfig -p | awk -v name="$library" '$1 == name { print $NF; exit }')
    owner=$(dpkg-query --search "$(realpath "$file")" 2>/dev/null || dpkg-query --search "$file" 2>/dev/null || true)
    owner=${owner%%:*}
    [ -n "$owner" ] || { echo "${0##*/}: no package has $library" >&2; exit 1; }
    echo "$owner"
done < <(objdump -p "$scratch/release/$program" | awk '$1 == "NEEDED" { print $2 }') | sort -u >"$scratch/shared"
while read -r owner; do
    number=$(dpkg-query --show --showformat '${Version}' "$owner" 2>/dev/null || dpkg-query --show --showformat '${Version}\n' "$owner:$(dpkg --print-architecture)")
    add_package "System-${owner//+/-plus}" "$owner" "$number" NOASSERTION NOASSERTION LIBRARY \
        "pkg:deb/debian/${owner//+/%2B}@${number//+/%2B}"
    relate DYNAMIC_LINK "System-${owner//+/-plus}"
done <"$scratch/shared"

cat <<JSON
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "$program-$version",
  "documentNamespace": "https://purser.invalid/spdx/$program-$version-$commit",
  "creationInfo": {"created": "$(date --utc --date "@$SOURCE_DATE_EPOCH" +%FT%TZ)", "creators": ["Tool: make-sbom.sh"]},
  "documentDescribes": ["SPDXRef-Program"],
  "packages": [
    {"SPDXID": "SPDXRef-Program", "name": "$program", "versionInfo": "$version", "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false, "primaryPackagePurpose": "APPLICATION", "sourceInfo": "commit $commit",
      "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "supplier": "NOASSERTION"}$packages
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Program"}$relations
  ]
}
JSON
