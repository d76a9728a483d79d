/// The PKCS #7 container of an app receipt, as far as it can be read without believing it.
struct ReceiptContainer {
    /// The content: the octets that are said to be signed.
    let content: BERReader.Octets

    /// Finds the content, and makes sure that what stands around it is small: libcrypto would decode any number of
    /// certificates.
    ///
    /// Checks neither the kind of container nor of content, as Apple's libraries do not.
    ///
    /// Source: RFC 5652, sections 3 and 5.1
    init(_ bytes: [UInt8], _ limits: ReceiptLimits) throws(ReceiptDecodingError) {
        guard !bytes.isEmpty else { throw ReceiptDecodingError(.empty) }
        guard bytes.count <= limits.bytes else { throw ReceiptDecodingError(.tooLarge(limit: limits.bytes)) }
        var reader = BERReader(bytes, maximumDepth: limits.depth)
        var container = try reader.enter(BERReader.Tag.sequence, "a PKCS #7 container", in: bytes)
        try reader.expectEnd("nothing after the container")
        _ = try container.next(BERReader.Tag.objectIdentifier, "the container's type", in: bytes)
        var explicit = try container.enter(BERReader.Tag.context0, "signed data", in: bytes)
        var signedData = try explicit.enter(BERReader.Tag.sequence, "signed data", in: bytes)
        _ = try signedData.next(BERReader.Tag.integer, "the version of signed data", in: bytes)
        _ = try signedData.next(BERReader.Tag.set, "the digest algorithms", in: bytes)
        let contentStart = signedData.position
        var info = try signedData.enter(BERReader.Tag.sequence, "the content", in: bytes)
        let contentCount = signedData.position - contentStart
        guard bytes.count - contentCount <= limits.certificateBytes else {
            throw ReceiptDecodingError(.tooManyCertificates(limit: limits.certificateBytes), at: signedData.position)
        }
        _ = try info.next(BERReader.Tag.objectIdentifier, "the content's type", in: bytes)
        var octets = try info.enter(BERReader.Tag.context0, "the content's octets", in: bytes)
        content = try octets.octetString("the content's octets", in: bytes)
    }
}
