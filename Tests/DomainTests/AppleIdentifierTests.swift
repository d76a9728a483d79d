import Domain
import Testing

struct AppleIdentifierTests {
    @Test func `transaction ids are letters, digits, hyphens and underscores`() {
        for good in ["1", "2000000123456789", "a-B_9", String(repeating: "9", count: 64)] {
            #expect(AppleIdentifier.transaction.isValid(good), "\(good)")
        }
        for bad in ["", "a.b", "a/b", "a b", "1:finish", "é", "1\n", String(repeating: "9", count: 65)] {
            #expect(!AppleIdentifier.transaction.isValid(bad), "\(bad)")
        }
    }

    @Test func `product ids may hold full stops but are never a way out of the path`() {
        for good in ["gems", "com.example.gems_1", ".gems", "a..b", "-"] {
            #expect(AppleIdentifier.product.isValid(good), "\(good)")
        }
        for bad in ["", ".", "..", "...", "a/b", "%2e"] { #expect(!AppleIdentifier.product.isValid(bad), "\(bad)") }
    }

    @Test func `each kind carries Apple's own error`() {
        for (kind, code) in [
            (.transaction, 4_000_006), (.originalTransaction, 4_000_008), (.product, 4_000_023),
            (.testNotification, 4_000_020), (.order, nil),
        ] as [(AppleIdentifier, Int64?)] {
            let error = #expect(throws: ServiceError.self) { try kind.check("a b", field: "x") }
            #expect(error?.violations.map(\.appleError?.code) == [code])
            #expect(error?.violations.map(\.field) == ["x"])
        }
    }

    @Test func `a token for a user is a UUID in either case`() throws {
        func read(_ fields: [String: FieldValue]) throws -> String {
            try FieldReader.read(fields) { AppAccountToken.read(&$0) }
        }
        for good in ["3f2504e0-4f89-11d3-9a0c-0305e82c3301", "3F2504E0-4F89-11D3-9A0C-0305E82C3301"] {
            #expect(try read(["appAccountToken": .string(good)]) == good)
        }
        for bad in [nil, .null, .string(""), .string("alice"), .integer(1)] as [FieldValue?] {
            let error = #expect(throws: ServiceError.self) {
                try read(bad.map { ["appAccountToken": $0] } ?? [:])
            }
            #expect(error?.violations.map(\.appleError?.code) == [4_000_183])
        }
    }
}
