import COpenSSL

/// Compares secrets in a time that depends on their length alone.
///
/// - Returns: Whether both have the same length and content.
package func constantTimeEqual(_ first: [UInt8], _ second: [UInt8]) -> Bool {
    first.count == second.count && CRYPTO_memcmp(first, second, first.count) == 0
}
