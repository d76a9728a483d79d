# Compiles the modules that parse untrusted bytes. run-fuzz.sh and run-hostile.sh source this file from the top folder.
# The caller sets two variables first:
#   build             the folder for objects and modules; it must exist
#   instrumentation   an array of flags for our own modules, such as those of a sanitizer; it may be empty
# Of HTTPAPI only its folder `Parsing` is compiled, so that nothing here needs SwiftNIO.

checkouts=.build/checkouts
[ -d "$checkouts/swift-log" ] && [ -d "$checkouts/swift-http-types" ] || swift package resolve
plain=(-O -parse-as-library -wmo -swift-version 6 -package-name purser -I "$build")
# The settings of Package.swift, and what the caller adds.
ours=("${plain[@]}" -enable-testing "${instrumentation[@]}"
    -enable-upcoming-feature ExistentialAny -enable-upcoming-feature MemberImportVisibility
    -enable-upcoming-feature InternalImportsByDefault -enable-upcoming-feature NonisolatedNonsendingByDefault
    -I Sources/COpenSSL -I Sources/CCurl)

# Compiles a module unless neither its files nor the modules that it needs have changed: NAME "NEEDED..." FILES...
module() {
    local name=$1 needed=() one
    for one in $2; do needed+=("$build/$one.swiftmodule"); done
    [ -z "$(find "${@:3}" "${needed[@]}" -newer "$build/$name.o" 2>&1)" ] && return
    echo "compiling $name"
    swiftc "${flags[@]}" -module-name "$name" -emit-module -emit-object "${@:3}" \
        -emit-module-path "$build/$name.swiftmodule" -o "$build/$name.o"
}

# The files of one of our modules.
sources() { find "Sources/$1" -name '*.swift'; }

# Compiles every module, each after those that it needs.
compile_modules() {
    flags=("${plain[@]}" -suppress-warnings)
    module Logging "" $(find "$checkouts/swift-log/Sources/Logging" -name '*.swift')
    module HTTPTypes "" $(find "$checkouts/swift-http-types/Sources/HTTPTypes" -name '*.swift')
    flags=("${ours[@]}")
    module JSON "" $(sources JSON)
    module OpenSSL "" $(sources OpenSSL)
    module JOSE "JSON OpenSSL" $(sources JOSE)
    module AppReceipt "JSON OpenSSL" $(sources AppReceipt)
    module AppStoreAPI "JSON" $(sources AppStoreAPI)
    module Curl "" $(sources Curl)
    module Domain "Logging" $(sources Domain)
    # Without the files that need the tracing library.
    module TraceContext "" Sources/TraceContext/TraceParent.swift
    module HTTPAPI "Domain HTTPTypes JSON" $(sources HTTPAPI/Parsing)
    # Without the files that need the transport.
    module GRPCAPI "JSON" $(sources GRPCAPI/Wire) $(sources GRPCAPI/Descriptors) \
        $(sources GRPCAPI/Transcoding) $(sources GRPCAPI/Generated)
}
