import JSON

/// Randomness that repeats for the same seed (SplitMix64), and random documents made of it.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func value(depth: Int) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &self) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &self))
        case 2: return .number(JSONNumber(Int64.random(in: .min ... .max, using: &self)))
        case 3: return .number(JSONNumber(Int.random(in: -20...20, using: &self)))
        case 4: return JSONNumber(Double.random(in: -1e9...1e9, using: &self)).map(JSONValue.number) ?? .null
        case 5: return .string(string())
        case 6, 7:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...4, using: &self) { object[string()] = value(depth: depth - 1) }
            return .object(object)
        default: return .array((0..<Int.random(in: 0...4, using: &self)).map { _ in value(depth: depth - 1) })
        }
    }

    mutating func string() -> String {
        let alphabet: [Character] = [
            "a", "b", "Z", "0", " ", "\"", "\\", "/", "\n", "\u{1}", "é", "€", "😀", "\u{7F}", "\u{2028}",
        ]
        return String(
            (0..<Int.random(in: 0...12, using: &self)).compactMap { _ in alphabet.randomElement(using: &self) })
    }

    /// A document like those that the App Store signs, with a few members of chance.
    mutating func payload() -> [UInt8] {
        var object: JSONObject = [
            "transactionId": .string(String(UInt64.random(in: 0...(.max), using: &self))),
            "bundleId": "com.example.coins", "environment": "Sandbox", "price": 10990, "quantity": 1,
            "purchaseDate": .number(JSONNumber(Int64.random(in: 0...2_000_000_000_000, using: &self))),
            "isUpgraded": false, "signedDate": 1_698_148_900_000, "ratio": 0.25,
            "data": ["appAppleId": 1234, "names": ["a", "b\u{e9}", nil], "empty": [:]],
        ]
        for _ in 0..<Int.random(in: 0...3, using: &self) { object[string()] = value(depth: 2) }
        return JSONValue.object(object).serialized()
    }

    /// Replaces, inserts, removes, repeats or cuts a few bytes.
    mutating func damage(_ text: inout [UInt8]) {
        let grammar = Array("{}[]\",:\\/0123456789.eE+-truefalsn \n\u{1}é".utf8) + [0x80, 0xC0, 0xED, 0xFF]
        let position = Int.random(in: 0...text.count, using: &self)
        let byte = grammar.randomElement(using: &self) ?? 0
        switch Int.random(in: 0..<5, using: &self) {
        case 0 where position < text.count: text[position] = byte
        case 1 where position < text.count: text.remove(at: position)
        case 2: text.removeLast(text.count - position)
        case 3:
            let end = Int.random(in: position...text.count, using: &self)
            text.insert(contentsOf: text[position..<end], at: position)
        default: text.insert(byte, at: position)
        }
    }
}
