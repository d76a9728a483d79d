/// What a request has in common with others so far that a handle need not be set up anew for each.
struct RequestKind: Equatable {
    let allowsClearText: Bool
    let unixSocket: String?

    init(_ request: CurlRequest) {
        allowsClearText = request.allowsClearText || request.unixSocket != nil
        unixSocket = request.unixSocket
    }
}
