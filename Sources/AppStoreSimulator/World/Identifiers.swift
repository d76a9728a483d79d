/// All identifiers that Apple assigns.
struct Identifiers: Sendable {
    private var generator: SeededGenerator
    /// 15 digits in production, 16 beginning with 2000000 in the sandbox.
    private var transactions: [SimulatedEnvironment: IdentifierSequence]
    private var lineItems: [SimulatedEnvironment: IdentifierSequence]
    /// 18 digits.
    private var appTransactions: IdentifierSequence
    private var keys: IdentifierSequence
    private var orders: SeededGenerator

    init(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let production: ClosedRange<UInt64> = 430_000_000_000_000...439_999_999_999_999
        let sandbox: ClosedRange<UInt64> = 2_000_000_100_000_000...2_000_000_499_999_999
        func sequences() -> [SimulatedEnvironment: IdentifierSequence] {
            [
                .production: IdentifierSequence(from: production, largestGap: 99_991, using: &generator),
                .sandbox: IdentifierSequence(from: sandbox, largestGap: 97, using: &generator),
            ]
        }
        transactions = sequences()
        lineItems = sequences()
        appTransactions = IdentifierSequence(
            from: 704_000_000_000_000_000...704_999_999_999_999_999, largestGap: 999_983, using: &generator)
        keys = IdentifierSequence(from: 1_000_000_000...1_999_999_999, largestGap: 997, using: &generator)
        self.generator = generator
        // One of its own, so that orders leave the other identifiers as they are.
        orders = SeededGenerator(seed: seed &+ 0x006f_7264_6572_7321)
    }

    mutating func transaction(in environment: SimulatedEnvironment) -> String {
        transactions[environment]?.next(using: &generator) ?? ""
    }

    mutating func lineItem(in environment: SimulatedEnvironment) -> String {
        lineItems[environment]?.next(using: &generator) ?? ""
    }

    /// Ten capital letters and digits, the first of them an M.
    mutating func order() -> String {
        let characters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        return "M" + String((0..<9).map { _ in characters[Int.random(in: 0..<characters.count, using: &orders)] })
    }

    mutating func appTransaction() -> String { appTransactions.next(using: &generator) }

    /// Ten characters, as the ids of keys have.
    mutating func key() -> String { keys.next(using: &generator) }
}

/// Rising numbers with gaps, which look like Apple's and come out the same for the same seed.
struct IdentifierSequence: Sendable {
    private var last: UInt64
    private let largestGap: UInt64

    init(from start: ClosedRange<UInt64>, largestGap: UInt64, using generator: inout SeededGenerator) {
        last = UInt64.random(in: start, using: &generator)
        self.largestGap = largestGap
    }

    mutating func next(using generator: inout SeededGenerator) -> String {
        last += UInt64.random(in: 1...largestGap, using: &generator)
        return String(last)
    }
}

/// Random numbers that come out the same for the same seed: SplitMix64, which needs one word of state and passes the usual tests.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
