import KeyCustody
import OpenSSL
import Testing

struct SealedSecretTests {
    private let identity = SecretIdentity.signingKey("ABCDEFGHIJ", issuerID: "issuer", apps: ["coins", "gems"])

    private func secret(_ text: String = "-----BEGIN PRIVATE KEY-----") throws -> SecureBytes {
        try SecureBytes(count: text.utf8.count) { $0.copyBytes(from: Array(text.utf8)) }
    }

    private func text(_ secret: SecureBytes) -> String {
        secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func reason(_ body: () throws -> SecureBytes) -> SealingError.Reason? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? SealingError)?.reason
        }
    }

    @Test func `a secret opens as what it was sealed as, and as nothing else`() throws {
        let master = try MasterKey()
        let sealed = try SealedSecret(sealing: secret("s"), as: identity, with: master)
        #expect(sealed.bytes.count == 1 + 8 + 60 + 12 + 1 + 16)
        #expect(try text(SealedSecret(bytes: sealed.bytes).open(as: identity, with: master)) == "s")
        let reordered = SecretIdentity.signingKey("ABCDEFGHIJ", issuerID: "issuer", apps: ["gems", "coins", "gems"])
        #expect(try text(sealed.open(as: reordered, with: master)) == "s", "the order of apps means nothing")
        let others = [
            SecretIdentity.signingKey("ABCDEFGHIK", issuerID: "issuer", apps: ["coins", "gems"]),
            .signingKey("ABCDEFGHIJ", issuerID: "other", apps: ["coins", "gems"]),
            .signingKey("ABCDEFGHIJ", issuerID: "issuer", apps: ["coins"]),
            .signingKey("ABCDEFGHIJ", issuerID: "issuer", apps: ["coins", "gems", "more"]),
            .signingKey("ABCDEFGHIJ", issuerID: "issuer", apps: ["coinsgems"]),
            .signingKey("ABCDEFGHIJissuer", issuerID: "", apps: ["coins", "gems"]),
        ]
        for other in others { #expect(reason { try sealed.open(as: other, with: master) } == .damaged) }
    }

    @Test func `whatever byte is changed, cut off or added, nothing opens, and the error names what it is`() throws {
        let master = try MasterKey()
        let sealed = try SealedSecret(sealing: secret(), as: identity, with: master).bytes
        for index in sealed.indices {
            var bent = sealed
            bent[index] ^= 1
            let found = reason { try SealedSecret(bytes: bent).open(as: identity, with: master) }
            switch index {
            case 0: #expect(found == .unknownVersion(0))
            case 1...8:
                guard case .otherMasterKey(_, master.id) = found else {
                    Issue.record("byte \(index): \(String(describing: found))")
                    continue
                }
            default: #expect(found == .damaged, "byte \(index)")
            }
            #expect(
                reason { try SealedSecret(bytes: Array(sealed.prefix(index))).open(as: identity, with: master) } != nil)
        }
        #expect(reason { try SealedSecret(bytes: sealed + [0]).open(as: identity, with: master) } == .damaged)
        do {
            _ = try SealedSecret(bytes: sealed + [0]).open(as: identity, with: master)
            Issue.record("opened")
        } catch {
            #expect(error.name == "key ABCDEFGHIJ" && "\(error)".hasPrefix("key ABCDEFGHIJ "))
        }
    }

    @Test func `the parts of two sealed secrets cannot be put together`() throws {
        let master = try MasterKey()
        let one = try SealedSecret(sealing: secret("one"), as: identity, with: master).bytes
        let two = try SealedSecret(sealing: secret("two"), as: identity, with: master).bytes
        let mixed = SealedSecret(bytes: Array(one[..<69] + two[69...]))
        #expect(reason { try mixed.open(as: identity, with: master) } == .damaged)
    }

    @Test func `every seal has a data key and nonces of its own, even of the same secret`() throws {
        let master = try MasterKey()
        let secret = try secret()
        var nonces: Set<[UInt8]> = []
        var contents: Set<[UInt8]> = []
        for _ in 0..<300 {
            let sealed = try SealedSecret(sealing: secret, as: identity, with: master).bytes
            nonces.insert(Array(sealed[9..<21]))
            nonces.insert(Array(sealed[69..<81]))
            contents.insert(Array(sealed[81...]))
        }
        #expect(nonces.count == 600 && contents.count == 300)
    }

    @Test func `under another master key nothing opens, and the error tells which one it takes`() throws {
        let (master, other) = (try MasterKey(), try MasterKey())
        let sealed = try SealedSecret(sealing: secret(), as: identity, with: master)
        #expect(
            reason { try sealed.open(as: identity, with: other) }
                == .otherMasterKey(sealedUnder: master.id, given: other.id))
        var pretending = sealed.bytes
        pretending.replaceSubrange(
            1..<9, with: try SealedSecret(sealing: secret(), as: identity, with: other).bytes[1..<9])
        #expect(reason { try SealedSecret(bytes: pretending).open(as: identity, with: other) } == .damaged)
    }

    @Test func `a new master key wraps the data key anew and leaves the content`() throws {
        let (old, new) = (try MasterKey(), try MasterKey())
        let sealed = try SealedSecret(sealing: secret("s"), as: identity, with: old)
        let rewrapped = try sealed.rewrapped(as: identity, from: old, to: new)
        #expect(try text(rewrapped.open(as: identity, with: new)) == "s")
        #expect(rewrapped.bytes[69...] == sealed.bytes[69...])
        #expect(Set(rewrapped.bytes[9..<21]) != Set(sealed.bytes[9..<21]), "the wrap has a nonce of its own")
        #expect(
            reason { try rewrapped.open(as: identity, with: old) }
                == .otherMasterKey(sealedUnder: new.id, given: old.id))
        #expect(throws: SealingError.self) { try rewrapped.rewrapped(as: identity, from: old, to: new) }
        let other = SecretIdentity.signingKey("OTHER", issuerID: "issuer", apps: [])
        #expect(throws: SealingError.self) { try sealed.rewrapped(as: other, from: old, to: new) }
    }

    @Test func `what is sealed holds nothing of the secret`() throws {
        let master = try MasterKey()
        let secret = try secret("a very particular secret")
        let sealed = try SealedSecret(sealing: secret, as: identity, with: master)
        let needle = Array("particular".utf8)
        for start in sealed.bytes.indices.dropLast(needle.count) {
            #expect(Array(sealed.bytes[start..<start + needle.count]) != needle)
        }
    }
}
