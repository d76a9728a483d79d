/// Randomness that repeats for the same seed (SplitMix64).
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

    /// Replaces, inserts or removes a byte.
    mutating func damage(_ text: inout [UInt8]) {
        guard let position = text.indices.randomElement(using: &self) else { return }
        switch Int.random(in: 0..<3, using: &self) {
        case 0: text[position] = UInt8.random(in: .min ... .max, using: &self)
        case 1: text.remove(at: position)
        default: text.insert(Array("{}[]\",:0e-".utf8).randomElement(using: &self) ?? 0, at: position)
        }
    }
}
