import NIOCore

/// An HTTP/1.1 answer as it was on the wire.
struct TestResponse {
    struct Malformed: Error {}

    let status: Int
    /// Names in lower case.
    let headers: [String: String]
    let body: String

    /// Reads an answer if the buffer holds all of it.
    init?(reading buffer: inout ByteBuffer) throws {
        let view = buffer.readableBytesView
        let end = Array("\r\n\r\n".utf8)
        guard let endOfHead = view.indices.first(where: { view[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: view[..<endOfHead], as: UTF8.self).split(separator: "\r\n")
        guard let statusLine = lines.first, statusLine.hasPrefix("HTTP/1.1 "),
            let status = Int(statusLine.dropFirst(9).prefix(3))
        else { throw Malformed() }
        let fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), String((parts.count > 1 ? parts[1] : "").drop { $0 == " " }))
        }
        headers = Dictionary(fields) { "\($0), \($1)" }
        self.status = status
        let length = headers["content-length"].flatMap(Int.init) ?? 0
        guard view.endIndex - endOfHead - end.count >= length else { return nil }
        buffer.moveReaderIndex(forwardBy: endOfHead - view.startIndex + end.count)
        body = buffer.readString(length: length) ?? ""
    }
}
