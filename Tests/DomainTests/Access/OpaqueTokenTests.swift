import Domain
import Foundation
import Testing

/// The form of our bearer tokens.
struct OpaqueTokenTests {
    private func token(_ generator: inout SystemRandomNumberGenerator) -> OpaqueToken {
        OpaqueToken.generate { count in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) } }
    }

    @Test func `the documented expression finds a token in a text, and its checksum tells it from a look-alike`() throws
    {
        var generator = SystemRandomNumberGenerator()
        let expression = try Regex(OpaqueToken.pattern)
        for _ in 0..<200 {
            let token = token(&generator)
            let found = "key=\"\(token.text)\";".firstMatch(of: expression).map { String($0.output[0].substring ?? "") }
            #expect(found == token.text)
            guard case .token(let id) = OpaqueToken.read(token.text) else {
                Issue.record("\(token.id) is not read as a token")
                continue
            }
            #expect(id == token.id && OpaqueToken.isID(token.id) && token.text.hasPrefix("prs_" + token.id))
        }
    }

    @Test func `every mistyped character is told, and every cut`() {
        var generator = SystemRandomNumberGenerator()
        let text = token(&generator).text
        for index in text.indices.dropFirst(4) {
            var wrong = text
            wrong.replaceSubrange(index...index, with: text[index] == "a" ? "b" : "a")
            guard case .damaged = OpaqueToken.read(wrong) else {
                Issue.record("\(wrong) is taken for a token")
                continue
            }
        }
        for wrong in [String(text.dropLast()), text + "a", text.dropLast(2) + "-_", "prs_"] {
            guard case .damaged = OpaqueToken.read(String(wrong)) else {
                Issue.record("\(wrong) is taken for a token")
                continue
            }
        }
    }

    @Test func `tokens of others, and ours of before, are something else`() {
        for text in [
            "", "Bearer", "eyJhbGciOiJFUzI1NiJ9.e30.c2ln", "PRS_0", "prs_" + String(repeating: "x-", count: 21) + "x",
        ] {
            guard case .other = OpaqueToken.read(text) else {
                Issue.record("\(text) is taken for ours")
                continue
            }
        }
    }

    /// CRC-32 of zlib over the text before it, which `python3 -c 'import zlib; …'` gives too.
    @Test func `the checksum is the one that others can compute`() {
        let token = OpaqueToken.generate { [UInt8](repeating: 0, count: $0) }
        #expect(token.text == "prs_" + String(repeating: "0", count: 51) + "30Wq0n")
    }

    @Test func `all characters are as likely, whatever bytes there are`() {
        var counts: [Character: Int] = [:]
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<400 {
            for character in token(&generator).text.dropFirst(4).dropLast(6) { counts[character, default: 0] += 1 }
        }
        // 20,400 characters of 62 kinds: 329 each, with a deviation of 18.
        #expect(counts.count == 62)
        #expect(counts.values.allSatisfy { (200...460).contains($0) })
        // Bytes that would favour some characters are drawn again.
        var draws = 0
        let token = OpaqueToken.generate { count in
            draws += 1
            return [UInt8](repeating: draws == 1 ? 255 : 61, count: count)
        }
        #expect(draws == 2 && token.text.dropFirst(4).prefix(51).allSatisfy { $0 == "z" })
    }
}
