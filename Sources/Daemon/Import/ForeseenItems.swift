/// What a dry run has foreseen to be kept, so that later batches are judged as if it were.
///
/// Held in few large blocks: a million lines of common length take about 300 MB.
struct ForeseenItems {
    private struct Entry {
        let block: Int32
        let start: Int32
        let end: Int32
        /// The entry before it with the same identity; negative where there is none.
        let previous: Int32
    }

    /// What an item may be repeated with, the latest ones; of one identifier, more than a few are no honest file.
    private static let maximumEarlier = 500
    private static let blockBytes = 1 << 20

    private var blocks: [[UInt8]] = []
    private var entries: [Entry] = []
    /// The latest entry of each identity.
    private var latest: [Int: Int32] = [:]

    /// Adds an item that changed something.
    mutating func add(_ item: ImportItem, app: String) {
        if blocks.isEmpty || blocks[blocks.count - 1].count + item.json.count > Self.blockBytes {
            blocks.append([])
            blocks[blocks.count - 1].reserveCapacity(max(Self.blockBytes, item.json.count))
        }
        let block = blocks.count - 1
        let start = blocks[block].count
        blocks[block] += item.json
        let identity = Self.identity(item, app)
        entries.append(
            Entry(
                block: Int32(block), start: Int32(start), end: Int32(blocks[block].count),
                previous: latest[identity] ?? -1))
        latest[identity] = Int32(entries.count - 1)
    }

    /// The items with the identity of this one that were added, as they were written, oldest first.
    func earlier(than item: ImportItem, app: String) -> [ArraySlice<UInt8>] {
        var found: [ArraySlice<UInt8>] = []
        var next = latest[Self.identity(item, app)] ?? -1
        while next >= 0, found.count < Self.maximumEarlier {
            let entry = entries[Int(next)]
            found.append(blocks[Int(entry.block)][Int(entry.start)..<Int(entry.end)])
            next = entry.previous
        }
        return found.reversed()
    }

    private static func identity(_ item: ImportItem, _ app: String) -> Int {
        var hasher = Hasher()
        hasher.combine(item.identity)
        hasher.combine(app)
        return hasher.finalize()
    }
}
