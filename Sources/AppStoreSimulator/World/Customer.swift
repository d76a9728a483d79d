/// What Apple's histories are about: an Apple Account in an app.
struct Customer: Sendable, Hashable {
    let accountID: String
    let bundleID: String
}
