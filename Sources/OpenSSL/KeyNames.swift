import COpenSSL

/// Names of algorithms and curves, for messages to people.
enum KeyNames {
    /// The common name of an object identifier: NIST's for curves (`P-384`), else libcrypto's, else its digits.
    ///
    /// - Parameter content: The identifier's DER without tag and length.
    /// - Returns: The name, or `unknown`.
    static func name(ofObjectIdentifier content: UnsafeRawBufferPointer) -> String {
        let unknown = "unknown"
        guard let count = UInt8(exactly: content.count), count < 0x80 else { return unknown }
        let der = [DERReader.Tag.objectIdentifier.rawValue, count] + content
        let object = der.withUnsafeBufferPointer { bytes in
            var position = bytes.baseAddress
            return d2i_ASN1_OBJECT(nil, &position, bytes.count)
        }
        guard let object else {
            OpenSSLError.clearQueue()
            return unknown
        }
        defer { ASN1_OBJECT_free(object) }
        let number = OBJ_obj2nid(object)
        if number != NID_undef { return name(ofNumber: number) }
        return String(unsafeUninitializedCapacity: 128) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                let count = OBJ_obj2txt(text.baseAddress, CInt(text.count), object, 1)
                return min(max(Int(count), 0), text.count - 1)
            }
        }
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
