/// Data that Apple signed and that we have verified, of whatever kind.
package struct VerifiedData: Sendable {
    /// The decoded payload byte for byte: a JSON object, well-formed.
    package let payload: [UInt8]
    /// The signed form, as Apple sent it (compact JWS).
    package let signed: String

    package init(payload: [UInt8], signed: String) {
        self.payload = payload
        self.signed = signed
    }
}
