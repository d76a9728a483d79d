import Foundation
package import OpenSSL

/// The master keys that an installation knows: the present one seals and opens, those before it only open what is not sealed
/// anew yet.
package struct MasterKeys: Sendable {
    /// How many are kept at once.
    static let maximumCount = 4

    package let present: MasterKey
    /// The youngest first.
    package let earlier: [MasterKey]

    package init(_ present: MasterKey, earlier: [MasterKey] = []) {
        self.present = present
        self.earlier = earlier
    }

    /// Reads keys as a file holds them: a line each, the present one first; the last line feed may be left out.
    ///
    /// - Throws: `MasterKeyError`
    package init(text: SecureBytes) throws(MasterKeyError) {
        let keys = try text.withUnsafeBytes { (text) throws(MasterKeyError) in
            let content = text.last == UInt8(ascii: "\n") ? text.dropLast() : text[...]
            let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            guard lines.count <= Self.maximumCount else { throw .tooMany }
            var keys: [MasterKey] = []
            for line in lines { keys.append(try MasterKey(digits: UnsafeRawBufferPointer(rebasing: line))) }
            return keys
        }
        guard let present = keys.first else { throw .malformed }
        self.init(present, earlier: Array(keys.dropFirst()))
    }

    var all: [MasterKey] { [present] + earlier }

    /// The key under which something is sealed, as ``MasterKey/identifier`` names it.
    func key(_ identifier: some Collection<UInt8>) -> MasterKey? {
        all.first { $0.identifier.elementsEqual(identifier) }
    }

    /// With another present key, before which all of these come.
    func followed(by next: MasterKeys) -> MasterKeys {
        var earlier: [MasterKey] = []
        for key in next.earlier + all where key.id != next.present.id && !earlier.contains(where: { $0.id == key.id }) {
            earlier.append(key)
        }
        return MasterKeys(next.present, earlier: earlier)
    }

    /// The keys as ``init(text:)`` reads them.
    func text() throws(MasterKeyError) -> SecureBytes {
        do throws(SecureBytesError) {
            return try SecureBytes(count: all.count * MasterKey.lineCount) { output in
                for (index, key) in all.enumerated() {
                    key.writeLine(to: UnsafeMutableRawBufferPointer(rebasing: output[(index * MasterKey.lineCount)...]))
                }
            }
        } catch {
            throw .library("\(error)")
        }
    }
}

/// The file that master keys come from.
package enum MasterKeyFile {
    /// The largest file read, in bytes; a key takes 65.
    static let maximumBytes = 1024

    /// Reads keys that somebody else keeps: a systemd credential, or a file that the operator names.
    ///
    /// - Throws: `SecretFileError`
    package static func load(_ path: String, allowsGroupRead: Bool) throws(SecretFileError) -> MasterKeys {
        let text = try SecretFile.read(path, allowsGroupRead: allowsGroupRead, maximumBytes: maximumBytes)
        return try naming(path) { () throws(MasterKeyError) in try MasterKeys(text: text) }
    }

    /// Reads the keys that an installation has made for itself, or makes the first.
    ///
    /// A file is there whole or not at all, whenever the power fails, and none that is there is ever replaced.
    ///
    /// - Parameter path: beside the store, where backups leave it out.
    /// - Returns: the keys, and whether they were made just now.
    /// - Throws: `SecretFileError`
    package static func loadOrMake(_ path: String) throws(SecretFileError) -> (keys: MasterKeys, isNew: Bool) {
        if access(path, F_OK) == 0 { return (try load(path, allowsGroupRead: false), false) }
        let keys = MasterKeys(try draw(for: path))
        let draft = try draft(of: keys, for: path)
        defer { SecretFile.remove(draft) }
        guard link(draft, path) == 0 else {
            let code = errno
            // Somebody else was quicker: that key is the installation's.
            if code == EEXIST { return (try load(path, allowsGroupRead: false), false) }
            throw SecretFileError(path: path, problem: "cannot be made: \(SecretFile.systemError(code))")
        }
        SecretFile.flushFolder(of: path)
        return (keys, true)
    }

    /// Draws a key for a file.
    ///
    /// - Throws: `SecretFileError` without entropy or memory.
    static func draw(for path: String) throws(SecretFileError) -> MasterKey {
        try naming(path) { () throws(MasterKeyError) in try MasterKey() }
    }

    /// Puts keys in the place of those in a file that the installation has made for itself.
    ///
    /// The file holds the old ones or the new ones at every moment, whenever the power fails.
    ///
    /// - Throws: `SecretFileError`; the file is then as it was.
    static func replace(_ path: String, with keys: MasterKeys) throws(SecretFileError) {
        let draft = try draft(of: keys, for: path)
        guard rename(draft, path) == 0 else {
            let code = errno
            SecretFile.remove(draft)
            throw SecretFileError(path: path, problem: "cannot be replaced: \(SecretFile.systemError(code))")
        }
        SecretFile.flushFolder(of: path)
    }

    /// Writes keys under another name beside the file; returns that name.
    private static func draft(of keys: MasterKeys, for path: String) throws(SecretFileError) -> String {
        let text = try naming(path) { () throws(MasterKeyError) in try keys.text() }
        let draft = SecretFileDraft.path(for: path)
        do throws(SecretFileError) {
            try SecretFile.create(text, at: draft)
        } catch {
            throw SecretFileError(path: path, problem: "cannot be written: \(error.problem)", isOfDisk: error.isOfDisk)
        }
        return draft
    }

    private static func naming<Value>(
        _ path: String, _ work: () throws(MasterKeyError) -> Value
    ) throws(SecretFileError) -> Value {
        do throws(MasterKeyError) {
            return try work()
        } catch {
            throw SecretFileError(path: path, problem: "\(error)")
        }
    }
}

/// Where the master keys of an installation come from.
package enum MasterKeySource: Sendable, Equatable {
    /// A file that the operator keeps; its group may read it only where the operator says so (Kubernetes' `fsGroup`).
    case file(path: String, allowsGroupRead: Bool)
    /// A systemd credential, which systemd shows group-readable from version 254 on.
    case credential(path: String)
    /// A file beside the store, which the daemon makes at its first start and changes by itself.
    case made(path: String)

    package var path: String {
        switch self {
        case .file(let path, _), .credential(let path), .made(let path): path
        }
    }

    /// Reads the keys, or makes the first where that is the daemon's affair.
    ///
    /// It blocks.
    ///
    /// - Returns: the keys, and whether they were made just now.
    /// - Throws: `SecretFileError`
    package func load() throws(SecretFileError) -> (keys: MasterKeys, isNew: Bool) {
        switch self {
        case .file(let path, let allowsGroupRead):
            (try MasterKeyFile.load(path, allowsGroupRead: allowsGroupRead), false)
        case .credential(let path): (try MasterKeyFile.load(path, allowsGroupRead: true), false)
        case .made(let path): try MasterKeyFile.loadOrMake(path)
        }
    }
}
