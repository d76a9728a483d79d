import Foundation

extension KeyStates {
    /// What several copies of the daemon have decided, put together: whatever one has changed since the last time counts, and
    /// where both have, what was decided later.
    ///
    /// - Parameters:
    ///   - theirs: what is kept, which others have changed.
    ///   - base: what was kept when this began to be changed here.
    /// - Returns: both.
    package func merged(with theirs: KeyStates, since base: KeyStates) -> KeyStates {
        KeyStates(
            roles: mergedRoles(with: theirs, since: base), histories: mergedHistories(with: theirs, since: base))
    }

    /// Roles of one app belong together: an activation gives one and takes another.
    private func mergedRoles(with theirs: KeyStates, since base: KeyStates) -> Set<KeyRole> {
        let (mine, others) = (Dictionary(grouping: roles, by: \.app), Dictionary(grouping: theirs.roles, by: \.app))
        let before = Dictionary(grouping: base.roles, by: \.app)
        return Set(mine.keys).union(others.keys).reduce(into: []) { merged, app in
            let (own, other, old) = (Set(mine[app] ?? []), Set(others[app] ?? []), Set(before[app] ?? []))
            if own == old || other != old && Self.latest(own) < Self.latest(other) {
                merged.formUnion(other)
            } else {
                merged.formUnion(own)
            }
        }
    }

    private static func latest(_ roles: Set<KeyRole>) -> Date { roles.map(\.since).max() ?? .distantPast }

    private func mergedHistories(with theirs: KeyStates, since base: KeyStates) -> [String: KeyHistory] {
        Set(histories.keys).union(theirs.histories.keys).reduce(into: [:]) { merged, keyID in
            let old = base.histories[keyID]
            switch (histories[keyID], theirs.histories[keyID]) {
            case (let mine?, let other?): merged[keyID] = mine.merged(with: other, since: old)
            // Gone on one side: deleted there, if it was on both.
            case (let mine?, nil): merged[keyID] = old == nil ? mine : nil
            case (nil, let other?): merged[keyID] = old == nil ? other : nil
            case (nil, nil): break
            }
        }
    }
}

extension KeyHistory {
    fileprivate func merged(with theirs: KeyHistory, since base: KeyHistory?) -> KeyHistory {
        func changed<Value: Equatable>(_ value: KeyPath<KeyHistory, Value>) -> Value {
            self[keyPath: value] == base?[keyPath: value] ? theirs[keyPath: value] : self[keyPath: value]
        }
        return KeyHistory(
            keyID: keyID, firstSeenAt: min(firstSeenAt, theirs.firstSeenAt),
            lastUsedAt: [lastUsedAt, theirs.lastUsedAt].compactMap(\.self).max(), retiredAt: changed(\.retiredAt),
            // Nobody takes a revocation back.
            revokedAt: [revokedAt, theirs.revokedAt].compactMap(\.self).min(),
            directoryFingerprint: changed(\.directoryFingerprint))
    }
}
