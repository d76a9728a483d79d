/// A place in BER (X.690), from where elements are read: lengths definite and indefinite, octet strings whole and in pieces.
///
/// The bytes are given to each method and not kept, as counting references to them would take longer than reading them.
///
/// Nothing recurses, so that depth costs no stack. Each level of nesting passes over the bytes of an element of indefinite
/// length once more, so that the limit on depth bounds the time too.
struct BERReader {
    /// The tags that receipts consist of, with the bit for constructed encoding where the type demands it.
    enum Tag {
        static let integer: UInt8 = 0x02
        static let octetString: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let utf8String: UInt8 = 0x0C
        static let ia5String: UInt8 = 0x16
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
        static let context0: UInt8 = 0xA0
        static let constructed: UInt8 = 0x20
    }

    /// One element.
    struct Element {
        let tag: UInt8
        /// Where it begins, its tag included.
        let start: Int
        /// What it holds, without the end-of-contents octets of the indefinite form.
        let content: Range<Int>
    }

    /// What an octet string holds.
    enum Octets {
        /// They lie in the bytes that were read, from here to the reader's end.
        case whole(BERReader)
        /// They lay there in pieces; the reader reads these.
        case pieces([UInt8], BERReader)
    }

    /// What an element's first bytes say.
    private struct Header {
        let tag: UInt8
        let contentStart: Int
        /// Nil for the indefinite form.
        let length: Int?

        var isEndOfContents: Bool { tag == 0 && length == 0 }
    }

    private(set) var position: Int
    private let end: Int
    /// How many levels this reader lies within others, and how many there may be.
    private let depth: Int
    private let maximumDepth: Int

    /// Reads from the beginning.
    init(_ bytes: [UInt8], maximumDepth: Int) {
        self.init(0..<bytes.count, depth: 0, maximumDepth: maximumDepth)
    }

    private init(_ range: Range<Int>, depth: Int, maximumDepth: Int) {
        position = range.lowerBound
        end = range.upperBound
        self.depth = depth
        self.maximumDepth = maximumDepth
    }

    var isAtEnd: Bool { position >= end }

    /// What has not been read yet.
    var rest: Range<Int> { position..<max(position, end) }

    // MARK: Elements

    /// Takes the next element, whatever it is.
    @inline(__always)
    mutating func next(in bytes: [UInt8]) throws(ReceiptDecodingError) -> Element {
        let start = position
        let header = try readHeader(at: start, in: bytes)
        guard !header.isEndOfContents else { throw ReceiptDecodingError(.malformed(expected: "an element"), at: start) }
        let contentEnd: Int
        if let length = header.length {
            contentEnd = header.contentStart + length
            position = contentEnd
        } else {
            contentEnd = try endOfContents(from: header.contentStart, in: bytes)
            position = contentEnd + 2
        }
        return Element(tag: header.tag, start: start, content: header.contentStart..<contentEnd)
    }

    /// Takes the next element, which must have this tag.
    mutating func next(
        _ tag: UInt8, _ name: StaticString, in bytes: [UInt8]
    ) throws(ReceiptDecodingError) -> Element {
        let element = try next(in: bytes)
        guard element.tag == tag else { throw Self.unexpected(element, name) }
        return element
    }

    /// Takes the next element, which must have this tag, to read into.
    mutating func enter(
        _ tag: UInt8, _ name: StaticString, in bytes: [UInt8]
    ) throws(ReceiptDecodingError) -> BERReader {
        try reader(of: next(tag, name, in: bytes))
    }

    private func reader(of element: Element) throws(ReceiptDecodingError) -> BERReader {
        guard depth < maximumDepth else { throw ReceiptDecodingError(.tooDeep(limit: maximumDepth), at: element.start) }
        return BERReader(element.content, depth: depth + 1, maximumDepth: maximumDepth)
    }

    /// Makes sure that nothing is left.
    func expectEnd(_ name: StaticString) throws(ReceiptDecodingError) {
        guard isAtEnd else { throw ReceiptDecodingError(.malformed(expected: name.description), at: position) }
    }

