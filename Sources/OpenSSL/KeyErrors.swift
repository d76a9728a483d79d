import COpenSSL

/// Why bytes are not a P-256 private key in PKCS#8 PEM, the form that begins with `-----BEGIN PRIVATE KEY-----`.
///
/// No case carries bytes of the input, not even of a label or an object identifier: in a damaged file these can be bytes of
/// the private key. All names come from fixed lists.
package enum PrivateKeyError: Error, Sendable, Equatable {
    /// No bytes, or nothing but white space.
    case empty
    /// The text begins with a UTF-8 byte order mark.
    case byteOrderMark
    /// Binary DER instead of text.
    case derEncoded
    /// No PEM block at all.
    case notPEM
    /// The block has no end line, or its content ends too early.
    case truncated
    /// Something other than white space stands before or after the block.
    case textOutsideBlock
    /// More than one PEM block.
    case severalBlocks
    /// The `BEGIN` or the `END` words share a line with the content, for example because all is on one line.
    case lineBreaksMissing
    /// Line breaks are written as a backslash and `n`.
    case escapedLineBreaks
    /// The Base64 encoding of a PEM file.
    case base64OfFile
    /// Quotation marks surround the block.
    case quoted
    /// Encrypted with a passphrase (PKCS#8 or the older `Proc-Type` header).
    case encryptedPEM
    case publicKey
    case certificate
    /// A block of another kind; the associated value is its label, nil for one that is not in the list.
    case otherBlock(PEMLabel?)
    /// The older form of SEC 1, `BEGIN EC PRIVATE KEY`.
    case notPKCS8
    case rsaKey
    /// A key on another curve; the associated value is its name, such as `P-384`.
    case otherCurve(String)
    /// A key for another algorithm; the associated value is its name, such as `ED25519`.
    case otherAlgorithm(String)
    /// The content is not Base64, or not PKCS#8 inside.
    case malformed
    /// The private number is outside 1..<n.
    case invalidScalar
    /// The public key inside does not belong to the private one.
    case publicKeyMismatch
    /// No locked memory to work in.
    case noMemory(SecureBytesError)
    /// libcrypto failed for another reason than the key.
    case library(OpenSSLError)
}

extension PrivateKeyError: CustomStringConvertible {
    /// What the bytes are and what to do, in a phrase that can follow "the key file … is".
    package var description: String {
        switch self {
        case .empty: "empty; provide the key file as it was downloaded"
        case .byteOrderMark: "text with a byte order mark; save it as UTF-8 without one"
        case .derEncoded: "binary DER; convert it with `openssl pkcs8 -topk8 -nocrypt -inform DER`"
        case .notPEM: "not PEM: it has no line `-----BEGIN PRIVATE KEY-----`; provide the key file as it was downloaded"
        case .truncated: "truncated: its end is missing; copy the whole file again"
        case .textOutsideBlock: "a key with other text around it; leave only the lines from BEGIN to END"
        case .severalBlocks: "several PEM blocks; leave only the one private key"
        case .lineBreaksMissing:
            """
            a key with line breaks missing: the BEGIN words and the END words must each be a line; run \
            `\(PrivateKeyRepair.breakLines)`
            """
        case .escapedLineBreaks:
            "a key with `\\n` in place of its line breaks; run `\(PrivateKeyRepair.unescape)`"
        case .base64OfFile: "the Base64 encoding of a key file; decode it with `\(PrivateKeyRepair.decode)`"
        case .quoted:
            "a key in quotation marks; remove the marks before `-----BEGIN` and after the last `-----`"
        case .encryptedPEM: "an encrypted PEM; decrypt it with `openssl pkcs8 -topk8 -nocrypt`"
        case .publicKey: "a public key; provide the private key that belongs to it"
        case .certificate: "a certificate; provide the private key that belongs to it"
        case .otherBlock(let label?): "a PEM block `\(label.rawValue)`; provide a block `PRIVATE KEY`"
        case .otherBlock(nil): "a PEM block with an unknown label; provide a block `PRIVATE KEY`"
        case .notPKCS8: "an EC key in SEC 1 form; convert it with `openssl pkcs8 -topk8 -nocrypt`"
        case .rsaKey: "an RSA key; provide a key on the curve P-256"
        case .otherCurve(let name): "a key on the curve \(name); provide one on the curve P-256"
        case .otherAlgorithm(let name): "a key for \(name); provide one for ECDSA on the curve P-256"
        case .malformed: "damaged: its content is not a PKCS#8 key; copy the whole file again"
        case .invalidScalar: "damaged: its private number is out of range; provide another key"
        case .publicKeyMismatch: "damaged: its public and private halves do not belong together; copy the file again"
        case .noMemory(let error): "not loadable: \(error)"
        case .library(let error): "not loadable: \(error)"
        }
    }
}

