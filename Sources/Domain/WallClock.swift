package import Foundation

/// The time of day, for claims, rows and answers.
///
/// Durations and deadlines never come from it: they use a monotonic clock.
package typealias WallClock = @Sendable () -> Date
