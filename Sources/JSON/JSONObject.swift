/// The members of an object in their order, each name once.
///
/// Names are compared byte by byte, without Unicode normalisation, as RFC 8259 section 8.3 advises. Equality takes the
/// order into account.
package struct JSONObject: Sendable, Equatable {
    /// A name and its value.
    package struct Member: Sendable, Equatable {
        package let key: String
        package var value: JSONValue

        package init(key: String, value: JSONValue) {
            self.key = key
            self.value = value
        }

        /// Swift compares strings by canonical equivalence; names here by their bytes.
        package static func == (left: Member, right: Member) -> Bool {
            left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
        }
    }

    package private(set) var members: [Member]

    /// An object without members.
    package init() { members = [] }

    /// Members whose names are known to differ.
    init(unique members: [Member]) { self.members = members }

    package var keys: [String] { members.map(\.key) }

    /// The value of a name; setting nil removes the member, setting a new name appends it.
    package subscript(_ key: String) -> JSONValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): members.remove(at: position)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    private func position(of key: String) -> Int? {
        members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
    }
}
