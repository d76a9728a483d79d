package import AppStoreAPI
package import JSON

/// What came in on one of Apple's doors, and what went out; of the token only what it says.
package struct ReceivedRequest: Sendable {
    /// Counts all requests since the start, from 1.
    package let number: Int
    /// When it had come in whole, UNIX milliseconds.
    package let arrival: Int64
    /// When it was answered, UNIX milliseconds.
    package let time: Int64
    package let environment: SimulatedEnvironment
    package let method: String
    /// The path, as it came.
    package let path: String
    /// The query, as it came.
    package let query: String?
    /// Nil for paths that are not Apple's.
    package let operation: Endpoint.Operation?
    /// The identifier in the path.
    package let identifier: String?
    /// What the token says, whether it was good or not.
    package let bundleID: String?
    package let keyID: String?
    /// The body, if it is JSON.
    package let body: JSONValue?
    /// Consumption information as it came, byte for byte; nil for other calls.
    package let consumption: [UInt8]?
    /// Length of the body in bytes; nil if it was longer than is read.
    package let bodyCount: Int?
    /// Nil when the connection was reset instead.
    package let status: Int?
    package let errorCode: Int64?
    /// Why it was refused, in more words than the client gets.
    package let reason: String?
    /// The faults that hit it, by name.
    package let faults: [String]
}
