import GRDB

extension SQLiteStore {
    /// A secret of this installation: made once, kept for ever.
    ///
    /// - Parameters:
    ///   - name: what it is for.
    ///   - make: makes its bytes at random.
    /// - Returns: the key, the same at every call.
    /// - Throws: `storeUnavailable`, or what `make` throws.
    package func installationKey(name: String, make: @escaping @Sendable () throws -> [UInt8]) async throws -> [UInt8] {
        let fresh = try make()
        return try await write("read an installation key") { database in
            try InstallationKeyRow.fetch(name, orKeep: fresh, in: database)
        }
    }
}
