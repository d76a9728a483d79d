/// Lets a loop wait until there is work, or a time is over; for one loop.
final class WakeSignal: Sendable {
    private let signals = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// Ends the present wait, or the next one if nobody waits; several calls may count as one.
    func wake() { signals.continuation.yield() }

    /// Returns when somebody calls `wake`, when the time is over or when the task is cancelled.
    ///
    /// `duration`: the longest wait; nil for no bound.
    func wait(atMost duration: Duration?, by clock: ServiceClock) async {
        await withTaskGroup(of: Void.self) { timer in
            if let duration {
                timer.addTask {
                    if (try? await clock.sleep(duration)) != nil { self.wake() }
                }
            }
            var signals = self.signals.stream.makeAsyncIterator()
            _ = await signals.next()
            timer.cancelAll()
        }
    }
}
