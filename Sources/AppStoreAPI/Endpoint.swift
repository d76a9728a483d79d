/// One call of Apple's server APIs with its parameters, but without host, token and body.
package struct Endpoint: Sendable, Hashable {
    package let operation: Operation
    /// The parameters of the path in its order, as they are, not encoded.
    package let pathParameters: [String]
    /// The query's parameters in the order in which they are sent; a name can occur several times.
    package let query: [QueryParameter]

    /// A call with as many path parameters as its path template has.
    package init(_ operation: Operation, _ pathParameters: [String] = [], query: [QueryParameter] = []) {
        self.operation = operation
        self.pathParameters = pathParameters
        self.query = query
    }

    /// The title of Apple's page for the call.
    package var name: String { operation.name }

    /// The HTTP method.
    package var method: String { operation.method }

    /// The path, percent-encoded.
    package var path: String {
        var parameters = pathParameters.makeIterator()
        var path = ""
        // By bytes: this runs for every call, and finding characters costs ten times as much.
        for segment in operation.pathTemplate.utf8.split(separator: UInt8(ascii: "/")) {
            path += "/"
            if segment.first == UInt8(ascii: "{") {
                path += PercentEncoding.encode(pathSegment: parameters.next() ?? "")
            } else {
                path += Substring(segment)
            }
        }
        return path
    }

    /// What follows the host in the URL: path and query, percent-encoded.
    package var pathAndQuery: String {
        guard !query.isEmpty else { return path }
        return path + "?" + query.map(\.encoded).joined(separator: "&")
    }
}

/// A parameter of a query, not encoded.
package struct QueryParameter: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// The parameter as it stands in a URL.
    package var encoded: String { "\(PercentEncoding.encode(name))=\(PercentEncoding.encode(value))" }
}

/// Percent-encoding that leaves nothing but the unreserved characters of RFC 3986 section 2.3 as they are.
enum PercentEncoding {
    /// Encodes the UTF-8 bytes of a text.
    static func encode(_ text: String) -> String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded.append(UInt8(ascii: "%"))
                encoded.append(hexadecimal(byte >> 4))
                encoded.append(hexadecimal(byte & 15))
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Encodes one segment of a path.
    ///
    /// A segment of one or two dots would be taken for a step within the path (RFC 3986 section 5.2.4), so its dots are encoded too.
    static func encode(pathSegment: String) -> String {
        pathSegment == "." || pathSegment == ".."
            ? String(repeating: "%2E", count: pathSegment.utf8.count) : encode(pathSegment)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default:
            false
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "A") + digit - 10
    }
}

/// Where Apple serves the App Store Server API: scheme and host, to be followed by ``Endpoint/pathAndQuery``.
///
/// These are the hosts that Apple's server libraries have used since May 2026; before, they were `api.storekit.itunes.apple.com` and
/// `api.storekit-sandbox.itunes.apple.com`.
/// Source: https://developer.apple.com/documentation/appstoreserverapi
package enum BaseURL {
    package static let production = "https://api.storekit.apple.com"
    package static let sandbox = "https://api.storekit-sandbox.apple.com"
}
