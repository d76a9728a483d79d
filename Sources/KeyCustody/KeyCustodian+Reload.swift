package import Domain

// What a reload of the configuration changes of keys.

extension KeyCustodian {
    /// The keys of another configuration, read from their files and ready to sign.
    package struct Replacement: Sendable {
        let declared: [KeyRing.Entry]
        let directories: [KeyDirectory]
        let warnings: KeyWarningPolicy

        /// Reads every declared key that may still sign; it blocks.
        ///
        /// - Throws: `KeyFileError` for the first that cannot be used.
        package init(
            loading declarations: [KeyDeclaration], directories: [KeyDirectory], warnings: KeyWarningPolicy
        ) throws(KeyFileError) {
            declared = try KeyRing.entries(loading: declarations)
            self.directories = directories
            self.warnings = warnings
        }
    }

    /// Puts the keys of another configuration in the place of those of the present one, all of them at once.
    ///
    /// What was decided about keys stays: who has taken over, what is revoked.
    ///
    /// - Parameters:
    ///   - replacement: the keys.
    ///   - commit: what else must succeed; nothing has changed before it returns, and nothing fails after that.
    ///   - swap: changes what goes with the keys, with nothing between; quick.
    /// - Returns: which keys are other ones, but for imported ones.
    /// - Throws: `storeUnavailable`, or what `commit` throws; nothing has changed then.
    package func replace(
        with replacement: Replacement, commit: @escaping @Sendable () async throws(ServiceError) -> Void,
        swap: @escaping @Sendable () -> Void
    ) async throws(ServiceError) -> ConfigurationReload.Change {
        try await acts.run { () throws(ServiceError) in
            try await self.replaceNow(with: replacement, commit, swap)
        }
    }

    private func replaceNow(
        with replacement: Replacement, _ commit: @Sendable () async throws(ServiceError) -> Void,
        _ swap: @Sendable () -> Void
    ) async throws(ServiceError) -> ConfigurationReload.Change {
        let before = Self.byID(ring.facts)
        let revoked = revokedKeyIDs
        let declared = replacement.declared.map { entry in
            revoked.contains(entry.facts.keyID) ? KeyRing.Entry(facts: entry.facts, key: nil) : entry
        }
        // One that has looked before knows what it need not read again, and what a file held that cannot be read now.
        let reader =
            replacement.directories == directories.directories
            ? directories : KeyDirectoryReader(replacement.directories)
        let declaredIDs = Set(declared.map(\.facts.keyID))
        let imported = try await importedKeys(besides: declaredIDs)
        let taken = Dictionary((declared + imported).map { ($0.facts.keyID, $0.facts.source) }) { first, _ in first }
        let findings = await findings(in: reader, taken: taken)
        let entries = declared + findings.entries + imported
        let replaced = entries.map(\.facts).filter { facts in
            before[facts.keyID].map { $0.issuerID != facts.issuerID || $0.fingerprint != facts.fingerprint } ?? false
        }
        try await commit()
        directories = reader
        warnings = replacement.warnings
        tell(findings.problems)
        await take(findings, isFirst: false) {
            ring.replaceAll(with: entries)
            swap()
            minter.forgetRetired(settings.apps.all, replaced: Set(replaced.map(\.keyID)))
        }
        return ConfigurationReload.Change("keys", from: before, to: Self.byID(ring.facts))
    }

    /// Keys that the configuration brings, by their ids.
    private static func byID(_ facts: [KeyFacts]) -> [String: KeyFacts] {
        Dictionary(facts.filter { $0.source != .imported }.map { ($0.keyID, $0) }) { first, _ in first }
    }
}
