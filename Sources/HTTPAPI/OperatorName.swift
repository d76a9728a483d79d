import Domain

/// The name that an operator claims with `--as`: recorded, never believed.
///
/// The kernel tells an operator's user id. Where several people share one, as everybody in a container does, each may say who it
/// is.
package enum OperatorName {
    /// The header field of a request.
    package static let fieldName = RequestHeaders.Field.purserOperator.rawValue
    /// The longest name, in characters.
    package static let maximumLength = 64

    /// Whether a text can be such a name: letters, digits and `.`, `_`, `-`, `@`, `+` of ASCII, which stand for nothing in logs.
    package static func isValid(_ text: String) -> Bool {
        (1...maximumLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"):
                    true
                default: ".-_@+".utf8.contains(byte)
                }
            }
    }

    /// Who acts at the operators' listener.
    ///
    /// `headers`: what may claim a name; `peer`: what the connection proves.
    ///
    /// - Throws: `invalidRequest` for a name that is none, `internalError` where the kernel has not said who it is.
    static func actor(_ headers: RequestHeaders, _ peer: PeerIdentity) throws(ServiceError) -> Actor {
        guard let unixPeer = peer.unixPeer else {
            throw ServiceError(.internalError, "Internal error.", cause: "an operator without peer credentials")
        }
        let name = headers[.purserOperator]
        if let name, !isValid(name) {
            throw .invalid([
                Violation(
                    field: fieldName, rule: "format",
                    message: "`\(fieldName)` (`--as`) takes 1 to \(maximumLength) of A-Z, a-z, 0-9 and . _ - @ +.")
            ])
        }
        return .operator(uid: unixPeer.uid, claimedName: name)
    }
}
