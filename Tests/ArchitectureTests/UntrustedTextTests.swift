import Foundation
import Testing

/// Text from outside becomes a `String` in a few places, and each of them is listed here.
///
/// The compiler finds the rest: readers of JSON, Protocol Buffers and CSV return `UntrustedText`, which has no way to a `String` but
/// `checked` and `streamSafe`; header fields are read from `RequestHeaders`. The test reads text, so it does not see a conversion that
/// is spelled otherwise, such as `String(someSubstring)`.
struct UntrustedTextTests {
    /// What makes text of bytes.
    private static let conversions = [
        "String(decoding:", "String(validating:", "String(bytes:", "String(cString:", "String(validatingCString:",
        "String(buffer:", "String(data:", "String(validatingUTF8:", "removingPercentEncoding", "readString(",
        "getString(",
    ]

    /// The files that may, by the reason why the text is harmless.
    private static let converting: [String: [String]] = [
        "it is the type itself": ["JSON/UntrustedText.swift"],
        "its grammar admits ASCII only": [
            "JSON/JSONSlice.swift", "AppReceipt/LegacyTransactionReceipt.swift", "HTTPAPI/Parsing/Timestamp.swift",
            "TraceContext/TraceParent.swift", "OpenSSL/Certificate+Purpose.swift",
        ],
        "it is checked in the same statement": ["AppStoreClient/AppStoreClient+Proxy.swift"],
        "we have written it, and nothing of it is hashed or compared": [
            "JSON/JSONValue.swift", "JOSE/CompactJWS.swift", "AppStoreAPI/Endpoint.swift",
            "GRPCAPI/Calls/RouteRequest.swift", "Domain/Access/OpaqueToken.swift", "OpenSSL/OwnedPointer.swift",
            "Systemd/LogText.swift",
        ],
        "its authentication code is ours": ["Domain/Snapshots/SnapshotPaging.swift"],
        "it comes from our own database, where only checked text goes": [
            "Postgres/PostgresConnection.swift", "Postgres/PostgresResult.swift", "StorePostgres/PostgresText.swift",
            "StoreSQL/StoredCases.swift", "StoreSQL/StoredConsent.swift", "StoreSQL/StoredDeliveries.swift",
            "StoreSQL/StoredLinks.swift", "StoreSQL/StoredTokens.swift", "StoreSQLite/GRDBConnection.swift",
        ],
        "a library or the kernel has made it": [
            "Curl/CurlClient.swift", "Curl/CurlError.swift", "Curl/EasyHandle.swift", "Daemon/Version.swift",
            "Listener/InheritedDescriptor.swift", "OpenSSL/CMSSignedData.swift", "OpenSSL/ChainVerification.swift",
            "OpenSSL/KeyErrors.swift", "OpenSSL/OpenSSLError.swift", "Postgres/PostgresError.swift",
            "StoreSQLite/SQLiteStore.swift", "StoreSQLite/StoreFile.swift", "Systemd/InheritedSockets.swift",
        ],
        "it is the operator's own file, terminal or daemon": [
            "Daemon/Commands/CallCommand.swift", "Daemon/Composition/Adapters.swift",
            "Daemon/Configuration/DaemonConfiguration.swift", "Daemon/Files.swift", "GRPCAPI/Client/CallClient.swift",
            "GRPCAPI/Descriptors/DescriptorReader.swift",
            "Postgres/PostgresConfiguration.swift", "purser/AuditCommand.swift", "purser/CallersCommand.swift",
        ],
        "Apple's header fields, of which known names are asked for by their bytes": ["Curl/CurlResponse.swift"],
    ]

    @Test func `only the listed files turn bytes into strings`() throws {
        let listed = Set(Self.converting.values.flatMap { $0 }.map { "Sources/\($0)" })
        var found: Set<String> = []
        for file in try Self.files() {
            let text = try Repository.text(file).replacing("String(cString: strerror", with: "")
            if Self.conversions.contains(where: text.contains) { found.insert(file) }
        }
        for file in found.subtracting(listed).sorted() {
            Issue.record("\(file) turns bytes into a String: use UntrustedText, or list the file here with a reason")
        }
        #expect(listed.subtracting(found).isEmpty, "listed without need")
    }

    /// The files of the listener and of the API that read header fields of requests, all by bytes.
    private static let readingFields = [
        "Sources/HTTPAPI/Parsing/RequestHeaders.swift", "Sources/Listener/ConnectionGuard.swift",
        "Sources/Listener/RequestForm.swift", "Sources/Listener/RequestLimiter.swift",
    ]

    @Test func `only the listed files read header fields of requests`() throws {
        // All others have RequestHeaders, which are made of the fields as a whole.
        let reading = [
            "request.headers[", "request.headerFields[", "head.headerFields[.expect", "in head.headers", "header.value",
        ]
        var found: Set<String> = []
        for file in try Self.files() where file.hasPrefix("Sources/HTTPAPI/") || file.hasPrefix("Sources/Listener/") {
            let text = try Repository.text(file)
            if reading.contains(where: text.contains) { found.insert(file) }
        }
        #expect(found == Set(Self.readingFields))
    }

    /// Programs that no stranger's text reaches are left out: the simulator and the bench ship with no daemon.
    private static func files() throws -> [String] {
        let others = ["AppStoreSimulator", "appstore-simulator", "purser-bench"].map { "Sources/\($0)/" }
        return try Repository.swiftFiles(below: "Sources").filter { file in !others.contains(where: file.hasPrefix) }
    }
}
