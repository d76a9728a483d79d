package import OpenSSL

/// A secret as it is kept: it opens only with the master key, and only as what it was sealed as.
///
/// Each has a data key of its own, used for this one content, and wrapped by the master key; both are AES-256-GCM. So no nonce
/// can come twice under one data key, and a new master key means new wraps, not new contents. Version 1, in this order:
///
/// | bytes | what |
/// | --- | --- |
/// | 1 | version: 1 |
/// | 8 | which master key: ``MasterKey/id`` |
/// | 60 | the data key: nonce (12), ciphertext (32), tag (16) |
/// | the rest | the content: nonce (12), ciphertext, tag (16) |
package struct SealedSecret: Sendable, Equatable {
    /// The version that is written.
    static let version: UInt8 = 1
    private static let headerCount = 1 + MasterKey.identifierCount
    private static let wrapCount = AuthenticatedEncryption.keyCount + AuthenticatedEncryption.overhead

    /// What is kept.
    package let bytes: [UInt8]

    /// Takes what was kept; whether it opens shows when it is opened.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Which master key it says that it is under; empty where it is too short to say it.
    var masterKeyIdentifier: ArraySlice<UInt8> { bytes.prefix(Self.headerCount).dropFirst() }

    /// Whether it is of a version that is known, and long enough to say which master key it is under.
    var namesMasterKey: Bool { bytes.first == Self.version && bytes.count >= Self.headerCount }

    /// The same as ``MasterKey/id``.
    var masterKeyID: String { Hexadecimal.encode(masterKeyIdentifier) }

    /// Seals a secret.
    ///
    /// - Parameters:
    ///   - secret: at most 1 MiB.
    ///   - identity: what it is; the same is needed to open it.
    ///   - master: the key to seal it under.
    /// - Throws: `SealingError`
    package init(
        sealing secret: SecureBytes, as identity: SecretIdentity, with master: MasterKey
    ) throws(SealingError) {
        bytes = try Self.naming(identity) { () throws(AuthenticatedEncryptionError) in
            let dataKey = try AuthenticatedEncryption.makeKey()
            let header = [Self.version] + master.identifier
            return header
                + (try AuthenticatedEncryption.seal(
                    dataKey, key: master.bytes, associatedData: identity.wrapData(header)))
                + (try AuthenticatedEncryption.seal(
                    secret, key: dataKey, associatedData: identity.contentData(Self.version)))
        }
    }

    /// Opens the secret.
    ///
    /// - Throws: `SealingError` naming what cannot be opened, and why.
    package func open(as identity: SecretIdentity, with master: MasterKey) throws(SealingError) -> SecureBytes {
        let dataKey = try dataKey(identity, master)
        return try Self.naming(identity) { () throws(AuthenticatedEncryptionError) in
            try AuthenticatedEncryption.open(
                Array(bytes[(Self.headerCount + Self.wrapCount)...]), key: dataKey,
                associatedData: identity.contentData(Self.version))
        }
    }

    /// The same secret under another master key; the secret itself is not opened.
    ///
    /// - Throws: `SealingError`
    package func rewrapped(
        as identity: SecretIdentity, from old: MasterKey, to new: MasterKey
    ) throws(SealingError) -> SealedSecret {
        let dataKey = try dataKey(identity, old)
        let header = [Self.version] + new.identifier
        let wrap = try Self.naming(identity) { () throws(AuthenticatedEncryptionError) in
            try AuthenticatedEncryption.seal(dataKey, key: new.bytes, associatedData: identity.wrapData(header))
        }
        return SealedSecret(bytes: header + wrap + bytes[(Self.headerCount + Self.wrapCount)...])
    }

    private func dataKey(_ identity: SecretIdentity, _ master: MasterKey) throws(SealingError) -> SecureBytes {
        guard let version = bytes.first else { throw SealingError(identity, .damaged) }
        guard version == Self.version else { throw SealingError(identity, .unknownVersion(version)) }
        guard bytes.count >= Self.headerCount + Self.wrapCount + AuthenticatedEncryption.overhead else {
            throw SealingError(identity, .damaged)
        }
        let header = Array(bytes[..<Self.headerCount])
        guard Array(header.dropFirst()) == master.identifier else {
            throw SealingError(
                identity,
                .otherMasterKey(sealedUnder: Hexadecimal.encode(header.dropFirst()), given: master.id))
        }
        return try Self.naming(identity) { () throws(AuthenticatedEncryptionError) in
            try AuthenticatedEncryption.open(
                Array(bytes[Self.headerCount..<Self.headerCount + Self.wrapCount]), key: master.bytes,
                associatedData: identity.wrapData(header))
        }
    }

    private static func naming<Value>(
        _ identity: SecretIdentity, _ work: () throws(AuthenticatedEncryptionError) -> Value
    ) throws(SealingError) -> Value {
        do throws(AuthenticatedEncryptionError) {
            return try work()
        } catch {
            switch error {
            case .notAuthentic, .truncated: throw SealingError(identity, .damaged)
            case .malformedKey, .tooLarge, .noMemory, .library: throw SealingError(identity, .failed("\(error)"))
            }
        }
    }
}

