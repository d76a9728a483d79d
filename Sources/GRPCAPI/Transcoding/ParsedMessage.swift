import JSON

/// A message as it came, its values sorted by field.
struct ParsedMessage {
    /// Of which the message is a part.
    let bytes: [UInt8]
    /// By the places of the fields in their message, each in the order in which they came.
    private(set) var values: [[WireReader.Value]]
    /// The numbers of fields that the message does not have.
    private(set) var unknown: [Int] = []

    /// How many values it has.
    private(set) var count = 0

    /// Sorts the fields in `range`, or all; `limit`: the most values that there may be.
    init(
        _ bytes: [UInt8], _ range: Range<Int>?, _ message: ProtoMessage, atMost limit: Int = .max
    ) throws(WireReader.Malformed) {
        self.bytes = bytes
        values = Array(repeating: [], count: message.fields.count)
        var reader = WireReader(bytes, in: range)
        while let (number, value) = try reader.next() {
            count += 1
            guard count <= limit else { throw WireReader.Malformed() }
            if let place = message.place(ofNumber: number) {
                values[place].append(value)
            } else {
                unknown.append(number)
            }
        }
    }
}

extension MessageReader {
    /// One value of a field, as what its type makes of it.
    enum Element {
        case boolean(Bool)
        case integer(Int64)
        case double(Double)
        case text(UntrustedText)
        case bytes(ArraySlice<UInt8>)
        /// The text that it has in JSON; empty for what is said to be nothing in particular.
        case enumeration(String)
        /// With the message's place in the contract.
        case message(Int, ParsedMessage)
    }
}
