extension SimulatorState {
    /// The faults that are set.
    package var faults: FaultSchedule { withContent { $0.faults } }

    /// Sets a fault.
    ///
    /// - Returns: Its id.
    @discardableResult
    package func inject(_ fault: Fault) -> String { withContent { $0.faults.add(fault) } }

    /// Removes a fault; false if there is none of that id.
    @discardableResult
    package func removeFault(_ id: String) -> Bool { withContent { $0.faults.remove(id) } }

    /// Removes all faults.
    package func removeAllFaults() { withContent { $0.faults.removeAll() } }

    /// Begins the random numbers of the faults anew.
    package func reseedFaults(_ seed: UInt64) { withContent { $0.faults.reseed(seed) } }

    /// The rate limits other than Apple's; where several apply, the last does.
    package var rateLimits: [RateLimit] {
        get { withContent { $0.limits.rules } }
        set { withContent { $0.limits.rules = newValue } }
    }

    /// Transactions in a page.
    package var pageSize: Int {
        get { withContent { $0.pageSize } }
        set { withContent { $0.pageSize = max(1, newValue) } }
    }

    /// What came in since the start or the last clearing.
    package var received: ReceivedLog { withContent { $0.received } }

    /// What is kept of what came in, which is forgotten in the same step.
    package func takeReceived() -> [ReceivedRequest] {
        withContent { content in
            defer { content.received.clear() }
            return content.received.requests
        }
    }

    /// Forgets what came in.
    package func clearReceived() { withContent { $0.received.clear() } }
}
