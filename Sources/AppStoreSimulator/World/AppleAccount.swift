/// An Apple Account in one environment.
package struct AppleAccount: Sendable, Hashable {
    package let id: String
    package let environment: SimulatedEnvironment
    /// Accounts of one family can share purchases with each other.
    package let family: String?
}
