/// What the listener is to do with a request's outcome.
enum Delivery: Sendable {
    case response(OutgoingResponse)
    /// Sends the first half of the body, then ends the connection.
    case truncated(OutgoingResponse)
    /// Resets the connection.
    case reset
}
