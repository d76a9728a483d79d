import Domain
import Testing

/// The networks that callbacks may not reach, row by row.
struct SpecialPurposeNetworkTests {
    /// A network of the registries, by its first and last address.
    struct Range: Sendable, CustomTestStringConvertible {
        let text: String
        let rfc: Int
        let first: String
        let last: String

        init(_ text: String, _ rfc: Int, _ first: String, _ last: String) {
            (self.text, self.rfc, self.first, self.last) = (text, rfc, first, last)
        }

        var testDescription: String { text }
    }

    private static let ranges: [Range] = [
        Range("0.0.0.0/8", 1122, "0.0.0.0", "0.255.255.255"),
        Range("10.0.0.0/8", 1918, "10.0.0.0", "10.255.255.255"),
        Range("100.64.0.0/10", 6598, "100.64.0.0", "100.127.255.255"),
        Range("127.0.0.0/8", 1122, "127.0.0.0", "127.255.255.255"),
        Range("169.254.0.0/16", 3927, "169.254.0.0", "169.254.255.255"),
        Range("172.16.0.0/12", 1918, "172.16.0.0", "172.31.255.255"),
        Range("192.0.0.0/24", 6890, "192.0.0.0", "192.0.0.255"),
        Range("192.0.2.0/24", 5737, "192.0.2.0", "192.0.2.255"),
        Range("192.31.196.0/24", 7535, "192.31.196.0", "192.31.196.255"),
        Range("192.52.193.0/24", 7450, "192.52.193.0", "192.52.193.255"),
        Range("192.88.99.0/24", 7526, "192.88.99.0", "192.88.99.255"),
        Range("192.168.0.0/16", 1918, "192.168.0.0", "192.168.255.255"),
        Range("192.175.48.0/24", 7534, "192.175.48.0", "192.175.48.255"),
        Range("198.18.0.0/15", 2544, "198.18.0.0", "198.19.255.255"),
        Range("198.51.100.0/24", 5737, "198.51.100.0", "198.51.100.255"),
        Range("203.0.113.0/24", 5737, "203.0.113.0", "203.0.113.255"),
        Range("224.0.0.0/4", 5771, "224.0.0.0", "239.255.255.255"),
        Range("240.0.0.0/4", 1112, "240.0.0.0", "255.255.255.255"),
        Range("::/128", 4291, "::", "::"),
        Range("::1/128", 4291, "::1", "::1"),
        Range("::/96", 4291, "::", "::ffff:ffff"),
        Range("::ffff:0:0/96", 4291, "::ffff:0:0", "::ffff:ffff:ffff"),
        Range("::ffff:0:0:0/96", 2765, "::ffff:0:0:0", "::ffff:0:ffff:ffff"),
        Range("64:ff9b:1::/48", 8215, "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"),
        Range("100::/64", 6666, "100::", "100::ffff:ffff:ffff:ffff"),
        Range("100:0:0:1::/64", 9780, "100:0:0:1::", "100:0:0:1:ffff:ffff:ffff:ffff"),
        Range("2001::/23", 2928, "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("2001::/32", 4380, "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("2001:db8::/32", 3849, "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("2002::/16", 3056, "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("2620:4f:8000::/48", 7534, "2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"),
        Range("3fff::/20", 9637, "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("5f00::/16", 9602, "5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("fc00::/7", 4193, "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("fe80::/10", 4291, "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("fec0::/10", 3879, "fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
        Range("ff00::/8", 4291, "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]

    /// An address as a number, and how many bytes it has.
    private struct Number: Equatable {
        var value: UInt128
        let count: Int

        init(_ text: String) throws {
            let bytes = try #require(SourceNetwork.writtenBytes(of: text), "\(text)")
            (value, count) = (bytes.reduce(0) { $0 << 8 | UInt128($1) }, bytes.count)
        }

        var bytes: [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: value >> ((count - 1 - $0) * 8)) } }

        /// Nil beyond the last address, and before the first.
        func moved(by step: Int) -> Number? {
            let most = count == 4 ? UInt128(UInt32.max) : .max
            var moved = self
            if step < 0 {
                guard value > 0 else { return nil }
                moved.value -= 1
            } else {
                guard value < most else { return nil }
                moved.value += 1
            }
            return moved
        }
    }

    private func isListed(_ address: Number) throws -> Bool {
        for range in Self.ranges {
            let (first, last) = (try Number(range.first), try Number(range.last))
            if first.count == address.count, (first.value...last.value).contains(address.value) { return true }
        }
        return false
    }

    @Test func `the table has these rows, each with its RFC`() {
        #expect(
            SpecialPurposeNetworks.rows.map { "\($0.text) \($0.rfc)" } == Self.ranges.map { "\($0.text) \($0.rfc)" })
        #expect(SpecialPurposeNetworks.rows.allSatisfy { !$0.purpose.isEmpty })
    }

    @Test(arguments: ranges) func `the first and the last address of a network are refused`(range: Range) throws {
        for text in [range.first, range.last] {
            #expect(try !CallbackPolicy().admits(address: Number(text).bytes), "\(text)")
        }
    }

    @Test(arguments: ranges) func `the addresses around a network are admitted, unless another network has them`(
        range: Range
    ) throws {
        for neighbour in [try Number(range.first).moved(by: -1), try Number(range.last).moved(by: 1)] {
            guard let neighbour else { continue }
            #expect(try CallbackPolicy().admits(address: neighbour.bytes) == !isListed(neighbour), "\(neighbour)")
        }
    }

    @Test func `what is no address is refused`() {
        for count in [0, 1, 3, 5, 15, 17] {
            #expect(!CallbackPolicy().admits(address: Array(repeating: 8, count: count)))
        }
    }
}
