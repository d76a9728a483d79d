/// Gives cases their owners anew where the settings of their app have changed, or a link that very many of them name, in bounded
/// steps beside the other work.
///
/// The rules judge by the new settings and links at once: what is accepted, sent or read never waits for this. What it brings up to date
/// are the rows by which lists are searched.
package struct OwnerRefresher: Sendable {
    /// How many cases are judged in one operation.
    static let batch = 200
    /// The rest between two operations.
    static let pause = Duration.milliseconds(50)
    /// The rest after one that failed.
    static let failurePause = Duration.seconds(10)
    /// The rest when all is done; a look costs one read of a small table.
    static let idlePause = Duration.seconds(10)

    private let store: any StoreMaintenance
    private let clock: ServiceClock

    init(store: any StoreMaintenance, clock: ServiceClock) {
        self.store = store
        self.clock = clock
    }

    /// Works until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            var rest = Self.pause
            do throws(ServiceError) {
                if try await !store.refreshOwners(limit: Self.batch) { rest = Self.idlePause }
            } catch {
                // The store says so itself, in the health that operators see.
                rest = Self.failurePause
            }
            guard (try? await clock.sleep(rest)) != nil else { return }
        }
    }
}
