/// Transfers in the order in which they were submitted.
///
/// Adding and taking cost the same however long the line is.
struct WaitingLine {
    private var arriving: [TransferID] = []
    /// The front of the line, its first at the end.
    private var leaving: [TransferID] = []

    var isEmpty: Bool { arriving.isEmpty && leaving.isEmpty }

    mutating func append(_ id: TransferID) { arriving.append(id) }

    mutating func next() -> TransferID? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }
}
