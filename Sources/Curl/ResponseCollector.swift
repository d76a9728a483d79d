/// Gathers a response from the pieces that curl hands out, within its limits.
struct ResponseCollector {
    private(set) var headers = CurlHeaders()
    private(set) var body: [UInt8] = []
    /// What was too much, once something was.
    private(set) var excess: String?

    private let maximumHeaderBytes: Int
    private let maximumBodyBytes: Int
    private var headerBytes = 0
    private var isInterim = false
    /// Set by the empty line after the final response's fields; what follows are trailers.
    private var headersAreComplete = false

    init(maximumHeaderBytes: Int, maximumBodyBytes: Int) {
        self.maximumHeaderBytes = maximumHeaderBytes
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// Takes in one header line, status lines included, in the form of HTTP/1.1 whatever the version.
    ///
    /// - Parameter bytes: The line with its end.
    /// - Returns: False if the transfer must end because there is too much.
    mutating func receiveHeader(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        headerBytes += bytes.count
        guard headerBytes <= maximumHeaderBytes else {
            excess = "the header exceeds \(maximumHeaderBytes) bytes"
            return false
        }
        guard !headersAreComplete else { return true }
        var end = bytes.count
        while end > 0, bytes[end - 1] == UInt8(ascii: "\n") || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        guard end > 0 else {
            headersAreComplete = !isInterim
            return true
        }
        let line = bytes[..<end]
        if line.starts(with: "HTTP/".utf8) {
            headers.removeAll()
            isInterim = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().first == UInt8(ascii: "1")
        } else if Self.isBlank(bytes[0]) {
            headers.extendLast(by: Self.trimmed(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...]))
        }
        return true
    }

    /// Takes in a piece of the content.
    ///
    /// - Parameter bytes: The piece.
    /// - Returns: False if the transfer must end because there is too much.
    mutating func receiveBody(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard body.count + bytes.count <= maximumBodyBytes else {
            excess = "the content exceeds \(maximumBodyBytes) bytes"
            return false
        }
        body.append(contentsOf: bytes)
        return true
    }

    /// The text without white space at its ends (RFC 9110, section 5.5).
    private static func trimmed(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
        var (start, end) = (text.startIndex, text.endIndex)
        while start < end, isBlank(text[start]) { start += 1 }
        while start < end, isBlank(text[end - 1]) { end -= 1 }
        return text[start..<end]
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
