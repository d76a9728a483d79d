/// The media types that a client accepts.
///
/// Source: RFC 9110 section 12.5.1. Parameters of media types other than their weight do not count; a weight that cannot be read
/// is left out.
struct AcceptHeader: Sendable {
    /// In thousandths, by type in lower case; the greatest where one is given several times.
    private var weights: [String: Int] = [:]

    init(_ headers: RequestHeaders) {
        for element in headers[values: .accept].flatMap({ HeaderText.split($0[...], at: UInt8(ascii: ",")) }) {
            let parts = HeaderText.split(element, at: UInt8(ascii: ";")).map(HeaderText.trim)
            guard let type = parts.first?.lowercased(), !type.isEmpty else { continue }
            let weight = parts.dropFirst().lazy.compactMap(Self.weight).first ?? 1000
            weights[type] = max(weights[type] ?? 0, weight)
        }
    }

    /// Whether the client prefers one type to another.
    func prefers(_ type: String, over other: String) -> Bool { weight(of: type) > weight(of: other) }

    /// The weight of a type, in thousandths: that of the most precise range that contains it.
    private func weight(of type: String) -> Int {
        let range = type.prefix { $0 != "/" } + "/*"
        return weights[type] ?? weights[String(range)] ?? weights["*/*"] ?? (weights.isEmpty ? 1000 : 0)
    }

    /// The weight that a parameter gives, such as `q=0.5`, of at most three decimals; nil for any other parameter.
    private static func weight(_ parameter: Substring) -> Int? {
        let bytes = Array(parameter.utf8.prefix(8))
        guard (3...7).contains(bytes.count), bytes[0] | 0x20 == UInt8(ascii: "q"), bytes[1] == UInt8(ascii: "="),
            bytes.count == 3 || bytes[3] == UInt8(ascii: ".")
        else { return nil }
        let decimals = bytes.dropFirst(4)
        guard decimals.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains) else { return nil }
        switch bytes[2] {
        case UInt8(ascii: "1"): return decimals.allSatisfy { $0 == UInt8(ascii: "0") } ? 1000 : nil
        case UInt8(ascii: "0"):
            let thousandths = decimals.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            return [1000, 100, 10, 1][decimals.count] * thousandths
        default: return nil
        }
    }
}
