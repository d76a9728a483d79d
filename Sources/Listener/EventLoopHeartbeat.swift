package import NIOCore

/// Tells whether event loops run, for a watchdog.
package enum EventLoopHeartbeat {
    /// Returns once every event loop of the group has just run a task.
    ///
    /// It hangs as long as one of them does. Loops that were shut down count as having run: nothing waits for them.
    package static func beat(_ group: any EventLoopGroup) async {
        let hops = group.makeIterator().map { $0.submit {} }
        for hop in hops {
            // Fails only when the loop was shut down.
            try? await hop.get()
        }
    }
}
