import AppStoreAPI
import NIOHTTP1

/// How one exchange with a notification's receiver ended.
enum NotificationAnswer: Sendable, Equatable {
    case result(SendAttemptResult)
    /// The receiver wants it elsewhere: the `Location` header.
    case redirection(String)
}

extension NotificationAnswer {
    /// The statuses by which a receiver confirms a notification.
    private static let confirmations = 200...206
    /// Redirections that repeat the request as it is.
    private static let redirections: Set<Int> = [301, 302, 307, 308]
    /// Character sets in which an answer may be.
    private static let characterSets: Set<String> = [
        "utf-8", "us-ascii", "iso-8859-1", "utf-16", "utf-16be", "utf-16le", "windows-1252",
    ]

    /// Judges a response by its status and headers.
    init(_ head: HTTPResponseHead) {
        let status = Int(head.status.code)
        if Self.redirections.contains(status) {
            self = head.headers.first(name: "Location").map { .redirection($0) } ?? .result(.invalidResponse)
        } else if !Self.confirmations.contains(status) {
            self = .result(.unsuccessfulHTTPResponseCode)
        } else if let name = Self.characterSet(head.headers), !Self.characterSets.contains(name) {
            self = .result(.unsupportedCharset)
        } else {
            self = .result(.success)
        }
    }

    private static func characterSet(_ headers: HTTPHeaders) -> String? {
        let parameters = headers.first(name: "Content-Type")?.lowercased().split(separator: ";").dropFirst() ?? []
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { !" \t\"".contains($0) } }
            if parts.count == 2, parts[0] == "charset" { return parts[1] }
        }
        return nil
    }
}
