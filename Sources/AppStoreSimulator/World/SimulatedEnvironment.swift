package import AppStoreAPI

/// Which of Apple's two servers is played; data of one is unknown to the other.
package enum SimulatedEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"

    /// The value in Apple's payloads.
    package var wireValue: Environment { Environment(rawValue: rawValue) }

    /// The one that this is not.
    var other: SimulatedEnvironment { self == .production ? .sandbox : .production }
}
