/// Why bytes are not a P-256 private key in PKCS#8 PEM, the form that begins with `-----BEGIN PRIVATE KEY-----`.
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
    /// Encrypted with a passphrase (PKCS#8 or the older `Proc-Type` header).
    case encryptedPEM
    case publicKey
    case certificate
    /// A block of another kind; the associated value is its label.
    case otherBlock(label: String)
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
        case .encryptedPEM: "an encrypted PEM; decrypt it with `openssl pkcs8 -topk8 -nocrypt`"
        case .publicKey: "a public key; provide the private key that belongs to it"
        case .certificate: "a certificate; provide the private key that belongs to it"
        case .otherBlock(let label): "a PEM block `\(label)`; provide a block `PRIVATE KEY`"
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
