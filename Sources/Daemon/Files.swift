import Foundation
import OpenSSL

/// Why a file that the configuration names cannot be used.
package struct FileError: Error, CustomStringConvertible {
    package let path: String
    package let problem: String

    package var description: String { "\(path): \(problem)" }
}

/// Reads the files that the configuration names.
enum Files {
    /// The largest certificate file, in bytes.
    static let maximumCertificateBytes = 1 << 20

    /// Reads pinned root certificates, DER or PEM.
    ///
    /// - Throws: `FileError`.
    static func certificates(_ paths: [String]) throws(FileError) -> [Certificate] {
        var certificates: [Certificate] = []
        for path in paths { certificates.append(try certificate(path)) }
        return certificates
    }

    static func certificate(_ path: String) throws(FileError) -> Certificate {
        do {
            let data = try Data(contentsOf: URL(filePath: path))
            guard data.count <= maximumCertificateBytes else {
                throw FileError(path: path, problem: "larger than a certificate can be")
            }
            return data.starts(with: Data("-----BEGIN".utf8))
                ? try Certificate(pem: String(decoding: data, as: UTF8.self)) : try Certificate(der: Array(data))
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(path: path, problem: "\(error)")
        }
    }
}

/// Writes a secret to a file that did not exist.
enum NewFile {
    /// Creates a file that only its owner can read, and fills it.
    ///
    /// - Throws: `FileError` when the file exists or cannot be written; it is then not there, or as it was.
    static func write(_ content: SecureBytes, to path: String) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            let problem = errno == EEXIST ? "it exists, and is not overwritten" : String(cString: strerror(errno))
            throw FileError(path: path, problem: problem)
        }
        let failure = content.withUnsafeBytes { bytes in fill(descriptor, with: bytes) }
        let isClosed = close(descriptor) == 0
        guard failure == nil, isClosed else {
            let code = failure ?? errno
            remove(path)
            throw FileError(path: path, problem: String(cString: strerror(code)))
        }
    }

    /// Removes a file that is of no use any more; one that cannot be removed stays, as an unregistered key harms nobody.
    static func remove(_ path: String) { unlink(path) }

    /// Writes all bytes and waits until they are on the disk.
    ///
    /// - Returns: the number of the error, if one happened.
    private static func fill(_ descriptor: CInt, with bytes: UnsafeRawBufferPointer) -> CInt? {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return errno }
            rest = rest.dropFirst(count)
        }
        return fsync(descriptor) == 0 ? nil : errno
    }
}
