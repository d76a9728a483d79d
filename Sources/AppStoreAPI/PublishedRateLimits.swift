/// The rates that Apple publishes: how often an app may make a call of its server APIs.
///
/// Apple states them by the second (``Endpoint/Operation/requestsPerSecond``) and counts calls by the hour, for each app, call
/// and environment; beyond that a call is answered with error 4290000 and a `Retry-After` header.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/identifying-rate-limits
package enum PublishedRateLimits {
    /// How much of a rate holds in the sandbox, in percent.
    package static let sandboxPercent = 10

    /// The time over which Apple counts calls, in seconds.
    package static let windowSeconds = 3600

    /// How many calls an app may make in an hour; nil where Apple publishes no rate.
    package static func callsPerHour(_ operation: Endpoint.Operation, inSandbox: Bool) -> Int? {
        operation.requestsPerSecond.map { $0 * windowSeconds * (inSandbox ? sandboxPercent : 100) / 100 }
    }
}
