/// Counts what was asked and what was answered on one connection, on which answers come in the order of the requests.
struct PipelineState {
    private var requestsBegun = 0
    private var responsesEnded = 0

    /// Whether a request has begun and its end has not arrived.
    private(set) var isReadingRequest = false

    /// The bytes of body that have arrived of the request being read.
    private(set) var bodyBytes = 0

    /// Whether there was a request at all.
    var hasBegun: Bool { requestsBegun > 0 }

    /// How many requests have begun and are not answered to the end.
    var pendingResponses: Int { requestsBegun - responsesEnded }

    /// How many requests have arrived whole and are not answered to the end: the work of the connection.
    ///
    /// One that was answered at its head, and of which the body is thrown away, is none.
    var wholePending: Int { max(0, pendingResponses - (isReadingRequest ? 1 : 0)) }

    mutating func requestBegins() {
        requestsBegun += 1
        isReadingRequest = true
        bodyBytes = 0
    }

    mutating func bodyArrives(_ count: Int) {
        bodyBytes += count
    }

    mutating func requestEnds() {
        isReadingRequest = false
    }

    mutating func responseEnds() {
        responsesEnded += 1
    }
}
