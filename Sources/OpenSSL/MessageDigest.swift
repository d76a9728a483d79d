import COpenSSL

/// A digest algorithm of libcrypto, fetched once: looking it up by name for each message costs more than hashing a
/// short one.
///
/// `@unchecked Sendable`: a fetched `EVP_MD` never changes.
struct MessageDigest: @unchecked Sendable {
    /// Nil when the configured providers have no such algorithm; functions of libcrypto that are given nil fail and say
    /// so.
    let pointer: OpaquePointer?

    /// FIPS 180-4.
    static let sha256 = MessageDigest(pointer: EVP_MD_fetch(nil, "SHA2-256", nil))
}
