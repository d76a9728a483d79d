// swift-tools-version:6.2
import PackageDescription

/// Settings of every Swift target; `docs/architecture.md` says what each is for.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// Products of other packages, by the name that the target lists below use.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let grpcCore = Target.Dependency.product(name: "GRPCCore", package: "grpc-swift-2")
let grpcTransport = Target.Dependency.product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let grdbSQLite = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hummingbirdCore = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let hummingbirdHTTP2 = Target.Dependency.product(name: "HummingbirdHTTP2", package: "hummingbird")
let hummingbirdTLS = Target.Dependency.product(name: "HummingbirdTLS", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioEmbedded = Target.Dependency.product(name: "NIOEmbedded", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioHTTPTypesHTTP1 = Target.Dependency.product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras")
let nioHPACK = Target.Dependency.product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2 = Target.Dependency.product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let serviceLifecycleTestKit = Target.Dependency.product(
    name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")
let tracing = Target.Dependency.product(name: "Tracing", package: "swift-distributed-tracing")
let inMemoryTracing = Target.Dependency.product(name: "InMemoryTracing", package: "swift-distributed-tracing")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

let package = Package(
    name: "purser",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "purser", targets: ["purser"]),
        .executable(name: "appstore-simulator", targets: ["appstore-simulator"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0", traits: []),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.9.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        // Without its default traits: with two of them, the order of the flags that they become changes from one build to
        // the next, and everything above is compiled again.
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // C libraries: a module map and a header of typed shims each.
        .systemLibrary(
            name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),

        // The commit that a release is built from; a C target, since a Swift one cannot be given a text.
        .target(
            name: "CVersion",
            cSettings: Context.environment["PURSER_COMMIT"].map { [.define("PURSER_COMMIT", to: "\"\($0)\"")] }),

        // Wrappers and formats: no word of our business.
        .target(name: "JSON"),
        .target(name: "OpenSSL", dependencies: ["COpenSSL"]),
        .target(name: "JOSE", dependencies: ["OpenSSL", "JSON"]),
        .target(name: "Curl", dependencies: ["CCurl"]),
        .target(name: "Postgres", dependencies: ["CPostgres"]),
        .target(name: "Systemd", dependencies: ["CSystemd", logging, serviceLifecycle]),
        .target(name: "TraceContext", dependencies: [logging, tracing]),
        .target(name: "AppStoreAPI", dependencies: ["JSON"]),
        .target(name: "AppReceipt", dependencies: ["JSON", "OpenSSL"]),

        // The middle.
        .target(name: "Domain", dependencies: [logging]),

        // Adapters, each with one technology.
        .target(
            name: "KeyCustody",
            dependencies: ["Domain", "JOSE", "JSON", "OpenSSL", logging, metrics]),
        .target(
            name: "AppStoreClient",
            dependencies: [
                "Domain", "AppReceipt", "AppStoreAPI", "Curl", "JOSE", "JSON", "OpenSSL", "TraceContext", coreMetrics,
                logging, metrics,
            ]),
        .target(name: "CallbackClient", dependencies: ["Domain", "Curl", "TraceContext", coreMetrics, metrics]),
        .target(name: "AuditLog", dependencies: ["Domain", "JSON", "OpenSSL", coreMetrics, logging, metrics]),
        .target(name: "StoreSQL", dependencies: ["Domain"]),
        .target(name: "StoreSQLite", dependencies: ["CSQLite", "Domain", "StoreSQL", grdb, grdbSQLite, logging]),
        .target(name: "StorePostgres", dependencies: ["Domain", "Postgres", "StoreSQL", logging]),
        .target(
            name: "Listener",
            dependencies: [
                "OpenSSL", httpTypes, hummingbirdCore, logging, nioCore, nioPosix, nioHTTP1, nioHTTPTypes,
                nioHTTPTypesHTTP1, nioSSL, serviceLifecycle,
            ]),
        .target(
            name: "HTTPAPI",
            dependencies: [
                "Domain", "JSON", "TraceContext", hummingbirdCore, httpTypes, logging, metrics, coreMetrics, nioCore,
            ]),

        .target(
            name: "GRPCAPI",
            dependencies: ["JSON", grpcCore, grpcTransport, logging, nioCore, nioHPACK, nioHTTP2]),

        // The composition root, the simulator and their programs.
        .target(
            name: "Daemon",
            dependencies: [
                "CVersion", "AppStoreAPI", "Curl", "OpenSSL", "JOSE", "JSON", "Systemd", "Domain", "KeyCustody",
                "AppStoreClient",
                "AuditLog", "CallbackClient", "Postgres", "StorePostgres", "StoreSQL", "StoreSQLite", "Listener",
                "HTTPAPI", "GRPCAPI", "TraceContext",
                configuration,
                coreMetrics, httpTypes, hummingbirdCore, metrics,
                logging, nioCore,
                nioPosix,
                serviceLifecycle, tracing, unixSignals, yams,
            ]),
        .target(
            name: "AppStoreSimulator",
            dependencies: [
                "AppStoreAPI", "JOSE", "JSON", "OpenSSL", hummingbirdCore, hummingbirdHTTP2, httpTypes, logging,
                nioCore, nioPosix, nioHTTP1, nioHTTPTypes, nioSSL, serviceLifecycle,
            ]),
        .executableTarget(name: "purser", dependencies: ["Daemon", argumentParser]),
        // `make bench`, which no test runs.
        .executableTarget(
            name: "purser-bench",
            dependencies: [
                "AppReceipt", "AppStoreAPI", "AppStoreClient", "Curl", "Domain", "JOSE", "KeyCustody", "OpenSSL",
                "GRPCAPI", argumentParser,
                coreMetrics, grdb, grpcCore, grpcTransport, logging, nioCore, nioHTTP1, nioPosix, nioSSL,
            ]),
        .executableTarget(
            name: "appstore-simulator",
            dependencies: ["AppStoreSimulator", argumentParser, logging, serviceLifecycle, unixSignals]),

        // Tests.
        .target(
            name: "TestSupport",
            dependencies: [
                "Domain", "OpenSSL", "Postgres", hummingbirdCore, hummingbirdHTTP2, hummingbirdTLS, httpTypes, logging,
                nioCore, nioPosix, nioSSL, serviceLifecycle,
            ],
            path: "Tests/TestSupport"),
        .testTarget(name: "ArchitectureTests", dependencies: ["TestSupport"]),
        .testTarget(name: "TraceContextTests", dependencies: ["TraceContext", inMemoryTracing, logging, tracing]),
        .testTarget(name: "JSONTests", dependencies: ["JSON", "TestSupport"]),
        .testTarget(
            name: "OpenSSLTests", dependencies: ["OpenSSL", "TestSupport"], exclude: ["Resources"]),
        .testTarget(name: "JOSETests", dependencies: ["JOSE", "OpenSSL", "JSON"]),
        .testTarget(
            name: "AppReceiptTests", dependencies: ["AppReceipt", "AppStoreSimulator", "OpenSSL", "TestSupport"]),
        .testTarget(name: "PostgresTests", dependencies: ["OpenSSL", "Postgres", "TestSupport"]),
        .testTarget(name: "CurlTests", dependencies: ["Curl", "TestSupport", nioCore, nioPosix]),
        .testTarget(
            name: "SystemdTests",
            dependencies: ["Systemd", "TestSupport", logging, serviceLifecycle, serviceLifecycleTestKit]),
        .testTarget(
            name: "ListenerTests",
            dependencies: [
                "Listener", "Curl", "OpenSSL", "Systemd", "TestSupport", httpTypes, hummingbirdCore, logging, nioCore,
                nioEmbedded, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1, nioPosix, nioSSL, serviceLifecycleTestKit,
            ]),
        .testTarget(
            name: "DaemonTests",
            dependencies: [
                "AuditLog", "Daemon", "Domain", "HTTPAPI", "KeyCustody", "Listener", "OpenSSL", "Postgres", "StoreSQL",
                "StoreSQLite",
                "TestSupport",
                coreMetrics, logging, metrics, serviceLifecycle,
            ]),
        .testTarget(
            name: "AppStoreAPITests", dependencies: ["AppStoreAPI", "JSON", "TestSupport"], exclude: ["Resources"]),
        .testTarget(name: "DomainTests", dependencies: ["Domain", "StoreSQL", "StoreSQLite", "TestSupport", logging]),
        .testTarget(
            name: "KeyCustodyTests",
            dependencies: ["KeyCustody", "Domain", "JOSE", "JSON", "OpenSSL", "TestSupport", coreMetrics, logging]),
        .testTarget(
            name: "AuditLogTests",
            dependencies: ["AuditLog", "Domain", "OpenSSL", "TestSupport", coreMetrics]),
        .testTarget(
            name: "StoreSQLiteTests",
            dependencies: ["StoreSQL", "StoreSQLite", "Domain", "TestSupport", grdb, grdbSQLite],
            exclude: ["Resources"]),
        .testTarget(
            name: "StorePostgresTests",
            dependencies: ["StorePostgres", "StoreSQL", "StoreSQLite", "Domain", "Postgres", "TestSupport"]),
        .testTarget(
            name: "AppStoreClientTests",
            dependencies: [
                "AppStoreClient", "AppStoreAPI", "AppStoreSimulator", "Curl", "Domain", "JOSE", "OpenSSL",
                "TestSupport",
                coreMetrics, logging, metrics,
            ]),
        .testTarget(name: "PurserTests", dependencies: ["purser", "TestSupport", argumentParser]),
        .testTarget(name: "PurserBenchTests", dependencies: ["purser-bench"]),
        .testTarget(
            name: "AppStoreSimulatorTests",
            dependencies: [
                "AppStoreSimulator", "AppStoreAPI", "Curl", "JOSE", "JSON", "OpenSSL", "TestSupport", logging, nioCore,
                nioPosix, nioSSL, serviceLifecycle,
            ]),
        .testTarget(
            name: "IntegrationTests",
            dependencies: [
                "Daemon", "AppStoreSimulator", "AppStoreAPI", "Curl", "Domain", "GRPCAPI", "JOSE", "JSON", "KeyCustody",
                "Listener",
                "OpenSSL", "Systemd", "TestSupport", "purser", "TraceContext", grdb, logging, serviceLifecycle,
            ],
            exclude: ["Resources"]),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "AppReceipt", "AppStoreAPI", "Curl", "Domain", "GRPCAPI", "HTTPAPI", "JOSE", "JSON", "OpenSSL",
                "TestSupport", "TraceContext", httpTypes,
            ],
            exclude: ["Resources"]),
        .testTarget(
            name: "GRPCAPITests",
            dependencies: [
                "GRPCAPI", "JSON", "OpenSSL", "TestSupport", grpcCore, nioCore, nioEmbedded, nioHPACK, nioHTTP2, yams,
            ]),
        .testTarget(
            name: "HTTPAPITests",
            dependencies: [
                "HTTPAPI", "Domain", "JSON", "OpenSSL", "StoreSQL", "StoreSQLite", "TestSupport", "TraceContext",
                coreMetrics, grdb,
                hummingbirdCore, httpTypes, inMemoryTracing, logging, nioCore, nioEmbedded, tracing, yams,
            ]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets where target.type != .system {
    target.swiftSettings = swiftSettings
}

// Only `make bench` compares with AsyncHTTPClient, and sets this; nobody else fetches or compiles it.
if Context.environment["PURSER_BENCH"] != nil {
    package.dependencies.append(.package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"))
    for target in package.targets where target.name == "purser-bench" {
        target.dependencies.append(.product(name: "AsyncHTTPClient", package: "async-http-client"))
        target.swiftSettings?.append(.define("ASYNC_HTTP_CLIENT"))
    }
}

// `make test-sanitized` sets this: suites that it does not name are neither compiled nor linked.
if let suites = Context.environment["PURSER_SUITES"]?.split(separator: " ").map(String.init) {
    package.targets.removeAll { $0.type == .test && !suites.contains($0.name) }
}
