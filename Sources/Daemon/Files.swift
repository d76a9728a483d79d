import Foundation
import OpenSSL
import Systemd

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
            let data = try contents(of: path, maximumBytes: maximumCertificateBytes)
            return data.starts(with: Data("-----BEGIN".utf8))
                ? try Certificate(pem: String(decoding: data, as: UTF8.self)) : try Certificate(der: Array(data))
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(path: path, problem: "\(error)")
        }
    }

    /// Makes sure that a file holds certificates, in PEM, of authorities to trust.
    ///
    /// - Throws: `FileError`.
    static func checkAuthorities(_ path: String) throws(FileError) {
        do {
            _ = try Certificate.certificates(
                inFile: Array(try contents(of: path, maximumBytes: maximumCertificateBytes)))
        } catch let error as FileError {
            throw error
        } catch {
            throw FileError(path: path, problem: "\(error)")
        }
    }

    /// Reads a file whole.
    ///
    /// It blocks. `allowsPipe`: whether to accept a pipe and wait for its writer, such as a shell's `<(sops --decrypt …)`.
    ///
    /// - Throws: `FileError` with the reason why it cannot be read.
    static func contents(of path: String, maximumBytes: Int, allowsPipe: Bool = false) throws(FileError) -> Data {
        // A named pipe would block the open until a writer comes.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | (allowsPipe ? 0 : O_NONBLOCK))
        guard descriptor >= 0 else {
            throw FileError(path: path, problem: "cannot be read: \(String(cString: strerror(errno)))")
        }
        guard allowsPipe || FileStatus(descriptor: descriptor)?.isRegular == true else {
            close(descriptor)
            throw FileError(path: path, problem: "cannot be read: it is not a regular file")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let data: Data
        do {
            data = try handle.read(upToCount: maximumBytes + 1) ?? Data()
        } catch {
            throw FileError(path: path, problem: "cannot be read: \(error); is it a regular file?")
        }
        guard data.count <= maximumBytes else {
            throw FileError(path: path, problem: "has more than \(maximumBytes) bytes")
        }
        return data
    }
}
