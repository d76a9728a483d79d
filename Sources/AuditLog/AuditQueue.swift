/// What waits for the writer's thread, and what it has published.
struct AuditQueue {
    /// An act's record, and who waits for it.
    struct Item {
        /// Nil where what is owed is to be tried again, and nothing else.
        let entry: AuditRecord.Entry?
        let urgency: Urgency
    }

    /// What becomes of an act whose record cannot be written; who waits is told whether it was.
    enum Urgency {
        /// The act does not happen.
        case record(CheckedContinuation<Bool, Never>)
        /// The act has happened: the record is owed.
        case settle(CheckedContinuation<Bool, Never>)
        /// The act happens, and nobody waits: the record is owed.
        case note
        case retry(CheckedContinuation<Bool, Never>)
    }

    private(set) var items: [Item] = []
    private var isScheduled = false
    var status: AuditStatus

    init(status: AuditStatus) { self.status = status }

    /// Adds an item.
    ///
    /// - Returns: whether the thread must be told.
    mutating func add(_ item: Item) -> Bool {
        items.append(item)
        defer { isScheduled = true }
        return !isScheduled
    }

    /// Takes the first items; nil, when there are none, ends the thread's work.
    mutating func take(_ count: Int) -> [Item]? {
        guard !items.isEmpty else {
            isScheduled = false
            return nil
        }
        let taken = Array(items.prefix(count))
        items.removeFirst(taken.count)
        return taken
    }
}
