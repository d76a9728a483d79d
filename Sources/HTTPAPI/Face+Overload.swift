package import HTTPTypes
package import NIOCore

extension Face {
    /// Answers a request that there is no place for; at once, on the event loop, before anything else is done.
    package func turnAway(_ request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer) {
        meter.countRefusal()
        let requestID = RequestID.sane(request.headerFields[.xRequestID]) ?? makeRequestID()
        return overload.answer(requestID: requestID, date: clock.text())
    }
}

extension DoorFace {
    /// Answers a request that there is no place for; at once, on the event loop, before anything else is done.
    package func turnAway(_ request: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer) {
        meter.countRefusal()
        let requestID = RequestID.sane(request.headerFields[.xRequestID]) ?? makeRequestID()
        return DoorRefusal.overload(now: now()).answer(requestID: requestID, date: clock.text())
    }
}
