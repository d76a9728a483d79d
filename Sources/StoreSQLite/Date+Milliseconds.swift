import Foundation

// Times in rows are UNIX milliseconds.

extension Date {
    init(milliseconds: Int64) { self.init(timeIntervalSince1970: TimeInterval(milliseconds) / 1000) }

    /// The nearest millisecond.
    var milliseconds: Int64 { Int64((timeIntervalSince1970 * 1000).rounded()) }

    /// As it comes back from its row.
    var asStored: Date { Date(milliseconds: milliseconds) }
}
