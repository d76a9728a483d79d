package import Domain

/// How answers about consumption are sent to Apple.
package struct DeliveriesConfiguration: Sendable, Equatable {
    /// How many are sent at the same time.
    package let concurrency: Int
    /// How long a caller waits for the outcome unless its `Prefer` header says otherwise.
    package let wait: Duration
    /// How much of it Apple is given to say what the answer is about.
    package let lookUp: Duration

    package init(
        concurrency: Int = ConfigurationDefaults.Deliveries.concurrency.default,
        wait: Duration = ConfigurationDefaults.Deliveries.wait.default,
        lookUp: Duration = ConfigurationDefaults.Deliveries.lookUp
    ) {
        self.concurrency = concurrency
        self.wait = wait
        self.lookUp = lookUp
    }
}

/// How refund cases are watched.
package struct CasesConfiguration: Sendable, Equatable {
    /// How long before its deadline a case that nobody has answered is warned of, the longest first; empty for no warnings.
    package let warnBefore: [Duration]

    package init(warnBefore: [Duration] = ConfigurationDefaults.Cases.warnBefore) {
        self.warnBefore = warnBefore
    }
}

/// How notifications that Apple could not deliver are found.
package struct NotificationsConfiguration: Sendable, Equatable {
    /// The search in Apple's notification history; nil when it is switched off.
    package let history: HistorySearch.Schedule?

    package init(history: HistorySearch.Schedule? = .standard) {
        self.history = history
    }
}

extension HistorySearch.Schedule {
    /// What is done unless the configuration says otherwise.
    package static let standard = HistorySearch.Schedule(
        interval: ConfigurationDefaults.Notifications.historyInterval.default,
        firstLookBack: ConfigurationDefaults.Notifications.historyFirstLookBack.default)
}

extension ConfigurationParser {
    /// Reads `deliveries`.
    mutating func deliveriesSection() -> DeliveriesConfiguration {
        DeliveriesConfiguration(
            concurrency: setting(["deliveries", "concurrency"], ConfigurationDefaults.Deliveries.concurrency),
            wait: setting(["deliveries", "wait"], ConfigurationDefaults.Deliveries.wait))
    }

    /// Reads `cases`.
    mutating func casesSection() -> CasesConfiguration {
        guard let section = member("cases", of: root), isTable(section), member("warnBefore", of: section) != nil
        else { return CasesConfiguration() }
        let times = values("warnBefore", of: section, as: .duration(ConfigurationDefaults.Cases.warnBeforeRange))
            .map(\.value)
        return CasesConfiguration(warnBefore: times.sorted(by: >))
    }

    /// Reads `notifications`.
    mutating func notificationsSection() -> NotificationsConfiguration {
        let path = ["notifications", "history"]
        let defaultInterval = ConfigurationDefaults.Notifications.historyInterval
        let interval = setting(
            path + ["interval"], as: .durationOrOff(defaultInterval.range), default: .some(defaultInterval.default))
        let firstLookBack = setting(
            path + ["firstLookBack"], ConfigurationDefaults.Notifications.historyFirstLookBack)
        return NotificationsConfiguration(
            history: interval.map { HistorySearch.Schedule(interval: $0, firstLookBack: firstLookBack) })
    }

    /// Reads `retention`.
    mutating func retentionSection() -> RetentionPolicy {
        var policy = RetentionPolicy()
        policy.notifications = setting(["retention", "notifications"], ConfigurationDefaults.Retention.notifications)
        policy.deliveries = setting(["retention", "deliveries"], ConfigurationDefaults.Retention.deliveries)
        policy.attempts = setting(["retention", "attempts"], ConfigurationDefaults.Retention.attempts)
        policy.receipts = setting(["retention", "receipts"], ConfigurationDefaults.Retention.receipts)
        policy.usage = setting(["retention", "usage"], ConfigurationDefaults.Retention.usage)
        policy.sandbox = setting(["retention", "sandbox"], ConfigurationDefaults.Retention.sandbox)
        policy.events = setting(["retention", "events"], ConfigurationDefaults.Retention.events)
        return policy
    }
}

extension ConfigurationValue<Duration?> {
    /// A duration, or `off` for never.
    static func durationOrOff(_ range: ClosedRange<Duration>) -> Self {
        let duration = ConfigurationValue<Duration>.duration(range)
        return Self(expectation: "\(duration.expectation), or `off`") { text in
            text == "off" ? .some(nil) : duration.parse(text).map(Optional.some)
        }
    }
}
