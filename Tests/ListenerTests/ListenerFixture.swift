import Foundation
import HTTPTypes
import HummingbirdCore
import Listener
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycleTestKit
import TestSupport

/// A listener that runs while a test talks to it.
struct ListenerFixture: Sendable {
    let address: BoundAddress
    /// The TLS of the listener, if it has any.
    let certificates: ListenerCertificates?
    private let trigger: GracefulShutdownTestTrigger

    /// Every request waits here before it is answered.
    let gate: Gate

    /// Connects; `source`: from which address of the loopback interface.
    func connect(from source: String? = nil, tls: NIOSSLContext? = nil) async throws -> TestConnection {
        try await TestConnection.connect(to: address, from: source, tls: tls)
    }

    /// Begins the graceful shutdown, which otherwise follows the test.
    func shutDown() {
        trigger.triggerGracefulShutdown()
    }

    /// Runs a listener, and shuts it down afterwards; `respond`: answers `METHOD PATH BODY` unless something else is given.
    static func with(
        address: ListenerAddress = .tcp(host: "127.0.0.1", port: 0), maximumRequests: Int? = nil,
        _ configure: (inout ListenerConfiguration) -> Void = { _ in }, logger: Logger = .quiet,
        answering respond: Responder? = nil,
        answeringOverload answerOverload: OverloadAnswer? = nil,
        eventLoops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        test: @Sendable (ListenerFixture) async throws -> Void
    ) async throws {
        let gate = Gate()
        var configuration = ListenerConfiguration.patient(address)
        configuration.maximumRequests = maximumRequests
        configure(&configuration)
        let listener = Listener(
            configuration: configuration, answering: respond ?? echo(behind: gate), answeringOverload: answerOverload,
            eventLoopGroup: eventLoops, logger: logger)
        try await run(listener, gate, test)
    }

    /// Runs a listener of the test's own, and shuts it down afterwards.
    static func run(
        _ listener: Listener, _ gate: Gate = Gate(), _ test: @Sendable (ListenerFixture) async throws -> Void
    ) async throws {
        let bound = try await listener.bind()
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup { group in
                group.addTask { try await listener.run() }
                let fixture = ListenerFixture(
                    address: bound, certificates: listener.certificates, trigger: trigger, gate: gate)
                try await test(fixture)
                gate.open()
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }

    /// A path for a Unix socket, at which there is nothing.
    static func temporaryPath() -> String {
        "/tmp/listener-\(UUID().uuidString.prefix(8)).sock"
    }

    static func echo(behind gate: Gate) -> Responder {
        { request, _, _ in
            let body = (try? await request.body.collect(upTo: .max)) ?? ByteBuffer(string: "a body that cannot be read")
            await gate.pass()
            return Response(text: "\(request.method) \(request.uri.path) \(String(buffer: body))")
        }
    }
}

extension ListenerConfiguration {
    /// No client is too slow for it, since one of a test may have to wait for the processor, unless a test is about that.
    static func patient(_ address: ListenerAddress = .tcp(host: "127.0.0.1", port: 0)) -> ListenerConfiguration {
        var configuration = ListenerConfiguration(name: "test", address: address)
        configuration.idleTimeout = Wait.limit
        configuration.firstRequestTimeout = Wait.limit
        // So that a shutdown waits for nobody who sends nothing.
        configuration.lastRequestTimeout = .zero
        configuration.requestReadTimeout = Wait.limit
        configuration.responseWriteTimeout = Wait.limit
        configuration.lingerTimeout = Wait.limit
        return configuration
    }
}

extension Response {
    init(text: String) {
        self.init(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}

extension Logger {
    static var quiet: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }
}
