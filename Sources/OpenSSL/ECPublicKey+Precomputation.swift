import Synchronization

extension ECPublicKey {
    /// Works out a table that makes each later check of a signature a third as long.
    ///
    /// Takes tens of milliseconds and 155 KiB for as long as the key lives, so it is for the few keys that check hundreds
    /// of signatures, and not to be done while somebody waits.
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails; the key verifies as before then.
    package func precomputeMultiples() throws(OpenSSLError) {
        let table = try PrecomputedMultiples(of: rawRepresentation)
        multiples.withLock { $0 = table }
    }

    /// Whether checks go by a table.
    package var hasPrecomputedMultiples: Bool { table != nil }

    /// The table, if there is one.
    var table: PrecomputedMultiples? { multiples.withLock(\.self) }
}
