import Foundation

/// Requests with text that takes quadratic time to normalise.
enum HostileRequest {
    /// Combining marks of class 230 before as many of class 220, which normalisation must sort (UAX #15).
    ///
    /// `count`: the size in bytes of UTF-8, at most.
    static func marks(_ count: Int) -> [UInt8] {
        let marks = max(0, count - 1) / 4
        // U+0300 and U+0316.
        let (above, below): ([UInt8], [UInt8]) = ([0xCC, 0x80], [0xCC, 0x96])
        return [UInt8(ascii: "a")] + [above, below].flatMap { Array([[UInt8]](repeating: $0, count: marks).joined()) }
    }

    /// A JSON object of one member.
    static func object(_ name: [UInt8], _ value: [UInt8]) -> [UInt8] {
        Array("{\"".utf8) + name + Array("\":".utf8) + value + Array("}".utf8)
    }

    /// A JSON string of bytes that need no escape.
    static func quoted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")] }

    /// A request of HTTP/1.1.
    static func request(
        _ method: String, _ target: String, _ fields: [(name: String, value: [UInt8])] = [], body: [UInt8]? = nil
    ) -> [UInt8] {
        var bytes = Array("\(method) \(target) HTTP/1.1\r\nHost: a\r\n".utf8)
        for (name, value) in fields { bytes += Array("\(name): ".utf8) + value + Array("\r\n".utf8) }
        if let body { bytes += Array("Content-Length: \(body.count)\r\n".utf8) }
        return bytes + Array("\r\n".utf8) + (body ?? [])
    }

    /// A request with a JSON body.
    static func post(_ body: [UInt8], to target: String, token: String? = nil) -> [UInt8] {
        var fields = [(name: "Content-Type", value: Array("application/json".utf8))]
        if let token { fields.append(("Authorization", Array("Bearer \(token)".utf8))) }
        return request("POST", target, fields, body: body)
    }
}
