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
