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
        let line = bytes.prefix { $0 != UInt8(ascii: "\r") && $0 != UInt8(ascii: "\n") }
        if line.isEmpty {
            headersAreComplete = !isInterim
        } else if line.starts(with: "HTTP/".utf8) {
            headers.removeAll()
            isInterim = line.drop { $0 != UInt8(ascii: " ") }.dropFirst().first == UInt8(ascii: "1")
        } else if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
            headers.extendLast(by: Self.text(line))
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            headers.append(name: Self.text(line[..<colon]), value: Self.text(line[(colon + 1)...]))
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
    private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        guard let last = bytes.lastIndex(where: { !isBlank($0) }) else { return "" }
        return String(decoding: bytes[...last].drop(while: isBlank), as: UTF8.self)
    }
}
