package import Foundation

/// What a reload of the configuration has changed.
package struct ConfigurationReload: Sendable, Equatable {
    /// What is other than before in one part of the configuration, by names in ascending order.
    package struct Change: Sendable, Equatable {
        /// `apps`, `callers`, `keys` and the like.
        package let part: String
        package let added: [String]
        package let removed: [String]
        package let changed: [String]

        /// Compares what there was with what there is, by name.
        package init<Value: Equatable>(_ part: String, from before: [String: Value], to after: [String: Value]) {
            self.part = part
            added = after.keys.filter { before[$0] == nil }.sorted()
            removed = before.keys.filter { after[$0] == nil }.sorted()
            changed = after.filter { name, value in before[name].map { $0 != value } ?? false }.keys.sorted()
        }

        /// Names what was changed and nothing that came or went.
        package init(_ part: String, changed: [String]) {
            self.part = part
            (added, removed) = ([], [])
            self.changed = changed.sorted()
        }

        package var isEmpty: Bool { added.isEmpty && removed.isEmpty && changed.isEmpty }
    }

    /// Counts the configurations of this process: 1 is the one of its start.
    package let generation: Int
    package let loadedAt: Date
    /// The parts that are other than before.
    package let changes: [Change]
    /// The keys of the file that are other than at the start, and have no effect before the next one.
    package let needsRestart: [String]
    /// What is allowed but probably not meant.
    package let warnings: [String]

    package init(
        generation: Int, loadedAt: Date, changes: [Change], needsRestart: [String], warnings: [String]
    ) {
        self.generation = generation
        self.loadedAt = loadedAt
        self.changes = changes.filter { !$0.isEmpty }
        self.needsRestart = needsRestart
        self.warnings = warnings
    }
}

/// Reads the configuration anew, and swaps it whole or not at all.
package protocol ConfigurationReloader: Sendable {
    /// Reads, checks, and swaps; reloads that come at the same time happen one after the other.
    ///
    /// - Throws: `configurationInvalid` with every problem, each a violation, or why it cannot be done now; nothing has changed
    ///   then.
    func reload(by actor: Actor) async throws(ServiceError) -> ConfigurationReload
}
