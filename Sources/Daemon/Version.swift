import CVersion
import Curl
import OpenSSL
import Postgres
import StoreSQLite

/// The version of this program, and of the libraries that it has found when it was started.
package enum Version {
    package static let text = "0.1.0"

    /// The commit that it was built from, as git names it; nil for a build that did not say, as those for debugging.
    package static var commit: String? {
        let commit = String(cString: purser_commit())
        return commit.isEmpty ? nil : commit
    }

    /// By name: those that the system provides and may replace without this program being built anew.
    package static var libraries: [(name: String, version: String)] {
        // What libcurl says of itself begins with its name: `libcurl/8.5.0 OpenSSL/3.0.13`.
        let curl = CurlLibrary.version.prefix { $0 != " " }.split(separator: "/").last.map(String.init) ?? ""
        return [
            ("openssl", OpenSSLLibrary.version), ("curl", curl), ("sqlite", SQLiteStore.libraryVersion),
            ("libpq", PostgresLibrary.version),
        ]
    }

    /// One line a library after the program's own, for people.
    package static var report: String {
        (["purser \(text)", "  commit \(commit ?? "unknown")"] + libraries.map { "  \($0.name) \($0.version)" }).joined(
            separator: "\n")
    }
}
