/// The one block of a PEM text (RFC 7468) that should hold a private key, as places in the memory it was read from.
///
/// Valid only while that memory is lent.
struct PEMBlock {
    private static let opening = "-----BEGIN"
    private static let boundaryEnd = "-----"

    /// What stands after `BEGIN`.
    let label: String
    /// The lines between the boundaries, trimmed.
    let body: [UnsafeRawBufferPointer]

    /// Finds the block.
    ///
    /// Line ends may be those of Windows; blank lines, and blanks at the ends of lines, are ignored.
    /// - Throws: ``PrivateKeyError`` naming what the text is instead.
    init(_ text: UnsafeRawBufferPointer) throws(PrivateKeyError) {
        let lines = Self.lines(of: text)
        guard let firstLine = lines.first else { throw .empty }
        if firstLine.starts(with: [0xEF, 0xBB, 0xBF]) { throw .byteOrderMark }
        let openings = lines.indices.filter { lines[$0].starts(with: Self.opening.utf8) }
        guard let begin = openings.first else { throw Self.isDER(text) ? .derEncoded : .notPEM }
        guard let label = Self.label(of: lines[begin]) else { throw .truncated }
        // OpenSSL writes this block before a key in the SEC 1 form.
        if label == "EC PARAMETERS" { throw .notPKCS8 }
        guard openings.count == 1 else { throw .severalBlocks }
        let rest = lines[(begin + 1)...]
        if rest.first?.starts(with: "Proc-Type:".utf8) == true { throw .encryptedPEM }
        try Self.checkLabel(label)
        guard let end = rest.firstIndex(where: { $0.elementsEqual("-----END \(label)-----".utf8) }) else {
            throw .truncated
        }
        guard begin == 0, end == lines.count - 1 else { throw .textOutsideBlock }
        self.label = label
        body = Array(lines[(begin + 1)..<end])
    }

    /// Decodes the lines of the body.
    ///
    /// - Returns: The content, in memory of its own.
    /// - Throws: ``PrivateKeyError/malformed``, ``PrivateKeyError/truncated`` or ``PrivateKeyError/noMemory(_:)``
    func decodedBody() throws(PrivateKeyError) -> SecureBytes {
        let digits = body.joined()
        let digitCount = body.reduce(0) { $0 + $1.count }
        guard digitCount % 4 == 0 else { throw .truncated }
        let paddingCount = body.last.map { $0.reversed().prefix(2).count { $0 == UInt8(ascii: "=") } } ?? 0
        var isValid = true
        let content: SecureBytes
        do throws(SecureBytesError) {
            content = try SecureBytes(count: digitCount / 4 * 3 - paddingCount) { output in
                isValid = Self.decode(digits.prefix(digitCount - paddingCount), into: output)
            }
        } catch {
            throw .noMemory(error)
        }
        guard isValid else { throw .malformed }
        return content
    }

    /// Decodes Base64 digits (RFC 4648, section 4) without padding.
    private static func decode(_ digits: some Sequence<UInt8>, into output: UnsafeMutableRawBufferPointer) -> Bool {
        var bits: UInt32 = 0
        var bitCount = 0
        var index = 0
        for digit in digits {
            guard let value = value(ofDigit: digit) else { return false }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            guard bitCount >= 8 else { continue }
            bitCount -= 8
            output[index] = UInt8(truncatingIfNeeded: bits >> bitCount)
            index += 1
        }
        return index == output.count
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }

    // MARK: Boundaries

    /// The text's lines, trimmed, without blank ones.
    private static func lines(of text: UnsafeRawBufferPointer) -> [UnsafeRawBufferPointer] {
        text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
            .map { line in
                let trimmedEnd = line.lastIndex { !isBlank($0) }.map { $0 + 1 } ?? line.startIndex
                return UnsafeRawBufferPointer(rebasing: line[..<trimmedEnd].drop(while: isBlank))
            }
            .filter { !$0.isEmpty }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    private static func label(of line: UnsafeRawBufferPointer) -> String? {
        let rest = line.dropFirst(opening.utf8.count).drop(while: isBlank)
        guard rest.count > boundaryEnd.utf8.count, rest.suffix(boundaryEnd.utf8.count).elementsEqual(boundaryEnd.utf8)
        else { return nil }
        return String(decoding: rest.dropLast(boundaryEnd.utf8.count), as: UTF8.self)
    }

    private static func checkLabel(_ label: String) throws(PrivateKeyError) {
        switch label {
        case "PRIVATE KEY": return
        case "ENCRYPTED PRIVATE KEY": throw .encryptedPEM
        case "EC PRIVATE KEY": throw .notPKCS8
        case "RSA PRIVATE KEY": throw .rsaKey
        case "PUBLIC KEY", "RSA PUBLIC KEY", "EC PUBLIC KEY": throw .publicKey
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE": throw .certificate
        default: throw .otherBlock(label: String(label.filter { $0.isASCII && !$0.isNewline }.prefix(40)))
        }
    }

    /// Whether the bytes begin like a long DER sequence, as every binary key does.
    private static func isDER(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count > 4 && bytes[0] == DERReader.Tag.sequence.rawValue && bytes[1] > 0x80
    }
}
