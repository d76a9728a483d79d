import GRPCCore
import JSON

/// The end of a call, as gRPC tells it.
struct CallStatus {
    var code: Status.Code
    var message: String
    /// What is wrong, as a `google.rpc.Status`; nil where there is no more to say.
    var details: [UInt8]?

    static let ok = CallStatus(code: .ok, message: "")

    init(code: Status.Code, message: String, details: [UInt8]? = nil) {
        self.code = code
        self.message = message
        self.details = details
    }

    var status: Status { Status(code: code, message: message) }

    /// The metadata behind the answer.
    func trailers(requestID: String? = nil) -> Metadata {
        var metadata: Metadata = [:]
        if let details { metadata.addBinary(details, forKey: "grpc-status-details-bin") }
        if let requestID { metadata.addString(requestID, forKey: "x-request-id") }
        return metadata
    }
}

/// Turns problems of the REST face into statuses: code, text and details are those that the problem has.
///
/// Source: google/rpc/status.proto, google/rpc/error_details.proto
struct CallStatusWriter: Sendable {
    /// Of the reasons in `ErrorInfo`.
    static let domain = "purser"
    /// What the details may take, so that clients, which take 8 KiB of metadata by default, get them.
    private static let maximumBytes = 5 << 10

    private let contract: ProtoContract
    private let problem: Int?

    init(_ contract: ProtoContract) {
        self.contract = contract
        problem = contract.message(named: "purser.v1.Problem")
    }

    /// The status of an answer that is no success.
    func status(of answer: RouteAnswer) -> CallStatus {
        guard let object = try? JSONScanner.members(of: answer.body), let name = object["code"]?.string?.streamSafe
        else {
            return CallStatus(code: .init(httpStatus: answer.status), message: "HTTP status \(answer.status).")
        }
        let code = Status.Code(name: name)
        let message = (object["detail"]?.string ?? object["title"]?.string)?.streamSafe ?? ""
        var details = WireWriter(capacity: 1024)
        details.field(1, int64: Int64(code.rawValue))
        details.field(2, text: message)
        append(errorInfo(object), "google.rpc.ErrorInfo", to: &details)
        if let seconds = object["retryAfter"]?.int64 {
            var retry = WireWriter()
            retry.field(1) { if seconds != 0 { $0.field(1, int64: seconds) } }
            append(retry, "google.rpc.RetryInfo", to: &details)
        }
        if let requestID = object["requestId"]?.string {
            var request = WireWriter()
            request.field(1, text: requestID)
            append(request, "google.rpc.RequestInfo", to: &details)
        }
        if let violations = object["violations"]?.array {
            append(
                badRequest(violations, room: Self.maximumBytes - details.bytes.count), "google.rpc.BadRequest",
                to: &details)
        }
        // The whole of it, if it is not too long.
        if let problem {
            var writer = MessageWriter(contract)
            let bytes = writer.bytes(of: object, as: problem)
            if details.bytes.count + bytes.count <= Self.maximumBytes {
                append(bytes, "purser.v1.Problem", to: &details)
            }
        }
        return CallStatus(code: code, message: message, details: details.bytes)
    }

    private func errorInfo(_ problem: JSONMembers) -> WireWriter {
        var info = WireWriter()
        info.field(1, text: problem["reason"]?.string ?? "")
        info.field(2, text: Self.domain)
        var metadata: [(String, UntrustedText)] = []
        for name in ["status", "owner", "user"] {
            if let text = problem[name]?.plainText { metadata.append((name, text)) }
        }
        for (name, value) in problem["apple"]?.object.map(Array.init) ?? [] {
            if let text = value.plainText {
                let name = name.shortened
                metadata.append(("apple" + name.prefix(1).uppercased() + name.dropFirst(), text))
            }
        }
        for (name, value) in metadata {
            info.field(3) { entry in
                entry.field(1, text: name)
                entry.field(2, text: value)
            }
        }
        return info
    }

    /// As many violations as there is room for.
    private func badRequest(_ violations: [JSONSlice], room: Int) -> WireWriter {
        var request = WireWriter()
        for violation in violations.compactMap(\.object) {
            var one = WireWriter()
            one.field(1, text: violation["field"]?.string ?? "")
            one.field(2, text: violation["message"]?.string ?? "")
            // As reasons are written: in capitals.
            let reason = (violation["appleErrorName"]?.string ?? violation["rule"]?.string)?.streamSafe ?? ""
            one.field(3, text: Self.constant(reason))
            guard request.bytes.count + one.bytes.count < room - 64 else { break }
            request.field(1, bytes: one.bytes)
        }
        return request
    }

    /// A name as a constant: `consumptionPercentage` becomes `CONSUMPTION_PERCENTAGE`.
    static func constant(_ name: String) -> String {
        var constant = ""
        var isLower = false
        for character in name {
            if character.isUppercase, isLower { constant += "_" }
            isLower = character.isLowercase || character.isNumber
            constant += character == "-" || character == " " || character == "." ? "_" : character.uppercased()
        }
        return constant
    }

    private func append(_ message: WireWriter, _ type: String, to status: inout WireWriter) {
        append(message.bytes, type, to: &status)
    }

    /// A `google.protobuf.Any`.
    private func append(_ bytes: [UInt8], _ type: String, to status: inout WireWriter) {
        status.field(3) { any in
            any.field(1, text: "type.googleapis.com/\(type)")
            any.field(2, bytes: bytes)
        }
    }
}

extension JSONSlice {
    /// A text or number as text.
    fileprivate var plainText: UntrustedText? { string ?? number.map { UntrustedText($0.text) } }
}

extension Status.Code {
    /// The names of all codes, by their numbers.
    ///
    /// Source: google/rpc/code.proto
    private static let names = [
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
    ]

    /// The code of a name such as `NOT_FOUND`.
    init(name: String) { self = Self.names.firstIndex(of: name).flatMap { Self(rawValue: $0) } ?? .unknown }

    /// The name of the code with a number.
    static func name(of number: Int) -> String { names.indices.contains(number) ? names[number] : String(number) }

    /// The code of an answer that says nothing else.
    init(httpStatus: Int) {
        self =
            switch httpStatus {
            case 400: .invalidArgument
            case 401: .unauthenticated
            case 403: .permissionDenied
            case 404: .notFound
            case 429: .resourceExhausted
            case 502, 503: .unavailable
            case 504: .deadlineExceeded
            default: .unknown
            }
    }
}
