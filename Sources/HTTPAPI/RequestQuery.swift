import Domain
import Foundation

/// Reads the query of a request target.
///
/// Source: RFC 3986 section 3.4; `+` stands for itself.
enum QueryString {
    /// The most parameters of one request.
    static let maximumParameters = 200

    /// Splits and percent-decodes a query.
    ///
    /// - Throws: `invalidRequest` when there are too many parameters or one is not valid percent-encoded UTF-8.
    static func parse(_ query: String?) throws(ServiceError) -> [(name: String, value: String)] {
        guard let query, !query.isEmpty else { return [] }
        let pairs = query.utf8.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= maximumParameters else {
            throw .invalid([
                Violation(field: "query", rule: "count", message: "At most \(maximumParameters) query parameters.")
            ])
        }
        var result: [(name: String, value: String)] = []
        for pair in pairs {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map(Substring.init)
            guard let name = PercentDecoding.decode(parts[0]),
                let value = parts.count > 1 ? PercentDecoding.decode(parts[1]) : ""
            else {
                throw .invalid([
                    Violation(
                        field: "query", rule: "encoding", message: "The query is not valid percent-encoded UTF-8.")
                ])
            }
            result.append((name, value))
        }
        return result
    }
}

/// Undoes percent-encoding (RFC 3986 section 2.1).
enum PercentDecoding {
    /// The text that was encoded; nil when that is not valid UTF-8.
    static func decode(_ text: Substring) -> String? {
        // Nearly all texts are as they are.
        text.utf8.contains(UInt8(ascii: "%")) ? text.removingPercentEncoding : String(text)
    }
}

// What the lists that are kept in the store are filtered by.

extension RequestInput {
    /// The values of a query parameter that may be repeated; none means all.
    ///
    /// - Throws: `invalidRequest`.
    func choices<Choice: RawRepresentable & CaseIterable & Hashable>(
        _ name: String, _ type: Choice.Type
    ) throws(ServiceError) -> Set<Choice> where Choice.RawValue == String {
        var choices: Set<Choice> = []
        for parameter in query where parameter.name == name {
            guard let choice = Choice(rawValue: parameter.value) else {
                let known = Choice.allCases.map { "`\($0.rawValue)`" }.joined(separator: ", ")
                throw .invalid([
                    Violation(
                        field: name, rule: "enum",
                        message: "`\(name)` must be one of \(known); it may be given several times.")
                ])
            }
            choices.insert(choice)
        }
        return choices
    }

    /// The query parameter `user`.
    ///
    /// - Throws: `invalidRequest`.
    func userFilter() throws(ServiceError) -> UserID? {
        guard let text = try single("user") else { return nil }
        return try UserID(text)
    }

    /// The query parameter `transactionId`.
    ///
    /// - Throws: `invalidRequest`.
    func transactionFilter() throws(ServiceError) -> String? {
        guard let text = try single("transactionId") else { return nil }
        try AppleIdentifier.transaction.check(text, field: "transactionId")
        return text
    }

    /// A query parameter that is a time.
    ///
    /// - Throws: `invalidRequest`.
    func time(_ name: String) throws(ServiceError) -> Date? {
        guard let text = try single(name) else { return nil }
        guard let date = Timestamp.date(text) else {
            throw .invalid([
                Violation(
                    field: name, rule: "format",
                    message: "`\(name)` must be an RFC 3339 time, such as 2026-01-31T12:00:00Z.")
            ])
        }
        return date
    }

    /// A query parameter that is a whole number.
    ///
    /// - Throws: `invalidRequest`.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(ServiceError) -> Int? {
        guard let text = try single(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .invalid([
                Violation(
                    field: name, rule: "range",
                    message: "`\(name)` is an integer from \(range.lowerBound) to \(range.upperBound).")
            ])
        }
        return number
    }
}

/// Which page is wanted of a list that is kept in the store.
///
/// A page token says behind which entry the next page begins, so entries that come or go meanwhile neither repeat nor hide
/// others.
struct PageRequest: Sendable {
    /// The query parameters that it reads.
    static let parameters: Set<String> = ["pageSize", "pageToken"]
    /// Entries of a page when the caller does not say.
    static let defaultSize = 50

    /// The most entries of the page.
    let size: Int
    private let position: String?
    private let query: String
    private let tokens: PageTokenCoder

    /// Reads the page's parameters; every other one of the request belongs to the list and must stay from page to page.
    ///
    /// - Throws: `invalidRequest`, `pageTokenInvalid`.
    init(
        of list: String, _ app: App, _ input: RequestInput, maximumSize: Int, _ tokens: PageTokenCoder
    ) throws(ServiceError) {
        let filters = input.query.filter { !Self.parameters.contains($0.name) }.map { [$0.name, $0.value] }
        let canonical = Set(filters).sorted { $0.lexicographicallyPrecedes($1) }
        query = ([app.slug, list] + canonical.flatMap(\.self)).map { "\($0.utf8.count):\($0)" }.joined()
        self.tokens = tokens
        size = try input.integer("pageSize", in: 1...maximumSize) ?? Self.defaultSize
        position =
            if let token = try input.single("pageToken") {
                try tokens.position(token, query: query)
            } else {
                nil
            }
    }

    /// How many entries to ask for: one more than the page takes tells whether there is another page.
    var limit: Int { size + 1 }

    /// The entry behind which the page begins; nil for the first page.
    ///
    /// `read`: reads what `page` was given for the entry.
    ///
    /// - Throws: `pageTokenInvalid`.
    func position<Position>(_ read: (String) -> Position?) throws(ServiceError) -> Position? {
        guard let position else { return nil }
        guard let read = read(position) else {
            throw ServiceError(.pageTokenInvalid, "This page token is not one of this list; start from the first page.")
        }
        return read
    }

    /// The page's entries out of those that were found, and the token of the next page.
    func page<Entry>(
        _ found: [Entry], position: (Entry) -> String
    ) -> (entries: ArraySlice<Entry>, nextPageToken: String?) {
        let entries = found.prefix(size)
        guard found.count > size, let last = entries.last else { return (entries, nil) }
        return (entries, tokens.text(position: position(last), query: query))
    }
}