/// What a sealed secret is: it opens as nothing else, so that nobody who can write the database can put one in the place of
/// another.
package struct SecretIdentity: Sendable, Equatable {
    /// What people call it, such as `key ABCDEFGHIJ`.
    package let name: String
    private let fields: [String]

    /// An In-App Purchase key of a team, for some apps in whatever order.
    package static func signingKey(_ keyID: String, issuerID: String, apps: [String]) -> SecretIdentity {
        SecretIdentity(name: "key \(keyID)", fields: ["signingKey", keyID, issuerID] + Set(apps).sorted())
    }

    /// A secret that the installation has made for itself, by what it is for.
    package static func installationSecret(_ name: String) -> SecretIdentity {
        SecretIdentity(name: "secret \(name)", fields: ["installationSecret", name])
    }

    /// What signs for a callback, by its name: the callback's id and the secret's number.
    package static func callbackSecret(_ name: String) -> SecretIdentity {
        SecretIdentity(name: "secret of callback \(name)", fields: ["callbackSecret", name])
    }

    /// What the wrap of a data key is bound to.
    func wrapData(_ header: [UInt8]) -> [UInt8] { encoded("purser sealed secret: data key", header) }

    /// What the content is bound to: not to the master key, which may change.
    func contentData(_ version: UInt8) -> [UInt8] { encoded("purser sealed secret: content", [version]) }

    /// Each part with its length before it, so that no two lists of parts read alike.
    private func encoded(_ label: String, _ header: [UInt8]) -> [UInt8] {
        ([Array(label.utf8), header] + fields.map { Array($0.utf8) }).reduce(into: []) { bytes, part in
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes += part
        }
    }
}

/// Why a secret could not be sealed or opened.
package struct SealingError: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Reason: Sendable, Equatable {
        /// It is under a master key that is not the one given: lost, or not yet the right one. Both by their ids.
        case otherMasterKey(sealedUnder: String, given: String)
        /// A newer version has sealed it.
        case unknownVersion(UInt8)
        /// Its bytes were changed, or it was sealed as something else: another key, issuer or other apps.
        case damaged
        /// No memory, no entropy, or libcrypto failed.
        case failed(String)
    }

    /// What it is about, such as `key ABCDEFGHIJ`.
    package let name: String
    package let reason: Reason

    init(_ identity: SecretIdentity, _ reason: Reason) {
        name = identity.name
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .otherMasterKey(let sealedUnder, let given):
            "\(name) is sealed under master key \(sealedUnder), and the one given is \(given)"
        case .unknownVersion(let version): "\(name) is sealed in format \(version), which this version does not know"
        case .damaged: "\(name) does not open: it was changed, or sealed for another key id, issuer or other apps"
        case .failed(let text): "\(name): \(text)"
        }
    }
}
