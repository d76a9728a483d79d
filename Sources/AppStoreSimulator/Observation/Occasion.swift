/// What can be waited for, since it happens when others have done their part.
package enum Occasion: Sendable, Hashable {
    /// A request came in and was recorded.
    case requestReceived
    /// A notification had an attempt.
    case notificationAttempted
    /// A performance test had one of its answers.
    case realtimeURLAsked
}
