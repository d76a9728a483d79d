/// Finds parts of private keys in whatever a program has written.
///
/// A part is any 10 digits of the Base64 of the private number, in each of its three alignments and both alphabets, or any 6 of
/// its bytes, as they are, in hexadecimal digits or in decimal numbers. Separators between digits do not hide a part. Base64
/// that has been encoded once more is found, too. Digits that hold other bits than those of the number do not count.
package struct KeyTraces: Sendable {
    /// How many bytes, and how many digits of Base64, are a part.
    private static let (byteCount, digitCount) = (6, 10)

    /// The parts with the name of their key, and which of their lowest 16 bits there are.
    private struct Parts: Sendable {
        private var names: [UInt128: String] = [:]
        private var isThere = [Bool](repeating: false, count: 1 << 16)

        mutating func add(_ part: UInt128, of name: String) {
            names[part] = name
            isThere[Int(truncatingIfNeeded: part & 0xFFFF)] = true
        }

        func name(_ part: UInt128) -> String? {
            isThere[Int(truncatingIfNeeded: part & 0xFFFF)] ? names[part] : nil
        }
    }

    private var bytes = Parts()
    private var digits = Parts()

    package init() {}

    /// Has a key searched for.
    ///
    /// - Parameters:
    ///   - number: its private number, big-endian.
    ///   - name: what findings call it.
    package mutating func add(_ number: [UInt8], named name: String) {
        for part in Self.windows(of: number, bits: 8, count: Self.byteCount) { bytes.add(part, of: name) }
        for alignment in 0..<3 {
            let encoded = Self.digits(of: number, alignment)
            for part in Self.windows(of: encoded, bits: 6, count: Self.digitCount) { digits.add(part, of: name) }
            for alphabet in [Self.alphabet, Self.urlAlphabet] {
                let text = encoded.map { alphabet[Int($0)] }
                for outer in 0..<3 {
                    let twice = Self.digits(of: text, outer)
                    for part in Self.windows(of: twice, bits: 6, count: Self.digitCount) { digits.add(part, of: name) }
                }
            }
        }
    }

    /// What is found in some content: the name of each key with the form of the part.
    package func findings(in content: some Sequence<UInt8>) -> Set<String> {
        var found: Set<String> = []
        var raw = Window(bits: 8, count: Self.byteCount)
        var encoded = Window(bits: 6, count: Self.digitCount)
        var hexadecimal = Window(bits: 4, count: 2 * Self.byteCount)
        var decimal = Window(bits: 8, count: Self.byteCount)
        var number: Int?
        for byte in content {
            if let name = raw.push(byte).flatMap(bytes.name) { found.insert("\(name), its bytes") }
            if let digit = Self.base64Value(byte), let name = encoded.push(digit).flatMap(digits.name) {
                found.insert("\(name), its Base64")
            }
            if let digit = Self.hexadecimalValue(byte), let name = hexadecimal.push(digit).flatMap(bytes.name) {
                found.insert("\(name), its hexadecimal digits")
            }
            if let digit = Self.hexadecimalValue(byte), digit < 10 {
                number = min((number ?? 0) * 10 + Int(digit), 1000)
            } else if let whole = number {
                number = nil
                guard let value = UInt8(exactly: whole) else { continue }
                if let name = decimal.push(value).flatMap(bytes.name) { found.insert("\(name), its numbers") }
            }
        }
        if let value = number.flatMap({ UInt8(exactly: $0) }), let name = decimal.push(value).flatMap(bytes.name) {
            found.insert("\(name), its numbers")
        }
        return found
    }

    /// What is found in a text.
    package func findings(in text: some StringProtocol) -> Set<String> { findings(in: text.utf8) }

    // MARK: Windows

    /// The last values of a sequence as one number.
    private struct Window {
        private let bits: Int
        private let count: Int
        private let mask: UInt128
        private var value: UInt128 = 0
        private var pushed = 0

        init(bits: Int, count: Int) {
            self.bits = bits
            self.count = count
            mask = (1 << UInt128(bits * count)) - 1
        }

        /// Takes the next value; nil as long as there are too few.
        mutating func push(_ next: UInt8) -> UInt128? {
            value = (value << UInt128(bits) | UInt128(next)) & mask
            pushed += 1
            return pushed >= count ? value : nil
        }
    }

    private static func windows(of values: [UInt8], bits: Int, count: Int) -> [UInt128] {
        var window = Window(bits: bits, count: count)
        return values.compactMap { window.push($0) }
    }

    // MARK: Digits

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlAlphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The values of the Base64 digits that hold bits of a content alone.
    ///
    /// `alignment`: how many bytes stand before the content, by threes.
    private static func digits(of content: [UInt8], _ alignment: Int) -> [UInt8] {
        let end = 8 * (alignment + content.count)
        let first = (8 * alignment + 5) / 6
        return (first..<(end / 6)).map { index -> UInt8 in
            (6 * index..<6 * index + 6).reduce(UInt8(0)) { value, position in
                let bit = position - 8 * alignment
                return value << 1 | content[bit / 8] >> UInt8(7 - bit % 8) & 1
            }
        }
    }

    private static func base64Value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
