package import JSON

/// An object of Apple's wire contract, described once by the list of its fields.
///
/// Reading is lenient: a field that is missing, null or of another type than Apple's is nil. Members that are not in the
/// list are retained, so that what Apple adds later is written again. Writing has one form: the fields in the order of the
/// list, then the additional members by the byte order of their names; equal models give equal bytes.
package protocol WireModel: WireValue {
    /// A model without any field.
    init()

    /// The fields in the order in which they are written.
    static var fields: [WireField<Self>] { get }

    /// The members that no field stands for, by name.
    var additional: [UntrustedText: JSONValue] { get set }
}

extension WireModel {
    /// A model with what the closure sets.
    package init<Failure: Error>(_ set: (inout Self) throws(Failure) -> Void) throws(Failure) {
        self.init()
        try set(&self)
    }

    /// Reads a body or the decoded payload of a JWS.
    ///
    /// - Throws: ``JSONError`` if it is not one JSON object.
    package init(parsing bytes: [UInt8]) throws(JSONError) {
        self.init(try JSONScanner.members(of: bytes))
    }

    /// Takes the fields from members that have been scanned already.
    package init(_ members: JSONMembers) {
        self.init()
        for field in Self.fields {
            if let slice = members[field.name] { field.read(slice, &self) }
        }
        for (name, slice) in members where !Self.hasField(name) { additional[name] = slice.value }
    }

    package init?(_ slice: JSONSlice) {
        guard let members = slice.object else { return nil }
        self.init(members)
    }

    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for field in Self.fields { field.write(self, &writer) }
            let others = additional.sorted { $0.key < $1.key }
            for (name, value) in others {
                writer.name(name)
                writer.value(value)
            }
        }
    }

    /// The model as JSON.
    package func serialized() -> [UInt8] {
        var writer = JSONWriter(capacity: 1024)
        writer.value(self)
        return writer.bytes
    }

    /// The names of required fields that are nil, in the order of the fields; those of models inside are not asked.
    package var missingFields: [String] {
        Self.fields.filter { $0.isRequired && !$0.isPresent(self) }.map(\.name)
    }

    private static func hasField(_ name: UntrustedText) -> Bool {
        fields.contains { UntrustedText($0.name) == name }
    }
}

/// One field of a `WireModel`: its name on the wire and the property that holds it.
package struct WireField<Model: Sendable>: Sendable {
    package let name: String
    /// Whether Apple documents that the field is always there; what is received is read without it all the same.
    package let isRequired: Bool
    let read: @Sendable (JSONSlice, inout Model) -> Void
    let write: @Sendable (Model, inout JSONWriter) -> Void
    let isPresent: @Sendable (Model) -> Bool

    package init<Value: WireValue>(
        _ name: String, _ property: any WritableKeyPath<Model, Value?> & Sendable, isRequired: Bool = false
    ) {
        self.name = name
        self.isRequired = isRequired
        read = { slice, model in model[keyPath: property] = Value(slice) }
        write = { model, writer in writer.memberIfPresent(name, model[keyPath: property]) }
        isPresent = { model in model[keyPath: property] != nil }
    }
}
