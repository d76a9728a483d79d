/// Walks over DER (X.690) without copying, so that a private key can be read where it lies.
struct DERReader {
    /// Why the bytes are not what was asked for.
    enum Failure: Error {
        /// A length points beyond the end.
        case truncated
        /// Another tag, a length not in its shortest form, or bytes after the end.
        case malformed
    }

    /// The tags of the types that keys and signatures are made of.
    enum Tag: UInt8 {
        case integer = 0x02
        case bitString = 0x03
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
        /// Constructed, context-specific.
        case context0 = 0xA0
        case context1 = 0xA1
    }

    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    /// Whether the next element has this tag.
    func isNext(_ tag: Tag) -> Bool { rest.first == tag.rawValue }

    /// Takes the next element.
    ///
    /// - Returns: Its content.
    /// - Throws: ``Failure``, of which `malformed` also when the tag differs.
    mutating func read(_ tag: Tag) throws(Failure) -> UnsafeRawBufferPointer {
        guard let first = rest.first else { throw .truncated }
        guard first == tag.rawValue else { throw .malformed }
        var offset = 1
        let length = try readLength(at: &offset)
        guard length <= rest.count - offset else { throw .truncated }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[(offset + length)...]) }
        return UnsafeRawBufferPointer(rebasing: rest[offset..<(offset + length)])
    }

    /// Takes the next element as one to read into.
    mutating func enter(_ tag: Tag) throws(Failure) -> DERReader { DERReader(try read(tag)) }

    /// Takes the next element if it has this tag.
    mutating func readIfNext(_ tag: Tag) throws(Failure) -> UnsafeRawBufferPointer? {
        isNext(tag) ? try read(tag) : nil
    }

    func expectEnd() throws(Failure) {
        guard isAtEnd else { throw .malformed }
    }

    /// Reads a length of at most 65,535, beyond anything read here.
    private func readLength(at offset: inout Int) throws(Failure) -> Int {
        guard offset < rest.count else { throw .truncated }
        let first = rest[offset]
        offset += 1
        guard first >= 0x80 else { return Int(first) }
        guard first == 0x81 || first == 0x82 else { throw .malformed }
        let digits = Int(first & 0x7F)
        guard offset + digits <= rest.count else { throw .truncated }
        let length = rest[offset..<(offset + digits)].reduce(0) { $0 << 8 | Int($1) }
        guard length >= (digits == 1 ? 0x80 : 0x100) else { throw .malformed }
        offset += digits
        return length
    }
}
