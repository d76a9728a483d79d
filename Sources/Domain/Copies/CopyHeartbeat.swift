import Foundation
package import Logging
import Synchronization

/// Says again and again that this copy of the daemon lives, for as long as it does.
package struct CopyHeartbeat: Sendable {
    private let id: String
    private let store: any CopyStore
    private let clock: ServiceClock
    private let living: LivingCopies
    private let outage: Outage
    private let masterKeyIDs: @Sendable () -> [String]

    /// - Parameters:
    ///   - id: names this instance for as long as its process runs.
    ///   - store: knows the other instances.
    ///   - masterKeyIDs: the ids of the master keys that it holds.
    ///   - living: receives the number of instances that live.
    ///   - clock: the clocks.
    ///   - logger: receives the failures.
    package init(
        id: String, store: any CopyStore, masterKeyIDs: @escaping @Sendable () -> [String] = { [] },
        living: LivingCopies = LivingCopies(), clock: ServiceClock, logger: Logger
    ) {
        self.id = id
        self.masterKeyIDs = masterKeyIDs
        self.store = store
        self.living = living
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
                try await store.beat(copy: id, holding: masterKeyIDs(), for: Copy.lifetime, at: clock.now())
                living.note(try await store.livingCopies(at: clock.now()).count)
                outage.succeeded()
            } catch {
                if !Task.isCancelled { outage.failed(error.cause ?? error.message) }
            }
        } while (try? await clock.sleep(Copy.beatInterval)) != nil
        // A task of its own, since a cancelled one's writes are not begun.
        await Task { [store, id] in try? await store.leave(copy: id) }.value
    }
}

/// How many copies of the daemon live on one store, as far as this one has heard; one where the store is not shared.
package final class LivingCopies: Sendable {
    private let known = Mutex(1)

    package init() {}

    package var count: Int { known.withLock(\.self) }

    /// Takes note of how many there are, this one among them.
    package func note(_ count: Int) { known.withLock { $0 = max(1, count) } }
}
