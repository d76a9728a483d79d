import Domain
import Foundation
import Synchronization

/// Makes ids for requests that come without one: in the form of a UUID, and unlike any other of this or another process.
///
/// A random half names the process, a count that starts anywhere the request: the kernel is asked for randomness once, not
/// for each request. The ids are no secret and can be guessed.
/// Source: RFC 9562 section 5.8 (version 8, of one's own making).
final class RequestIDs: Sendable {
    private let process: UInt64
    private let next: Atomic<UInt64>

    init() {
        var generator = SystemRandomNumberGenerator()
        process = generator.next()
        next = Atomic(generator.next())
    }

    func make() -> String { Self.text(process, next.wrappingAdd(1, ordering: .relaxed).newValue) }

    /// The 16 bytes of two halves as a UUID's 36 characters, version and variant put in their places.
    static func text(_ first: UInt64, _ second: UInt64) -> String {
        let first = first & 0xFFFF_FFFF_FFFF_0FFF | 0x8000
        let second = second & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return String(unsafeUninitializedCapacity: 36) { characters in
            var place = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    characters[place] = UInt8(ascii: "-")
                    place += 1
                }
                let value = UInt8(truncatingIfNeeded: (digit < 16 ? first : second) >> (60 - 4 * (digit % 16))) & 15
                characters[place] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
                place += 1
            }
            return place
        }
    }
}
