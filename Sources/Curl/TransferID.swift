/// Names a transfer from any thread, for as long as a caller may want to cancel it.
struct TransferID: Hashable, Sendable {
    let number: UInt64
}
