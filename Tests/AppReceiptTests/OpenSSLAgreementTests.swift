import Foundation
import OpenSSL
import TestSupport
import Testing

@testable import AppReceipt
@testable import AppStoreSimulator

/// Our verdicts beside those of `openssl cms -verify` about the same bytes.
struct OpenSSLAgreementTests {
    private typealias Fixtures = ReceiptFixtures

    /// What `openssl cms -verify` says.
    private struct Verdict {
        let isGood: Bool
        /// What it took out of the container.
        let content: Data
    }

    private func openssl(_ bytes: [UInt8], root: Certificate, at date: Date) async throws -> Verdict {
        let folder = FileManager.default.temporaryDirectory.appending(path: "purser-cms-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func path(_ name: String) -> String { folder.appending(path: name).path }
        try Data(bytes).write(to: URL(filePath: path("receipt")))
        try Data(root.pem().utf8).write(to: URL(filePath: path("root")))
        let run = try await ChildProcess.run([
            "openssl", "cms", "-verify", "-binary", "-inform", "DER", "-in", path("receipt"),
            // Apple's leaves are for no purpose that libcrypto knows.
            "-CAfile", path("root"), "-no-CApath", "-no-CAstore", "-purpose", "any", "-attime",
            String(Int64(date.timeIntervalSince1970)), "-out", path("content"),
        ])
        let content = try? Data(contentsOf: URL(filePath: path("content")))
        return Verdict(isGood: run.status == 0, content: content ?? Data())
    }

    /// Ours, of a receipt that may be none.
    private func isGenuine(_ bytes: [UInt8], root: Certificate) -> Bool {
        (try? ReceiptVerifier(roots: [root], acceptsSHA1: true).verify(bytes).isGenuine) ?? false
    }

    private static let forms: [ReceiptForm] = ReceiptFixtures.forms.flatMap { form in
        ([nil] + ReceiptTampering.allCases.map(Optional.some)).map { tampering in
            var form = form
            form.tampering = tampering
            return form
        }
    }

    @Test(arguments: forms)
    func `both say the same of receipts good and bad`(form: ReceiptForm) async throws {
        let bytes = try Fixtures.appReceipt(form)
        let root = try Fixtures.issuer.root
        let theirs = try await openssl(bytes, root: root, at: Fixtures.now)
        let isOurs = isGenuine(bytes, root: root)
        switch form.tampering {
        case .missingLeafExtension, .missingIntermediateExtension:
            // Apple's marker extensions mean nothing to openssl.
            #expect(theirs.isGood)
            #expect(!isOurs)
        case nil:
            #expect(theirs.isGood)
            #expect(isOurs)
            #expect(try Array(theirs.content) == Fixtures.receipt().encoded())
        case .alteredPayload, .wrongSignature, .foreignRoot, .expiredCertificate, .truncated:
            #expect(!theirs.isGood)
            #expect(!isOurs)
        }
    }

    @Test(arguments: [true, false], DigestAlgorithm.allCases)
    func `both take keys on curves`(signedAttributes: Bool, digest: DigestAlgorithm) async throws {
        let content = try Fixtures.receipt().encoded()
        let (bytes, root) = try Fixtures.signedOnCurve(content, signedAttributes: signedAttributes, digest: digest)
        #expect(try await openssl(bytes, root: root, at: Fixtures.now).isGood)
        #expect(isGenuine(bytes, root: root))
        var altered = bytes
        altered[altered.count - 1] ^= 1
        #expect(try await !openssl(altered, root: root, at: Fixtures.now).isGood)
        #expect(!isGenuine(altered, root: root))
    }

    @Test func `both refuse what Xcode signed`() async throws {
        let bytes = try Fixtures.issuer.xcodeReceipt(Fixtures.receipt())
        let root = try Fixtures.issuer.root
        #expect(try await !openssl(bytes, root: root, at: Fixtures.now).isGood)
        #expect(!isGenuine(bytes, root: root))
    }
}
