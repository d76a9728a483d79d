import Domain
import Foundation

/// Which page is wanted of a list that is kept in the store.
///
/// A page token says behind which entry the next page begins, so entries that come or go meanwhile neither repeat nor hide
/// others.
struct PageRequest: Sendable {
    /// The query parameters that it reads.
    private static let parameters: Set<String> = ["pageSize", "pageToken"]
    /// Entries of a page when the caller does not say.
    static let defaultSize = 50

    /// The most entries of the page.
    let size: Int
    private let position: String?
    private let query: String
    private let tokens: PageTokenCoder

    /// Reads the page's parameters; every other one of the request belongs to the list and must stay from page to page.
    ///
    /// `app`: nil for a list that is of no app.
    init(
        _ fields: inout FieldReader, of list: String, _ app: App?, _ input: RequestInput, maximumSize: Int,
        _ tokens: PageTokenCoder
    ) {
        let filters = input.query.filter { !Self.parameters.contains($0.name) }.map { [$0.name, $0.value] }
        let canonical = Set(filters).sorted { $0.lexicographicallyPrecedes($1) }
        let query = ([app?.slug ?? "", list] + canonical.flatMap(\.self)).map { "\($0.utf8.count):\($0)" }.joined()
        self.query = query
        self.tokens = tokens
        size =
            fields.integer("pageSize", in: .query, from: 1...maximumSize, isRequired: false) ?? Self.defaultSize
        position = fields.text("pageToken", in: .query).flatMap { token in
            fields.check { () throws(ServiceError) in try tokens.position(token, query: query) }
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
    ///
    /// `hasMore`: whether others follow those that were found; nil where that is told by there being one too many.
    func page<Entry>(
        _ found: [Entry], hasMore: Bool? = nil, position: (Entry) -> String
    ) -> (entries: ArraySlice<Entry>, nextPageToken: String?) {
        let entries = found.prefix(size)
        guard hasMore ?? (found.count > size), let last = entries.last else { return (entries, nil) }
        return (entries, tokens.text(position: position(last), query: query))
    }
}
