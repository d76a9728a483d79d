import AppStoreAPI

/// One call of Apple's API, before it has a host and a token.
struct UpstreamRequest: Sendable {
    let endpoint: Endpoint
    let body: [UInt8]?

    init(_ endpoint: Endpoint, body: [UInt8]? = nil) {
        self.endpoint = endpoint
        self.body = body
    }
}
