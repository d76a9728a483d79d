/// How much has gathered in a store, and for how many apps it is configured.
struct StoreSize: Codable, Sendable, Hashable {
    let name: String
    let apps: Int
    let users: Int
    let deliveries: Int

    /// A company that has just begun.
    static let small = StoreSize(name: "small", apps: 10, users: 1000, deliveries: 1000)
    /// A large one, with a backlog of half a day.
    static let large = StoreSize(name: "large", apps: 10_000, users: 1_000_000, deliveries: 1_000_000)

    /// The configuration of a daemon for it.
    var configuration: PurserConfiguration { PurserConfiguration(name: name, apps: apps) }
}
