import Domain

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
