import Curl
import TestSupport

/// A client and a server for it.
enum CurlFixture {
    /// Runs a server and a client that trusts it.
    ///
    /// - Parameters:
    ///   - options: What the server speaks.
    ///   - configure: Changes the client's configuration, which trusts the server already.
    ///   - handler: Answers each request.
    ///   - body: What to do with both.
    /// - Throws: What the closure throws.
    static func run(
        _ options: LoopbackServer.Options = .init(), configure: (inout CurlConfiguration) -> Void = { _ in },
        handler: @escaping LoopbackServer.Handler = { _ in .init("hello") },
        during body: (CurlClient, LoopbackServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(options, handler: handler) { server in
            var configuration = CurlConfiguration()
            configuration.certificateAuthorityFile = server.certificateAuthorityFile
            // A connection that a busy machine neglects for a while is still there.
            configuration.maximumConnectionIdleTime = Wait.limit
            configuration.unacknowledgedDataTimeout = Wait.limit
            configure(&configuration)
            try await run(configuration) { client in try await body(client, server) }
        }
    }

    /// Runs a client without a server.
    static func run(_ configuration: CurlConfiguration, during body: (CurlClient) async throws -> Void) async throws {
        let client = try CurlClient(configuration: configuration)
        do {
            try await body(client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
    }

    /// The error that a request ends with, or nil if there is a response.
    static func failure(of request: CurlRequest, by client: CurlClient) async -> CurlError? {
        do throws(CurlError) {
            _ = try await client.perform(request)
            return nil
        } catch {
            return error
        }
    }
}

extension CurlRequest {
    /// A request that has all the time that a busy machine takes.
    static func patient(
        _ method: Method, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        maximumResponseBytes: Int = 4_194_304
    ) -> CurlRequest {
        CurlRequest(
            method, url, headers: headers, body: body, connectTimeout: Wait.limit, totalTimeout: Wait.limit,
            maximumResponseBytes: maximumResponseBytes)
    }
}

extension LoopbackServer.Options {
    static var http1: Self {
        var options = Self()
        options.offersHTTP2 = false
        return options
    }
}
