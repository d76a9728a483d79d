/// One node of the configuration file, with its key path and its place, so that whoever reads it can say where it is wrong.
struct ConfigurationElement: Sendable {
    enum Content: Sendable {
        /// A scalar exactly as written, whatever YAML takes it for: numbers and words are told apart by who reads them.
        case text(String)
        /// A key without a value, `null` or `~`.
        case empty
        case list([ConfigurationElement])
        case table([Member])
    }

    /// One entry of a table.
    struct Member: Sendable {
        let name: String
        /// Where the name stands.
        let origin: ConfigurationOrigin
        let value: ConfigurationElement
    }

    /// The key path, such as `keys[0].id`; empty for the whole file.
    let key: String
    /// Where a text stands; for everything else where its name stands, since that is what an operator looks for.
    let origin: ConfigurationOrigin
    let content: Content
    /// Where in a table each name first stands, so that a look-up costs the same in a table of ten thousand apps; empty for
    /// small ones, which are searched.
    private let places: [String: Int]
    private static let smallCount = 16

    init(key: String, origin: ConfigurationOrigin, content: Content) {
        self.key = key
        self.origin = origin
        self.content = content
        guard case .table(let members) = content, members.count > Self.smallCount else {
            places = [:]
            return
        }
        places = Dictionary(members.enumerated().map { ($1.name, $0) }) { first, _ in first }
    }

    /// What a reader finds in place of what it expects.
    var kind: String {
        switch content {
        case .text: "a single value"
        case .empty: "nothing"
        case .list: "a list"
        case .table: "a table of keys"
        }
    }

    /// The key path of an entry of this table.
    func key(of name: String) -> String { key.isEmpty ? name : "\(key).\(name)" }

    /// The entries, if this is a table.
    var members: [Member] {
        guard case .table(let members) = content else { return [] }
        return members
    }

    /// The entry with a name, the first if there are several.
    func member(_ name: String) -> Member? {
        let members = members
        guard members.count > Self.smallCount else { return members.first { $0.name == name } }
        return places[name].map { members[$0] }
    }

    /// Every text that is reached through tables alone, by its path; `tables` of this one are left out.
    func texts(besides tables: Set<String> = []) -> [(path: [String], text: String)] {
        members.flatMap { member -> [(path: [String], text: String)] in
            switch member.value.content {
            case .text(let text): [([member.name], text)]
            case .empty, .list: []
            case .table where tables.contains(member.name): []
            case .table: member.value.texts().map { ([member.name] + $0.path, $0.text) }
            }
        }
    }

    /// The element at a path of table entries.
    func element(at path: some Collection<String>) -> ConfigurationElement? {
        guard let name = path.first else { return self }
        return member(name)?.value.element(at: path.dropFirst())
    }

    /// The element with a key path, wherever it is.
    func element(withKey key: String) -> ConfigurationElement? {
        if self.key == key { return self }
        let children =
            switch content {
            case .list(let elements): elements
            case .table(let members): members.map(\.value)
            case .text, .empty: [ConfigurationElement]()
            }
        for child in children {
            if let found = child.element(withKey: key) { return found }
        }
        return nil
    }
}
