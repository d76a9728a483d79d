import GRPCCore
import JSON

/// What a call asks of the route behind it, as a client of the REST face would.
package struct RouteRequest: Sendable {
    /// Why the message is no request of the route: told once it is known who asks.
    package struct Fault: Sendable {
        package let field: String
        package let rule: String
        package let message: String
    }

    /// The method of HTTP.
    package let method: String
    /// The path, percent-encoded, and the query.
    package let target: String
    /// Names in lower case.
    package let headers: [(name: String, value: String)]
    /// Nil where the route takes none.
    package let body: [UInt8]?
    package let faults: [Fault]
    /// Whether the route's path has an app and the message names none.
    package let lacksApp: Bool
    /// How long the client waits.
    package let timeout: Duration?
}

/// What a route answers.
package struct RouteAnswer: Sendable {
    package let status: Int
    package let headers: [(name: String, value: String)]
    package let body: [UInt8]

    package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first header field of a name in lower case.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Makes requests of messages.
struct RouteRequestReader {
    private let contract: ProtoContract

    init(_ contract: ProtoContract) { self.contract = contract }

    /// The fields of a request's head that metadata may have; all others come of the message, or of nowhere.
    private static let passed = [
        "authorization", "x-request-id", "traceparent", "tracestate", "x-forwarded-for", "purser-operator",
    ]

    /// The request that a message stands for.
    ///
    /// `query`: what is asked besides what the message says.
    func request(
        _ message: [UInt8], _ method: ProtoMethod, _ metadata: Metadata,
        query added: [(name: String, value: UntrustedText)] = []
    ) -> RouteRequest {
        var reader = MessageReader(contract)
        let type = contract.messages[method.input]
        var (path, query) = (method.route.path, added)
        var headers = Self.headers(metadata)
        var preferences: [String] = []
        var body: [UInt8]?
        var lacksApp = false
        let parsed = reader.parse(message, method.input)
        for (place, field) in type.fields.enumerated() where field.place != .body {
            let elements =
                parsed.map { reader.elements(of: field, at: place, in: $0, field.jsonName) } ?? []
            let texts = elements.map { reader.text($0, at: field.jsonName) }
            switch field.place {
            case .path:
                let text = texts.last ?? ""
                if text.utf8.isEmpty {
                    reader.note(field.jsonName, "required", "`\(field.jsonName)` is missing.")
                    if field.jsonName == "app" { lacksApp = true }
                }
                path.replace("{\(field.jsonName)}", with: URLText.encode(text.utf8.isEmpty ? "-" : text))
            // Said to be nothing in particular, an enumeration is left out.
            case .query: query += texts.filter { !$0.utf8.isEmpty || field.kind == .text }.map { (field.jsonName, $0) }
            case .header: headers += texts.map { (field.jsonName.lowercased(), $0.streamSafe) }
            case .prefer: preferences += zip(elements, texts).compactMap { Self.preference($0, $1) }
            case .body: break
            }
        }
        if !preferences.isEmpty { headers.append(("prefer", preferences.joined(separator: ", "))) }
        if !method.route.body.isEmpty {
            body = self.body(parsed, method, &reader)
            headers.append(("content-type", "application/json"))
        }
        if let parsed { reader.noteUnknown(parsed, at: "") }
        let pairs = query.map { "\(URLText.encode(UntrustedText($0.name)))=\(URLText.encode($0.value))" }
        return RouteRequest(
            method: method.route.method, target: pairs.isEmpty ? path : "\(path)?\(pairs.joined(separator: "&"))",
            headers: headers, body: body,
            faults: reader.faults.map { RouteRequest.Fault(field: $0.field, rule: $0.rule, message: $0.message) },
            lacksApp: lacksApp, timeout: CallTimeout.read(metadata))
    }

    private func body(_ parsed: ParsedMessage?, _ method: ProtoMethod, _ reader: inout MessageReader) -> [UInt8] {
        var writer = JSONWriter(capacity: parsed?.bytes.count ?? 2)
        let type = contract.messages[method.input]
        guard let parsed else { return Array("{}".utf8) }
        if method.route.body == "*" {
            writer.beginObject()
            for place in type.fields.indices where type.fields[place].place == .body {
                reader.writeMember(place, of: parsed, type, to: &writer, at: "", 1)
            }
            writer.endObject()
        } else if let place = type.fields.firstIndex(where: { $0.name == method.route.body }),
            case .message(let message, let inner)? = reader.elements(
                of: type.fields[place], at: place, in: parsed, method.route.body
            ).last
        {
            reader.write(inner, message, to: &writer)
        } else {
            return Array("{}".utf8)
        }
        return writer.takeBytes()
    }

    private static func headers(_ metadata: Metadata) -> [(name: String, value: String)] {
        passed.flatMap { name in metadata[stringValues: name].map { (name, $0) } }
    }

    /// One of the preferences of RFC 7240: to be answered at once, or after so many seconds.
    private static func preference(_ element: MessageReader.Element, _ text: UntrustedText) -> String? {
        switch element {
        case .boolean(let isWanted): isWanted ? "respond-async" : nil
        default: "wait=\(text.streamSafe)"
        }
    }
}

/// Percent-encoding of whatever is not unreserved (RFC 3986 section 2.3), so that nothing of a value is taken for what stands
/// around it.
enum URLText {
    static func encode(_ text: UntrustedText) -> String {
        var encoded: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            default: encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}

/// How long a client waits, by the metadata `grpc-timeout`.
///
/// Source: PROTOCOL-HTTP2.md of gRPC, "Timeout": a number of at most eight digits and a unit.
enum CallTimeout {
    /// Nil where the client does not say, or in no form that there is.
    static func read(_ metadata: Metadata) -> Duration? {
        guard let text = metadata[stringValues: "grpc-timeout"].first(where: { _ in true }),
            (2...9).contains(text.utf8.count), text.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) }),
            let unit = text.utf8.last, let number = Int64(Substring(text.utf8.dropLast()))
        else { return nil }
        switch unit {
        case UInt8(ascii: "H"): return .seconds(number * 3600)
        case UInt8(ascii: "M"): return .seconds(number * 60)
        case UInt8(ascii: "S"): return .seconds(number)
        case UInt8(ascii: "m"): return .milliseconds(number)
        case UInt8(ascii: "u"): return .microseconds(number)
        case UInt8(ascii: "n"): return .nanoseconds(number)
        default: return nil
        }
    }
}
