extension [UInt8] {
    /// Reads hexadecimal digits; a test's own typing errors show as an empty array.
    init(hexadecimal text: String) {
        var bytes: [UInt8] = []
        var rest = text[...]
        while rest.count >= 2 {
            guard let byte = UInt8(rest.prefix(2), radix: 16) else { break }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        self = rest.isEmpty ? bytes : []
    }
}
