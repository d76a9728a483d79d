import Foundation

/// Why secret bytes could not be taken into memory.
package enum SecureBytesError: Error, Sendable, Equatable {
    /// The kernel gave no memory (`mmap(2)`); the associated value is `errno`.
    case allocationFailed(CInt)
    /// The file could not be opened (`open(2)`); the associated value is `errno`.
    case openFailed(CInt)
    /// The file could not be read (`read(2)`); the associated value is `errno`.
    case readFailed(CInt)
    /// The file holds more than the caller allows; the associated value is that limit in bytes.
    case tooLarge(maximumCount: Int)
}

extension SecureBytesError: CustomStringConvertible {
    /// What failed, with the system's words for it.
    package var description: String {
        switch self {
        case .allocationFailed(let code): "no memory for a secret: \(String(cString: strerror(code)))"
        case .openFailed(let code): "cannot open: \(String(cString: strerror(code)))"
        case .readFailed(let code): "cannot read: \(String(cString: strerror(code)))"
        case .tooLarge(let maximumCount): "larger than \(maximumCount) bytes"
        }
    }
}
