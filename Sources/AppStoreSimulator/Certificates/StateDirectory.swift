import Foundation
import OpenSSL

/// A folder that keeps certificates, and keys that only its owner can read.
struct StateDirectory: Sendable {
    /// The longest file that is read, in bytes.
    private static let maximumFileSize = 65_536

    let path: String

    /// Uses a folder, which is created (for its owner only) if it is not there.
    init(_ path: String) throws(StateDirectoryError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw StateDirectoryError(path: path, operation: "create", code: errno)
        }
    }

    /// The full path of a file.
    func path(of name: String) -> String { "\(path)/\(name)" }

    func exists(_ name: String) throws(StateDirectoryError) -> Bool {
        if access(path(of: name), R_OK) == 0 { return true }
        guard errno == ENOENT else {
            throw StateDirectoryError(path: path(of: name), operation: "read", code: errno)
        }
        return false
    }

    func certificate(_ name: String) throws -> Certificate {
        let text = try read(name).withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        return try Certificate(pem: text)
    }

    func issuingKey(_ name: String) throws -> IssuingKey { try IssuingKey(pkcs8PEM: read(name)) }

    func signingKey(_ name: String) throws -> ECPrivateKey { try ECPrivateKey(pkcs8PEM: read(name)) }

    private func read(_ name: String) throws(SecureBytesError) -> SecureBytes {
        try SecureBytes(contentsOfFile: path(of: name), maximumCount: Self.maximumFileSize)
    }

    /// Writes a key, for its owner only.
    func write(_ key: SecureBytes, to name: String) throws(StateDirectoryError) {
        try key.withUnsafeBytes { (bytes) throws(StateDirectoryError) in
            try write(bytes, to: name, permissions: 0o600)
        }
    }

    /// Writes what everybody may read.
    func write(_ bytes: [UInt8], to name: String) throws(StateDirectoryError) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, StateDirectoryError> in
            Result { () throws(StateDirectoryError) in try write(bytes, to: name, permissions: 0o644) }
        }
        try result.get()
    }

    /// Writes a file whole: under another name first, so that nobody ever reads half of it.
    private func write(
        _ bytes: UnsafeRawBufferPointer, to name: String, permissions: mode_t
    ) throws(StateDirectoryError) {
        let target = path(of: name)
        let temporary = target + ".new"
        let failure = { (operation: String) in StateDirectoryError(path: target, operation: operation, code: errno) }
        guard unlink(temporary) == 0 || errno == ENOENT else { throw failure("replace") }
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { throw failure("create") }
        defer { close(descriptor) }
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            guard count >= 0 || errno == EINTR else { throw failure("write") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(max(0, count)))
        }
        guard rename(temporary, target) == 0 else { throw failure("rename") }
    }
}

/// A file operation that the system refused.
struct StateDirectoryError: Error, Sendable, CustomStringConvertible {
    let path: String
    let operation: String
    /// `errno`.
    let code: CInt

    var description: String { "cannot \(operation) \(path): \(String(cString: strerror(code)))" }
}
