import COpenSSL
import Foundation

/// The libcrypto that this process runs with.
package enum OpenSSLLibrary {
    /// Such as `3.0.17`.
    package static var version: String {
        // It is a text of the library's own, of which a null pointer is not documented.
        OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? ""
    }
}

/// A call into libcrypto that failed.
///
/// Holds the names and numbers that libcrypto publishes for its errors, never the data it worked on.
/// Source: OpenSSL manual, `ERR_get_error(3)`.
package struct OpenSSLError: Error, Sendable, Equatable {
    /// The function of libcrypto that failed.
    package let operation: String
    /// libcrypto's packed error numbers, oldest first; empty when it left none.
    package let codes: [UInt]
    /// libcrypto's text for each number, such as `error:0A0C0103:asn1 encoding routines::wrong tag`.
    package let reasons: [String]

    /// Takes what the calling thread's error queue holds and leaves the queue empty.
    ///
    /// - Parameter operation: The function that failed.
    init(draining operation: StaticString) {
        self.operation = operation.description
        let codes = Self.drainQueue()
        self.codes = codes
        reasons = codes.map(Self.text)
    }

    /// Empties the calling thread's queue after a failure that has been understood by other means.
    static func clearQueue() { ERR_clear_error() }

    /// Takes all numbers from the calling thread's queue, which libcrypto bounds at 16.
    static func drainQueue() -> [UInt] {
        var codes: [UInt] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return codes }
            codes.append(code)
        }
    }

    private static func text(of code: UInt) -> String {
        String(unsafeUninitializedCapacity: 256) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return 0 }
                ERR_error_string_n(code, start, text.count)
                return strnlen(start, text.count)
            }
        }
    }

    /// Whether the queue held this reason of this library (`EC_R_…`, `ERR_LIB_…`).
    func isAbout(_ reason: CInt, library: CInt) -> Bool {
        codes.contains { ERR_GET_REASON($0) == reason && ERR_GET_LIB($0) == library }
    }
}

extension OpenSSLError: CustomStringConvertible {
    /// The operation and libcrypto's texts on one line.
    package var description: String {
        reasons.isEmpty ? "\(operation) failed" : "\(operation) failed: \(reasons.joined(separator: "; "))"
    }
}
