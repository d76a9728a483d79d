extension SimulatorState {
    /// Waits until a condition holds, which is looked at now and at every such occasion; returns early if the task is cancelled.
    package func wait(for occasion: Occasion, until condition: (SimulatorState) async throws -> Bool) async rethrows {
        let occasions = bell.occasions(occasion)
        if try await condition(self) { return }
        for await _ in occasions where try await condition(self) { return }
    }
}
