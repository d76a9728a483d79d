import Domain

/// Records of acts that have happened, oldest first, until the log takes them.
struct OwedRecords {
    /// How many may be kept in memory alone.
    private let maximum: Int
    private(set) var entries: [AuditRecord.Entry] = []
    /// How many had nowhere to be kept.
    var lost = 0
    /// How many of them the reserve does not hold.
    private var inMemoryAlone = 0

    init(maximum: Int) { self.maximum = maximum }

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// Adds records that the reserve holds.
    mutating func add(reserved: [AuditRecord.Entry]) { entries += reserved }

    /// Adds records that nothing else holds, as far as there is room; one that may be forgotten makes room for one that may not.
    mutating func add(_ added: [AuditRecord.Entry]) {
        for entry in added {
            if inMemoryAlone >= maximum {
                lost += 1
                guard !entry.mayBeForgotten,
                    let index = entries.firstIndex(where: { $0.reserved == nil && $0.mayBeForgotten })
                else { continue }
                entries.remove(at: index)
                inMemoryAlone -= 1
            }
            entries.append(entry)
            inMemoryAlone += 1
        }
    }

    /// Takes up what a reserve held that was opened, before all others; what is known already is not taken twice.
    mutating func takeUp(_ found: [AuditRecord.Entry]) {
        let places = Set(found.compactMap(\.reserved))
        entries.removeAll { entry in entry.reserved.map(places.contains) ?? false }
        entries = found + entries
    }

    /// Forgets those that the log has, by their places in the reserve.
    mutating func remove(_ written: Set<AuditRecord.ReservePlace>) {
        entries.removeAll { entry in entry.reserved.map(written.contains) ?? false }
    }

    /// The first that have not been written yet.
    func first(_ count: Int) -> [AuditRecord.Entry] { Array(entries.prefix(count)) }

    /// Forgets the first: the log has them.
    mutating func removeFirst(_ count: Int) {
        inMemoryAlone -= entries.prefix(count).count { $0.reserved == nil }
        entries.removeFirst(count)
    }
}

extension AuditRecord.Entry {
    /// Whether it counts less than those that would be lost for it.
    var mayBeForgotten: Bool { AuditAct.Action(rawValue: action)?.mayBeForgotten ?? false }
}
