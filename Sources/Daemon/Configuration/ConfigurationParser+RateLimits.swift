import AppStoreAPI

extension ConfigurationParser {
    /// Reads `apple.rateLimits`.
    mutating func rateLimits() -> RateLimitConfiguration {
        let path = ["apple", "rateLimits"]
        let defaults = RateLimitConfiguration()
        return RateLimitConfiguration(
            requestsPerSecond: requestsPerSecond(),
            sandboxShare: setting(path + ["sandboxShare"], as: .percent(1...100), default: defaults.sandboxShare),
            reservedShare: setting(path + ["reservedShare"], as: .percent(0...90), default: defaults.reservedShare))
    }

    /// A table by the titles of Apple's pages.
    private mutating func requestsPerSecond() -> [String: Int] {
        guard let section = root.element(at: ["apple", "rateLimits"]),
            let table = member("requestsPerSecond", of: section), isTable(table)
        else { return [:] }
        var rates: [String: Int] = [:]
        for operation in Endpoint.Operation.allCases {
            rates[operation.name] = value(operation.name, of: table, as: .count(1...100_000))
        }
        return rates
    }
}
