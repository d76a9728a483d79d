import Foundation
package import Logging

/// Says again and again that this copy of the daemon lives, for as long as it does.
package struct CopyHeartbeat: Sendable {
    private let id: String
    private let store: any CopyStore
    private let clock: ServiceClock
    private let outage: Outage

    /// `id`: names this copy for as long as its process runs.
    package init(id: String, store: any CopyStore, clock: ServiceClock, logger: Logger) {
        self.id = id
        self.store = store
        self.clock = clock
        outage = Outage(
            "The other copies cannot be told that this one lives",
            ended: "The other copies hear again that this one lives",
            logger: logger)
    }

    /// Says it until the task is cancelled, and then that the copy is leaving; nothing at all where the store is not shared.
    package func run() async {
        guard store.isShared else {
            // The daemon ends with the first of its loops.
            let (nothing, end) = AsyncStream<Never>.makeStream()
            defer { end.finish() }
            for await _ in nothing {}
            return
        }
        repeat {
            do throws(ServiceError) {
                try await store.beat(copy: id, for: Copy.lifetime, at: clock.now())
                outage.succeeded()
            } catch {
                if !Task.isCancelled { outage.failed(error.cause ?? error.message) }
            }
        } while (try? await clock.sleep(Copy.beatInterval)) != nil
        // A task of its own, since a cancelled one's writes are not begun.
        await Task { [store, id] in try? await store.leave(copy: id) }.value
    }
}
