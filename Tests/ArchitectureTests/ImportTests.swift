import Foundation
import Testing

/// Which module may know which: SwiftPM does not enforce it, so this does.
struct ImportTests {
    /// What every module may import.
    private static let everywhere: Set<String> = [
        "Foundation", "Glibc", "Dispatch", "Logging", "Synchronization", "Metrics", "CoreMetrics",
    ]

    /// Every module of ours with the modules it may import besides.
    ///
    /// A module that is missing here fails the test.
    private static let allowed: [String: Set<String>] = [
        "JSON": [],
        "OpenSSL": ["COpenSSL"],
        "JOSE": ["OpenSSL", "JSON"],
        "Curl": ["CCurl"],
        "Postgres": ["CPostgres"],
        "Systemd": ["CSystemd", "ServiceLifecycle"],
        "AppStoreAPI": ["JSON"],
        "AppReceipt": ["JSON", "OpenSSL"],
        "TraceContext": ["Tracing"],
        "Domain": [],
        "KeyCustody": ["Domain", "JOSE", "JSON", "OpenSSL"],
        "AppStoreClient": ["Domain", "AppReceipt", "AppStoreAPI", "Curl", "JOSE", "JSON", "OpenSSL", "TraceContext"],
        "CallbackClient": ["Domain", "Curl", "TraceContext"],
        "AuditLog": ["Domain", "JSON", "OpenSSL"],
        "StoreSQL": ["Domain"],
        "StorePostgres": ["Domain", "Postgres", "StoreSQL"],
        "StoreSQLite": ["CSQLite", "Domain", "GRDB", "GRDBSQLite", "StoreSQL"],
        "Listener": [
            "HummingbirdCore", "HTTPTypes", "NIOCore", "NIOPosix", "NIOHTTP1", "NIOHTTPTypes", "NIOHTTPTypesHTTP1",
            "NIOSSL", "OpenSSL", "ServiceLifecycle",
        ],
        "HTTPAPI": ["Domain", "JSON", "HummingbirdCore", "HTTPTypes", "NIOCore", "TraceContext"],
        "GRPCAPI": ["JSON", "GRPCCore", "GRPCNIOTransportHTTP2Posix", "NIOCore", "NIOHPACK", "NIOHTTP2"],
        "AppStoreSimulator": [
            "AppStoreAPI", "JOSE", "JSON", "OpenSSL", "HummingbirdCore", "HummingbirdHTTP2", "HTTPTypes",
            "NIOCore", "NIOPosix", "NIOHTTP1", "NIOHTTPTypes", "NIOSSL", "ServiceLifecycle",
            "UnixSignals",
        ],
        "Daemon": [
            "CVersion", "AppStoreAPI", "Curl", "OpenSSL", "JOSE", "JSON", "Systemd", "Domain", "KeyCustody",
            "AppStoreClient",
            "AuditLog", "CallbackClient", "Postgres", "StorePostgres", "StoreSQL", "StoreSQLite", "Listener",
            "GRPCAPI", "HTTPAPI", "HTTPTypes", "HummingbirdCore", "Configuration", "NIOCore", "NIOPosix",
            "ServiceLifecycle", "TraceContext", "Tracing",
            "UnixSignals",
            "Yams",
        ],
        "purser": ["Daemon", "ArgumentParser"],
        "purser-bench": [
            "AppReceipt", "AppStoreAPI", "AppStoreClient", "ArgumentParser", "AsyncHTTPClient", "Curl", "Domain",
            "GRDB", "GRPCAPI", "GRPCCore", "GRPCNIOTransportHTTP2Posix",
            "JOSE", "KeyCustody", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "OpenSSL",
        ],
        "appstore-simulator": ["AppStoreSimulator", "ArgumentParser", "ServiceLifecycle", "UnixSignals"],
    ]

    /// Imports that would be the worst, with what they would break.
    private static let reasons: [String: String] = [
        "AppStoreSimulator Domain": "sharing our rules, the simulator would agree with our bugs",
        "AppStoreSimulator AppStoreClient": "sharing our client, the simulator would agree with our bugs",
        "Domain GRDB": "rules know ports, not stores",
        "Domain Hummingbird": "rules know no HTTP",
        "HTTPAPI KeyCustody": "no private key leaves KeyCustody",
        "AppStoreClient KeyCustody": "the client asks for tokens through a port",
    ]

    @Test(arguments: allowed.keys.sorted())
    func `a module imports only what the table allows`(module: String) throws {
        let files = try Repository.swiftFiles(below: "Sources/\(module)")
        #expect(!files.isEmpty, "the table names module \(module), which has no files")
        let admitted = Self.everywhere.union(Self.allowed[module] ?? [])
        for file in files {
            for imported in try Repository.imports(of: file) where !admitted.contains(imported) {
                let reason = Self.reasons["\(module) \(imported)"] ?? "it is not in the table of ImportTests"
                Issue.record("\(file) imports \(imported): \(reason)")
            }
        }
    }

    @Test func `every module of the package is in the table`() throws {
        let modules = try Repository.folders(below: "Sources").filter { name in
            try !Repository.swiftFiles(below: "Sources/\(name)").isEmpty
        }
        #expect(Set(modules) == Set(Self.allowed.keys))
    }

    /// `make fuzz` builds them alone.
    @Test func `what reads bytes of callers knows no sockets`() throws {
        let files = try Repository.swiftFiles(below: "Sources/HTTPAPI/Parsing")
        #expect(files.count >= 5)
        for file in files {
            let beyond = Set(try Repository.imports(of: file)).subtracting(
                Self.everywhere.union(["Domain", "HTTPTypes", "JSON"]))
            #expect(beyond.isEmpty, "\(file) imports \(beyond.sorted())")
        }
    }

    @Test func `a C library is imported by its wrapper alone`() {
        let wrappers = [
            "CCurl": "Curl", "COpenSSL": "OpenSSL", "CPostgres": "Postgres", "CSQLite": "StoreSQLite",
            "CSystemd": "Systemd", "CVersion": "Daemon",
        ]
        for (library, wrapper) in wrappers {
            let importers = Self.allowed.filter { $0.value.contains(library) }.map(\.key)
            #expect(importers == [wrapper])
        }
    }

    @Test func `only the composition root names two adapters`() {
        let adapters: Set<String> = [
            "KeyCustody", "AppStoreClient", "AuditLog", "StorePostgres", "StoreSQLite", "Listener", "HTTPAPI",
            "GRPCAPI",
        ]
        // The bench measures parts by themselves and ships with nothing.
        for (module, imports) in Self.allowed where module != "Daemon" && module != "purser-bench" {
            let known = imports.intersection(adapters)
            #expect(known.isEmpty, "\(module) knows \(known.sorted())")
        }
    }
}
