/// The id of a request, in its answer and its log line.
enum RequestID {
    /// The longest id taken from a caller, in characters.
    static let maximumLength = 128

    /// The caller's own id, if it is harmless in headers and logs.
    static func sane(_ text: String?) -> String? {
        guard let text, (1...maximumLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            })
        else { return nil }
        return text
    }
}
