#if ASYNC_HTTP_CLIENT
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOSSL

extension UpstreamProbe {
    /// Makes the calls with AsyncHTTPClient, which speaks HTTP/2 and checks the certificate as ours does.
    func measureAsyncHTTPClient() async throws -> Outcome {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(certificateAuthorityFile)
        var configuration = HTTPClient.Configuration(tlsConfiguration: tls)
        configuration.httpVersion = .automatic
        let client = HTTPClient(configuration: configuration)
        // As long as a token is.
        let authorization = "Bearer \(String(repeating: "t", count: 300))"
        do {
            let outcome = try await measure { index in
                var request = HTTPClientRequest(url: url(index))
                request.headers.add(name: "Authorization", value: authorization)
                request.headers.add(name: "Accept", value: "application/json")
                let response = try await client.execute(request, timeout: .seconds(30))
                guard response.status == .ok, response.version.major == 2 else {
                    throw BenchError("\(response.version) \(response.status)")
                }
                _ = try await response.body.collect(upTo: 1 << 20)
            }
            try await client.shutdown()
            return outcome
        } catch {
            try await client.shutdown()
            throw error
        }
    }
}
#else
extension UpstreamProbe {
    func measureAsyncHTTPClient() async throws -> Outcome {
        throw BenchError("built without AsyncHTTPClient: use `make bench`, which sets PURSER_BENCH")
    }
}
#endif
