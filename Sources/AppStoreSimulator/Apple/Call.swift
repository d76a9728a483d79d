import Foundation

/// A request on its way through the service.
struct Call: Sendable {
    let request: IncomingRequest
    let token: Result<BearerToken, TokenFault>
    /// The simulated time, which a fault may have set wrong; what is done and signed is dated by it.
    let time: Date
    /// The real time, which the same fault may have set wrong; callers' tokens are judged and their calls counted by it.
    let realTime: Date
    let tampering: Tampering?

    /// The simulated time, UNIX milliseconds.
    var milliseconds: Int64 { time.unixMilliseconds }
}
