import Domain

extension ConfigurationParser {
    /// Reads `deliveries`.
    mutating func deliveriesSection() -> DeliveriesConfiguration {
        let defaults = DeliveriesConfiguration()
        return DeliveriesConfiguration(
            concurrency: setting(["deliveries", "concurrency"], as: .count(1...1000), default: defaults.concurrency),
            wait: setting(["deliveries", "wait"], as: .duration(.zero ... .seconds(60)), default: defaults.wait))
    }

    /// Reads `cases`.
    mutating func casesSection() -> CasesConfiguration {
        guard let section = member("cases", of: root), isTable(section), member("warnBefore", of: section) != nil
        else { return CasesConfiguration() }
        let answerWindow = Duration.seconds(RefundCase.answerWindow)
        let times = values("warnBefore", of: section, as: .duration(.seconds(60)...answerWindow)).map(\.value)
        return CasesConfiguration(warnBefore: times.sorted(by: >))
    }

    /// Reads `notifications`.
    mutating func notificationsSection() -> NotificationsConfiguration {
        let path = ["notifications", "history"]
        let defaults = NotificationsConfiguration.History()
        let interval = setting(
            path + ["interval"], as: .durationOrOff(.seconds(60) ... .seconds(43_200)),
            default: .some(defaults.interval))
        // Apple's history reaches back 180 days in Production.
        let firstLookBack = setting(
            path + ["firstLookBack"], as: .duration(.seconds(3600) ... .seconds(180 * 86_400)),
            default: defaults.firstLookBack)
        return NotificationsConfiguration(
            history: interval.map { NotificationsConfiguration.History(interval: $0, firstLookBack: firstLookBack) })
    }

    /// Reads `retention`.
    mutating func retentionSection() -> RetentionPolicy {
        let defaults = RetentionPolicy()
        var policy = RetentionPolicy()
        // What is older is refused when it comes, and Apple repeats a notification for six and a half days.
        policy.notifications = retention("notifications", atLeast: 7, default: defaults.notifications)
        policy.deliveries = retention("deliveries", atLeast: 2, default: defaults.deliveries)
        policy.attempts = retention("attempts", atLeast: 1, default: defaults.attempts)
        policy.events = retention("events", atLeast: 1, default: defaults.events)
        return policy
    }

    private mutating func retention(_ name: String, atLeast days: Int, default: Duration) -> Duration {
        setting(
            ["retention", name], as: .duration(.seconds(days * 86_400) ... .seconds(36_500 * 86_400)),
            default: `default`)
    }
}

extension ConfigurationValue<Duration?> {
    /// A duration, or `off` for never.
    fileprivate static func durationOrOff(_ range: ClosedRange<Duration>) -> Self {
        let duration = ConfigurationValue<Duration>.duration(range)
        return Self(expectation: "\(duration.expectation), or `off`") { text in
            text == "off" ? .some(nil) : duration.parse(text).map(Optional.some)
        }
    }
}
