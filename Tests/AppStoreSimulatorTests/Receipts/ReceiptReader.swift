import Foundation
import OpenSSL
import Testing

@testable import AppStoreSimulator

/// Reads and judges receipts by libcrypto alone, as somebody would who knows nothing of who made them.
struct ReceiptReader {
    /// Each attribute of a SET.
    struct Attribute {
        let type: Int
        let version: Int
        let value: [UInt8]

        /// The text or date in it.
        var text: String? {
            var bytes = value[...]
            return ReceiptReader.element(&bytes).map { String(decoding: $0.content, as: UTF8.self) }
        }
    }

    /// What is wrong, in the order of a careful reader's checks.
    enum Finding: Equatable {
        case unreadable
        case signature
        case chain(CertificateChainError.Role, CertificateChainError.Reason)
    }

    /// What a receipt signed below a root says, if nothing is wrong.
    static func read(_ bytes: [UInt8], root: Certificate, at date: Date) throws -> Result<[Attribute], FindingError> {
        guard let data = try? CMSSignedData(ber: bytes) else { return .failure(FindingError(.unreadable)) }
        let signer = try data.signer()
        let matches = try data.contentMatchesSignedAttributes(of: signer) ?? true
        guard matches, try data.checkSignature(of: signer) == .valid else { return .failure(FindingError(.signature)) }
        do throws(CertificateChainError) {
            _ = try CertificateChain.verifyPath(
                leaf: signer.certificate, intermediates: data.certificates.filter { $0 != signer.certificate },
                roots: [root], at: date, strength: signer.digest == .sha1 ? .acceptingSHA1 : .current,
                requiredLeafExtension: "1.2.840.113635.100.6.11.1",
                requiredIntermediateExtension: "1.2.840.113635.100.6.2.1")
        } catch {
            return .failure(FindingError(.chain(error.certificate, error.reason)))
        }
        return .success(try attributes(data.content ?? []))
    }

    struct FindingError: Error {
        let finding: Finding
        init(_ finding: Finding) { self.finding = finding }
    }

    /// The attributes of a SET, in order.
    static func attributes(_ set: [UInt8]) throws -> [Attribute] {
        var outer = set[...]
        let content = try #require(element(&outer))
        try #require(content.tag == 0x31 && outer.isEmpty)
        var rest = content.content
        var attributes: [Attribute] = []
        while !rest.isEmpty {
            var members = try #require(element(&rest)).content
            let type = try #require(element(&members))
            let version = try #require(element(&members))
            let value = try #require(element(&members))
            try #require(type.tag == 0x02 && version.tag == 0x02 && value.tag == 0x04 && members.isEmpty)
            attributes.append(
                Attribute(
                    type: type.content.reduce(0) { $0 << 8 | Int($1) },
                    version: version.content.reduce(0) { $0 << 8 | Int($1) }, value: Array(value.content)))
        }
        return attributes
    }

    private static func element(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var count = Int(first)
        if first >= 0x80 {
            count = 0
            for _ in 0..<(first & 0x7F) {
                guard let digit = bytes.popFirst() else { return nil }
                count = count << 8 | Int(digit)
            }
        }
        guard count <= bytes.count else { return nil }
        defer { bytes = bytes.dropFirst(count) }
        return (tag, bytes.prefix(count))
    }
}
