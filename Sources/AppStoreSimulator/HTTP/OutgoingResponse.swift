import JSON

/// A response before it has headers that every response has.
struct OutgoingResponse: Sendable {
    var status: Int
    var contentType: String?
    var headers: [(name: String, value: String)] = []
    var body: [UInt8] = []

    static func json(_ status: Int, _ body: [UInt8]) -> OutgoingResponse {
        OutgoingResponse(status: status, contentType: "application/json", body: body)
    }

    static func json(_ status: Int, _ value: JSONValue) -> OutgoingResponse {
        json(status, value.serialized(pretty: true) + [UInt8(ascii: "\n")])
    }

    static func text(_ status: Int, _ text: String) -> OutgoingResponse {
        OutgoingResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }
}