/// Commands that turn a key file into one with line breaks, for GNU sed and coreutils.
package enum PrivateKeyRepair {
    /// Puts the BEGIN and the END words on lines of their own, and removes blanks that replace line breaks between them.
    package static let breakLines = #"sed -E 's/-----[A-Z ]+-----/\n&\n/g' FILE | sed '/-----/!s/[ \t]//g' > NEW_FILE"#
    /// Replaces escaped line breaks by real ones.
    package static let unescape = #"sed -E 's/(\\+r)?\\+n/\n/g' FILE > NEW_FILE"#
    package static let decode = "base64 -d FILE > NEW_FILE"
}

/// Why bytes are not a public key on P-256.
package enum PublicKeyError: Error, Sendable, Equatable {
    /// Not a SubjectPublicKeyInfo, or a raw point of another length.
    case malformed
    /// A point that is not on the curve, or the point at infinity.
    case invalidPoint
    /// Another curve; the associated value is its name, such as `P-384`.
    case otherCurve(String)
    /// Another algorithm; the associated value is its name, such as `RSA`.
    case otherAlgorithm(String)
}

extension PublicKeyError: CustomStringConvertible {
    /// What the key is instead.
    package var description: String {
        switch self {
        case .malformed: "not a public key"
        case .invalidPoint: "a public key whose point is not on the curve P-256"
        case .otherCurve(let name): "a public key on the curve \(name) instead of P-256"
        case .otherAlgorithm(let name): "a public key for \(name) instead of ECDSA on P-256"
        }
    }
}

/// Names of algorithms and curves, for messages to people.
enum KeyNames {
    /// The common name of an object identifier: NIST's for curves (`P-384`), else libcrypto's.
    ///
    /// - Parameter content: The identifier's DER without tag and length.
    /// - Returns: The name; nil for one that libcrypto does not know. The digits of that are not given, because in a damaged
    ///   key they can be bytes of the private number.
    static func name(ofObjectIdentifier content: UnsafeRawBufferPointer) -> String? {
        guard let count = UInt8(exactly: content.count), count < 0x80 else { return nil }
        let der = [DERReader.Tag.objectIdentifier.rawValue, count] + content
        let object = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_ASN1_OBJECT(nil, &position, bytes.count)
        }
        guard let object else {
            OpenSSLError.clearQueue()
            return nil
        }
        defer { ASN1_OBJECT_free(object) }
        let number = OBJ_obj2nid(object)
        return number == NID_undef ? nil : name(ofNumber: number)
    }

    /// The common name of an algorithm or curve by libcrypto's number for it.
    static func name(ofNumber number: CInt) -> String {
        if let name = EC_curve_nid2nist(number) { return String(cString: name) }
        return OBJ_nid2sn(number).map { String(cString: $0) } ?? "unknown"
    }

    /// The algorithm of a key, such as `RSA`.
    static func algorithm(of key: borrowing OwnedPointer) -> String {
        EVP_PKEY_get0_type_name(key.pointer).map { String(cString: $0) } ?? "unknown"
    }

    /// The curve of an elliptic-curve key, such as `P-384`, or nil for one with parameters of its own.
    static func curve(of key: borrowing OwnedPointer) -> String? {
        var text = [CChar](repeating: 0, count: 80)
        guard EVP_PKEY_get_group_name(key.pointer, &text, text.count, nil) == 1 else {
            OpenSSLError.clearQueue()
            return nil
        }
        let number = OBJ_sn2nid(text)
        if number == NID_undef { return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } }
        return name(ofNumber: number)
    }
}
