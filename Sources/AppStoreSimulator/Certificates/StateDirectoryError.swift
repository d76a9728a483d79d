import Foundation

/// A file operation that the system refused.
struct StateDirectoryError: Error, Sendable, CustomStringConvertible {
    let path: String
    let operation: String
    /// `errno`.
    let code: CInt

    var description: String { "cannot \(operation) \(path): \(String(cString: strerror(code)))" }
}
