import COpenSSL

extension Certificate {
    /// Reads the one certificate of a PEM text (`BEGIN CERTIFICATE`).
    ///
    /// - Parameter pem: The text; what stands around the block is ignored.
    /// - Throws: ``CertificateError``
    package convenience init(pem: String) throws(CertificateError) {
        let ders = try Self.derBlocks(ofPEM: Array(pem.utf8))
        guard let der = ders.first else { throw .empty }
        guard ders.count == 1 else { throw .severalCertificates }
        try self.init(der: der)
    }

    /// Reads a certificate file as they are found in practice: one certificate in DER, or any number in PEM.
    ///
    /// - Parameter bytes: The file's content.
    /// - Returns: At least one certificate, in the file's order.
    /// - Throws: ``CertificateError``
    package static func certificates(inFile bytes: [UInt8]) throws(CertificateError) -> [Certificate] {
        if bytes.first == DERReader.Tag.sequence.rawValue { return [try Certificate(der: bytes)] }
        let ders = try derBlocks(ofPEM: bytes)
        guard !ders.isEmpty else { throw .empty }
        var certificates: [Certificate] = []
        for der in ders { certificates.append(try Certificate(der: der)) }
        return certificates
    }

    /// Writes the certificate as PEM (`BEGIN CERTIFICATE`).
    ///
    /// - Throws: ``OpenSSLError`` only when libcrypto itself fails.
    package func pem() throws(OpenSSLError) -> String {
        let bio = try MemoryBIO()
        try check(PEM_write_bio_X509(bio.pointer, pointer.pointer), "PEM_write_bio_X509")
        return bio.text
    }

    /// The content of each certificate block, in order; other blocks are passed over.
    private static func derBlocks(ofPEM bytes: [UInt8]) throws(CertificateError) -> [[UInt8]] {
        OpenSSLError.clearQueue()
        do throws(OpenSSLError) {
            return try bytes.withUnsafeBufferPointer { (bytes) throws(OpenSSLError) in
                let bio = try MemoryBIO(reading: bytes)
                var blocks: [[UInt8]] = []
                while true {
                    var content: UnsafeMutablePointer<UInt8>?
                    var count = 0
                    let found = PEM_bytes_read_bio(
                        &content, &count, nil, PEM_STRING_X509, bio.pointer, MemoryBIO.noPassphrase, nil)
                    guard found == 1 else { break }
                    blocks.append(Array(UnsafeBufferPointer(start: content, count: count)))
                    CRYPTO_free(content, nil, 0)
                }
                let error = OpenSSLError(draining: "PEM_read_bio")
                // Reading ends by finding no further block; anything else means that a block is damaged.
                guard error.isAbout(PEM_R_NO_START_LINE, library: ERR_LIB_PEM) else { throw error }
                return blocks
            }
        } catch {
            throw .malformed(error)
        }
    }
}
