import Logging

extension LogEvent {
    /// The metadata of the handler, its provider, this event and its error, in the order of their keys.
    ///
    /// Of two values for one key the later in this list of sources counts, as swift-log's own handler does it.
    func allMetadata(of handler: some LogHandler) -> [(key: String, value: Logger.MetadataValue)] {
        var all = handler.metadata
        if let provided = handler.metadataProvider?.get() { all.merge(provided) { $1 } }
        if let metadata { all.merge(metadata) { $1 } }
        if let error { all["error"] = "\(error)" }
        return all.sorted { $0.key < $1.key }
    }
}
