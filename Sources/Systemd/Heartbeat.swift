/// A part of the process whose progress the watchdog asks for.
package struct Heartbeat: Sendable {
    /// The name under which a stall is reported, for example `event loops`.
    package let name: String

    /// Returns once the part has just run.
    ///
    /// It may hang as long as the part does; it is not called again until it has returned.
    package let beat: @Sendable () async -> Void

    package init(name: String, beat: @escaping @Sendable () async -> Void) {
        self.name = name
        self.beat = beat
    }
}
