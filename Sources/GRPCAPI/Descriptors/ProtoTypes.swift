import JSON

/// A message of the contract, as its descriptor tells.
struct ProtoMessage: Sendable {
    /// Messages of Google's that are written in a way of their own.
    enum WellKnown: Sendable {
        /// `google.protobuf.Timestamp`: a time in RFC 3339.
        case timestamp
        /// `google.protobuf.Struct`: any object.
        case object
    }

    /// With its package, as `purser.v1.Delivery`.
    let fullName: String
    let fields: [ProtoField]
    let wellKnown: WellKnown?
    /// Whether it is one entry of a map.
    let isMapEntry: Bool
    /// Whether it stands for a list, which is its one field.
    let isList: Bool
    /// The place in ``fields`` of the one that takes what no other does.
    let additional: Int?
    private let places: [Int: Int]
    private let placesByName: [UntrustedText: Int]

    init(fullName: String, fields: [ProtoField], isMapEntry: Bool, isList: Bool) {
        self.fullName = fullName
        self.fields = fields
        self.isMapEntry = isMapEntry
        self.isList = isList
        additional = fields.firstIndex(where: \.isAdditional)
        wellKnown =
            switch fullName {
            case "google.protobuf.Timestamp": .timestamp
            case "google.protobuf.Struct": .object
            default: nil
            }
        places = Dictionary(fields.enumerated().map { ($1.number, $0) }) { first, _ in first }
        placesByName = Dictionary(
            fields.enumerated().filter { !$1.isAdditional }.map { (UntrustedText($1.jsonName), $0) }
        ) { first, _ in first }
    }

    /// The place in ``fields`` of the one with this number.
    func place(ofNumber number: Int) -> Int? { places[number] }

    /// The place in ``fields`` of the one that a member of a JSON object becomes.
    func place(ofMember name: UntrustedText) -> Int? { placesByName[name] }
}

/// A field of a message.
struct ProtoField: Sendable {
    /// What it holds, each of them if there are several.
    enum Kind: Sendable, Equatable {
        case boolean
        case int32
        case int64
        case double
        case text
        /// Base64 in JSON.
        case bytes
        /// The enumeration's place in the contract.
        case enumeration(Int)
        /// The message's place in the contract.
        case message(Int)
        /// None that ours have.
        case other
    }

    /// Where it stands in the request of HTTP that it is part of.
    enum Place: UInt64, Sendable {
        case body = 0
        case path
        case query
        case header
        case prefer
    }

    let name: String
    /// Its name in JSON, in the query or in the header.
    let jsonName: String
    let number: Int
    let kind: Kind
    let isRepeated: Bool
    /// Whether something that is false, empty or zero is told from nothing.
    let hasPresence: Bool
    let place: Place
    /// Whether it takes what the object has besides, by name.
    let isAdditional: Bool
    /// Whether the text is JSON.
    let isJSONText: Bool
}

/// An enumeration: its numbers and the texts that they have in JSON.
struct ProtoEnum: Sendable {
    let fullName: String
    private let texts: [Int32: String]
    private let numbers: [UntrustedText: Int32]

    init(fullName: String, values: [(number: Int32, text: String)]) {
        self.fullName = fullName
        texts = Dictionary(values.map { ($0.number, $0.text) }) { first, _ in first }
        numbers = Dictionary(values.map { (UntrustedText($0.text), $0.number) }) { first, _ in first }
    }

    /// Nil for a number that nothing has.
    func text(of number: Int32) -> String? { texts[number] }

    func number(of text: UntrustedText) -> Int32? { numbers[text] }
}

/// A method and the route that it calls.
struct ProtoMethod: Sendable {
    /// The route of HTTP.
    struct Route: Sendable {
        var method = ""
        /// With its parameters in braces.
        var path = ""
        /// The field that is the body, `*` for all that stand nowhere else; empty where there is none.
        var body = ""
        var listeners: [String] = []
        var scopes: [String] = []
        /// Whether it is asked again and again.
        var watches = false
    }

    /// With its package, as `purser.v1.EventsService`.
    let service: String
    let name: String
    /// The places of the messages in the contract.
    let input: Int
    let output: Int
    let streamsAnswers: Bool
    let route: Route

    /// As it stands in a call's path, without the first slash.
    var path: String { "\(service)/\(name)" }
}
