/// Addresses of the Internet Protocol in their text forms.
package enum IPAddress {
    /// The longest text that can be one, in bytes.
    static let maximumLength = 45

    /// Whether a text is an IPv4 or IPv6 address, without port, zone or prefix length.
    ///
    /// Source: RFC 6943 section 3.1.1 (the strict form of IPv4), RFC 4291 section 2.2
    package static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= maximumLength, text.utf8.allSatisfy({ $0 < 0x80 }) else { return false }
        return isIPv4(text[...]) || isIPv6(text)
    }

    private static func isIPv4(_ text: Substring) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4
            && parts.allSatisfy { part in
                guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                    part.utf8.count == 1 || part.first != "0", let number = Int(part)
                else { return false }
                return number <= 255
            }
    }

    private static func isIPv6(_ text: String) -> Bool {
        guard let gap = text.firstRange(of: "::") else { return groups(text[...]) == 8 }
        guard let before = groups(text[..<gap.lowerBound], isEnd: false), let after = groups(text[gap.upperBound...])
        else { return false }
        // The gap stands for one group of zeros at least.
        return before + after <= 7
    }

    /// How many groups of 16 bits a text writes; nil when it is no such text.
    ///
    /// An IPv4 address at the end is two.
    private static func groups(_ text: Substring, isEnd: Bool = true) -> Int? {
        guard !text.isEmpty else { return 0 }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        var count = 0
        for (index, part) in parts.enumerated() {
            if isEnd, index == parts.count - 1, part.contains(".") {
                guard isIPv4(part) else { return nil }
                count += 2
            } else {
                guard (1...4).contains(part.utf8.count), part.allSatisfy(\.isHexDigit) else { return nil }
                count += 1
            }
        }
        return count
    }
}
