extension AppStoreClient {
    /// Writes to the store what answers have told since the last time about the environments of identifiers.
    ///
    /// To be called at intervals, and once when no more calls are made: no answer waits for it.
    package func saveEnvironments() async { await environments.save() }
}