    static func unexpected(_ element: Element, _ name: StaticString) -> ReceiptDecodingError {
        ReceiptDecodingError(.malformed(expected: name.description), at: element.start)
    }

    // MARK: Values

    /// Takes the next element as an integer of at most 64 bits.
    mutating func integer(_ name: StaticString, in bytes: [UInt8]) throws(ReceiptDecodingError) -> Int64 {
        let element = try next(Tag.integer, name, in: bytes)
        guard (1...8).contains(element.content.count) else { throw Self.unexpected(element, name) }
        var value: Int64 = bytes[element.content.lowerBound] & 0x80 == 0 ? 0 : -1
        for index in element.content { value = value << 8 | Int64(bytes[index]) }
        return value
    }

    /// Takes the next element as an octet string, whole or in pieces.
    mutating func octetString(_ name: StaticString, in bytes: [UInt8]) throws(ReceiptDecodingError) -> Octets {
        let element = try next(in: bytes)
        if element.tag == Tag.octetString { return .whole(try reader(of: element)) }
        guard element.tag == Tag.octetString | Tag.constructed else { throw Self.unexpected(element, name) }
        let octets = try joined(element, in: bytes)
        return .pieces(octets, BERReader(0..<octets.count, depth: depth + 1, maximumDepth: maximumDepth))
    }

    /// Puts the pieces of an octet string together, which may be in pieces themselves.
    private func joined(_ element: Element, in bytes: [UInt8]) throws(ReceiptDecodingError) -> [UInt8] {
        var octets: [UInt8] = []
        octets.reserveCapacity(element.content.count)
        var readers = [try reader(of: element)]
        while var reader = readers.popLast() {
            guard !reader.isAtEnd else { continue }
            let piece = try reader.next(in: bytes)
            readers.append(reader)
            switch piece.tag {
            case Tag.octetString: octets += bytes[piece.content]
            case Tag.octetString | Tag.constructed: readers.append(try reader.reader(of: piece))
            default: throw Self.unexpected(piece, "a piece of an octet string")
            }
        }
        return octets
    }

    // MARK: Headers

    /// Reads tag and length, and makes sure that the content of a definite length is there.
    @inline(__always)
    private func readHeader(at start: Int, in bytes: [UInt8]) throws(ReceiptDecodingError) -> Header {
        guard end - start >= 2 else { throw ReceiptDecodingError(.truncated, at: start) }
        let tag = bytes[start]
        // Tags from 31 take more bytes; nothing in a receipt has one.
        guard tag & 0x1F != 0x1F else { throw ReceiptDecodingError(.malformed(expected: "a tag below 31"), at: start) }
        let first = bytes[start + 1]
        var position = start + 2
        var length = Int(first)
        if first == 0x80 {
            guard tag & Tag.constructed != 0 else {
                throw ReceiptDecodingError(.malformed(expected: "a definite length"), at: start)
            }
            return Header(tag: tag, contentStart: position, length: nil)
        }
        if first > 0x80 {
            let count = Int(first & 0x7F)
            guard count <= end - position else { throw ReceiptDecodingError(.truncated, at: start) }
            length = 0
            for index in position..<(position + count) {
                guard length <= Int.max >> 8 else { throw ReceiptDecodingError(.truncated, at: start) }
                length = length << 8 | Int(bytes[index])
            }
            position += count
        }
        guard length <= end - position else { throw ReceiptDecodingError(.truncated, at: start) }
        return Header(tag: tag, contentStart: position, length: length)
    }

    /// Finds where the content of an indefinite length ends.
    ///
    /// - Returns: The position of its end-of-contents octets.
    private func endOfContents(from start: Int, in bytes: [UInt8]) throws(ReceiptDecodingError) -> Int {
        var unended = 1
        var position = start
        while true {
            let header = try readHeader(at: position, in: bytes)
            if header.isEndOfContents {
                unended -= 1
                if unended == 0 { return position }
                position = header.contentStart
            } else if let length = header.length {
                position = header.contentStart + length
            } else {
                unended += 1
                guard depth + unended <= maximumDepth else {
                    throw ReceiptDecodingError(.tooDeep(limit: maximumDepth), at: position)
                }
                position = header.contentStart
            }
        }
    }
}
