import JSON

/// One field of a ``WireModel``: its name on the wire and the property that holds it.
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
