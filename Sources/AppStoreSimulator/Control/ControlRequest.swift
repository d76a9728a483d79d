/// A request to the control port whose route is known.
struct ControlRequest: Sendable {
    /// The values in the path, in order.
    let parameters: [String]
    let query: [QueryItem]
    let bytes: [UInt8]

    /// The body, in which only these members may be; an absent body has none.
    ///
    /// - Throws: ``ControlError/invalid(_:)``
    func body(_ allowed: [String]) throws(ControlError) -> ControlBody {
        try ControlBody(bytes.isEmpty ? Array("{}".utf8) : bytes, allowed: allowed)
    }

    /// The value of a parameter of the query.
    func queryValue(_ name: String) -> String? { query.last { $0.name == name }?.value }
}
