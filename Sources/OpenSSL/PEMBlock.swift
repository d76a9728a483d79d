/// The one block of a PEM text (RFC 7468) that should hold a private key, as places in the memory it was read from.
///
/// Valid only while that memory is lent. No text is made of it: whatever the file is, it may hold a key.
struct PEMBlock {
    private static let opening = "-----BEGIN"
    private static let dashes = "-----"
    /// The first digits of the Base64 of ``opening`` and a space (RFC 4648 section 4).
    private static let encodedOpening = "LS0tLS1CRUdJTi"

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
        if let count = Self.quotationMarkCount(firstLine), firstLine.dropFirst(count).starts(with: Self.opening.utf8) {
            throw .quoted
        }
        if firstLine.starts(with: Self.encodedOpening.utf8) { throw .base64OfFile }
        let openings = lines.indices.filter { lines[$0].starts(with: Self.opening.utf8) }
        guard let begin = openings.first else { throw Self.isDER(text) ? .derEncoded : .notPEM }
        let label = try Self.label(of: lines[begin])
        // OpenSSL writes this block before a key in the SEC 1 form.
        if label == .ecParameters { throw .notPKCS8 }
        guard openings.count == 1 else { throw .severalBlocks }
        let rest = lines[(begin + 1)...]
        if rest.first?.starts(with: "Proc-Type:".utf8) == true { throw .encryptedPEM }
        try Self.checkLabel(label)
        guard let end = rest.firstIndex(where: { $0.elementsEqual(Self.ending) }) else {
            throw Self.faultWithoutEnd(rest)
        }
        guard begin == 0, end == lines.count - 1 else { throw .textOutsideBlock }
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

    /// Reads a line that begins with ``opening``.
    ///
    /// - Returns: The label; nil for one that is not in the list.
    /// - Throws: ``PrivateKeyError`` if the line ends before the label does, or has something after it.
    private static func label(of line: UnsafeRawBufferPointer) throws(PrivateKeyError) -> PEMLabel? {
        let rest = line.dropFirst(opening.utf8.count).drop(while: isBlank)
        // A label has single hyphens at most, so the first five dashes end it, wherever the line ends.
        guard let end = firstDashes(in: rest), end > rest.startIndex else { throw .truncated }
        let following = rest[end...].dropFirst(dashes.utf8.count)
        if following.isEmpty { return PEMLabel(rest[..<end]) }
        throw isEscape(following) ? .escapedLineBreaks : .lineBreaksMissing
    }

    /// Where the first five dashes are.
    private static func firstDashes(in bytes: Slice<UnsafeRawBufferPointer>) -> Int? {
        var count = 0
        for index in bytes.indices {
            count = bytes[index] == UInt8(ascii: "-") ? count + 1 : 0
            if count == dashes.utf8.count { return index + 1 - count }
        }
        return nil
    }

    /// Whether bytes begin as a line break does that is written as `\n` or `\r`, the backslash doubled or not.
    private static func isEscape(_ bytes: some Collection<UInt8>) -> Bool {
        let letter = bytes.drop { $0 == UInt8(ascii: "\\") }.first
        return bytes.first == UInt8(ascii: "\\") && (letter == UInt8(ascii: "n") || letter == UInt8(ascii: "r"))
    }

    /// The end line of the one label that is accepted.
    private static let ending = "-----END \(PEMLabel.privateKey.rawValue)-----".utf8

    /// Why the lines after a `BEGIN` line hold no end line.
    private static func faultWithoutEnd(_ lines: ArraySlice<UnsafeRawBufferPointer>) -> PrivateKeyError {
        for line in lines where line.count > ending.count {
            // The last line break alone may be missing or escaped.
            if line.suffix(ending.count).elementsEqual(ending) {
                let before = line.dropLast(ending.count).suffix(2)
                return isEscape(before) ? .escapedLineBreaks : .lineBreaksMissing
            }
        }
        guard let last = lines.last, last.starts(with: ending), quotationMarkCount(last.dropFirst(ending.count)) != nil
        else { return .truncated }
        return .quoted
    }

    /// How many bytes the quotation mark has that the bytes begin with; nil if they begin with none.
    ///
    /// Word processors replace `"` and `'` by U+2018 to U+201F.
    private static func quotationMarkCount(_ bytes: some Collection<UInt8>) -> Int? {
        switch bytes.first {
        case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"): 1
        case 0xE2:
            bytes.dropFirst().first == 0x80 && bytes.dropFirst(2).first.map { (0x98...0x9F).contains($0) } == true
                ? 3 : nil
        default: nil
        }
    }

    private static func checkLabel(_ label: PEMLabel?) throws(PrivateKeyError) {
        switch label {
        case .privateKey: return
        case .encryptedPrivateKey: throw .encryptedPEM
        case .ecPrivateKey: throw .notPKCS8
        case .rsaPrivateKey: throw .rsaKey
        case .publicKey, .rsaPublicKey, .ecPublicKey, .ecdsaPublicKey, .dsaPublicKey: throw .publicKey
        case .certificate, .trustedCertificate, .x509Certificate, .x509CertificateWithDot: throw .certificate
        default: throw .otherBlock(label)
        }
    }

    /// Whether the bytes begin like a long DER sequence, as every binary key does.
    private static func isDER(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count > 4 && bytes[0] == DERReader.Tag.sequence.rawValue && bytes[1] > 0x80
    }
}
