import Curl
import Domain

/// What every call to Apple is made with.
struct UpstreamParts: Sendable {
    let transport: AppleTransport
    let tokens: any TokenSource
    let budget: any CallBudget
    let breakers: CircuitBreakers
    let unauthorized: UnauthorizedProcedure
    let clock: UpstreamClock
    let meter: UpstreamMeter
}
