import Foundation

/// Complete HTTP/1.1 requests in a file, each after its length: made before the clock runs, sent by `LoadProbe`.
enum RequestFile {
    /// Writes requests to a new file.
    ///
    /// - Throws: errors of the file system.
    static func write(_ requests: some Sequence<[UInt8]>, to url: URL) throws {
        var bytes = Data()
        for request in requests {
            withUnsafeBytes(of: UInt32(request.count).littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: request)
        }
        try bytes.write(to: url)
    }

    /// Reads what `write` wrote.
    ///
    /// - Throws: errors of the file system, `BenchError` when it is something else.
    static func read(_ path: String) throws -> [[UInt8]] {
        let bytes = try Data(contentsOf: URL(filePath: path), options: .alwaysMapped)
        var requests: [[UInt8]] = []
        var position = 0
        while position + 4 <= bytes.count {
            let count = (0..<4).reduce(0) { $0 | Int(bytes[position + $1]) << (8 * $1) }
            position += 4
            guard position + count <= bytes.count else { throw BenchError("\(path) is cut off") }
            requests.append([UInt8](bytes[position..<position + count]))
            position += count
        }
        guard !requests.isEmpty else { throw BenchError("\(path) holds no request") }
        return requests
    }

    /// A request as it goes out.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - target: the path with its query.
    ///   - headers: fields besides `Host` and `Content-Length`.
    ///   - body: the content, nil for none.
    /// - Returns: its bytes.
    static func request(
        _ method: String, _ target: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) -> [UInt8] {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\n"
        for (name, value) in headers { text += "\(name): \(value)\r\n" }
        if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n" }
        return Array((text + "\r\n").utf8) + (body ?? [])
    }
}
