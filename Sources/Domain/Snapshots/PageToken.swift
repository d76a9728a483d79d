/// Says where the next page of a list begins: which snapshot, which position, and for which query.
///
/// On the wire it is `base64url(authentication code ‖ content)`: a token that was altered is told apart from one whose
/// snapshot is gone. The key of the code outlives restarts.
struct PageToken: Sendable, Equatable {
    let snapshotID: String
    let offset: Int
    let pageSize: Int
    /// What was asked: app, user, list and filters, in one canonical text.
    let query: String
}

/// Writes and reads page tokens.
package struct PageTokenCoder: Sendable {
    /// The longest token accepted, in characters.
    static let maximumLength = 4096
    private static let separator: Character = "\u{1F}"

    private let authenticationCode: @Sendable ([UInt8]) -> [UInt8]
    private let encode: @Sendable ([UInt8]) -> String
    private let decode: @Sendable (String) -> [UInt8]?

    /// - Parameters:
    ///   - authenticationCode: HMAC-SHA-256 under a key that only this installation has (RFC 2104).
    ///   - encode: base64url (RFC 4648 section 5).
    ///   - decode: its strict inverse.
    package init(
        authenticationCode: @escaping @Sendable ([UInt8]) -> [UInt8],
        encode: @escaping @Sendable ([UInt8]) -> String, decode: @escaping @Sendable (String) -> [UInt8]?
    ) {
        self.authenticationCode = authenticationCode
        self.encode = encode
        self.decode = decode
    }

    func text(_ token: PageToken) -> String {
        let separator = String(Self.separator)
        let content = Array(
            [token.snapshotID, String(token.offset), String(token.pageSize), token.query]
                .joined(separator: separator).utf8)
        return encode(authenticationCode(content) + content)
    }

    /// - Throws: `pageTokenInvalid`.
    func token(_ text: String) throws(ServiceError) -> PageToken {
        let codeLength = 32
        let invalid = ServiceError(
            .pageTokenInvalid, "This page token was not issued here or has been altered; start from the first page.")
        guard text.utf8.count <= Self.maximumLength, let bytes = decode(text), bytes.count > codeLength else {
            throw invalid
        }
        let content = Array(bytes[codeLength...])
        guard Array(bytes[..<codeLength]) == authenticationCode(content) else { throw invalid }
        let parts = String(decoding: content, as: UTF8.self)
            .split(separator: Self.separator, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let offset = Int(parts[1]), let pageSize = Int(parts[2]) else { throw invalid }
        return PageToken(
            snapshotID: String(parts[0]), offset: offset, pageSize: pageSize, query: String(parts[3]))
    }
}
