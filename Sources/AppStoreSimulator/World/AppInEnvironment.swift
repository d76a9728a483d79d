/// An app on one of Apple's two servers, which know nothing of each other's settings.
struct AppInEnvironment: Sendable, Hashable {
    let bundleID: String
    let environment: SimulatedEnvironment
}
