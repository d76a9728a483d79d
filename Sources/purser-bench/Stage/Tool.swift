import Foundation

/// A program of another package.
enum Tool: String, Sendable, CaseIterable {
    case nginx
    case wrk
    case openssl
    /// Also a load generator, but for HTTP/2.
    case h2load
    case strip
    /// Keeps a program to a core.
    case taskset
    /// Ends a program together with the one that started it.
    case setpriv

    /// Where the program is.
    ///
    /// - Throws: `BenchError` when it is not there.
    func path() throws(BenchError) -> String {
        // Servers live where only root looks.
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for folder in folders + ["/usr/sbin", "/sbin"] {
            let path = "\(folder)/\(rawValue)"
            if access(path, X_OK) == 0 { return path }
        }
        throw BenchError("\(rawValue) is missing")
    }

    var isThere: Bool { (try? path()) != nil }
}
