import Foundation

/// A request on its way through the service.
struct Call: Sendable {
    let request: IncomingRequest
    let token: Result<BearerToken, TokenFault>
    /// The time by the server's clock, which a fault may have set wrong.
    let time: Date
    let tampering: Tampering?
}
