/// How answers about consumption are sent to Apple.
package struct DeliveriesConfiguration: Sendable, Equatable {
    /// How many are sent at the same time.
    package let concurrency: Int
    /// How long a caller waits for the outcome unless its `Prefer` header says otherwise.
    package let wait: Duration

    package init(concurrency: Int = 64, wait: Duration = .seconds(5)) {
        self.concurrency = concurrency
        self.wait = wait
    }
}
