/// The place of a request among those that are worked on at once, which it can let go while it waits for something that
/// may take a minute or never come.
package struct RequestPlace: Sendable {
    package let leave: @Sendable () -> Void
    package let retake: @Sendable () -> Void

    package init(leave: @escaping @Sendable () -> Void, retake: @escaping @Sendable () -> Void) {
        self.leave = leave
        self.retake = retake
    }
}
