import Daemon
import Domain
import Testing

/// The sections `deliveries`, `cases`, `notifications`, `receipts` and `retention`, and the policy of an app.
struct ConfigurationDeliveriesTests {
    private func configuration(_ section: String) throws -> DaemonConfiguration {
        try ConfigurationFixture.configuration(ConfigurationFixture.minimal + section)
    }

    private func places(_ section: String) -> [String] {
        ConfigurationFixture.places(ConfigurationFixture.minimal + section)
    }

    @Test func `what is left out has its default`() throws {
        let configuration = try configuration("")
        #expect(configuration.deliveries == DeliveriesConfiguration(concurrency: 64, wait: .seconds(5)))
        #expect(configuration.cases.warnBefore == [.seconds(21_600), .seconds(3600)])
        #expect(configuration.notifications.history?.interval == .seconds(1800))
        #expect(configuration.notifications.history?.firstLookBack == .seconds(259_200))
        #expect(configuration.retention == RetentionPolicy())
        #expect(configuration.receipts == ReceiptsConfiguration())
        #expect(configuration.refundPolicies.isEmpty)
    }

    @Test func `everything can be chosen, and warnings come in the order of time`() throws {
        let configuration = try configuration(
            """
            deliveries: { concurrency: 8, wait: 10s }
            cases: { warnBefore: [30m, 10h] }
            notifications: { history: { interval: 10m, firstLookBack: 30d } }
            receipts: { acceptSHA1: true, keepRaw: true, usersPerTransaction: 9, wait: 1s }
            retention: { notifications: 30d, deliveries: 365d, attempts: 30d, receipts: 90d, events: 7d, sandbox: 8d }

            """)
        #expect(configuration.deliveries == DeliveriesConfiguration(concurrency: 8, wait: .seconds(10)))
        #expect(configuration.cases.warnBefore == [.seconds(36_000), .seconds(1800)])
        #expect(
            configuration.notifications.history
                == HistorySearch.Schedule(interval: .seconds(600), firstLookBack: .seconds(30 * 86_400)))
        #expect(configuration.retention.deliveries == .seconds(365 * 86_400))
        #expect(configuration.retention.events == .seconds(7 * 86_400))
        #expect(configuration.retention.receipts == .seconds(90 * 86_400))
        #expect(configuration.retention.sandbox == .seconds(8 * 86_400))
        let receipts = configuration.receipts
        #expect(receipts.acceptSHA1)
        #expect(receipts.policy.keepsRawReceipts)
        #expect(receipts.policy.usersPerTransaction == 9)
        #expect(receipts.policy.wait == .seconds(1))
    }

    @Test func `the search of the history and the warnings can be switched off`() throws {
        #expect(try configuration("notifications: { history: { interval: off } }\n").notifications.history == nil)
        #expect(try configuration("cases: { warnBefore: [] }\n").cases.warnBefore == [])
    }

    @Test(arguments: [
        ("deliveries: { concurrency: 0 }", "deliveries.concurrency"),
        ("deliveries: { concurrency: 1001 }", "deliveries.concurrency"),
        ("deliveries: { wait: 61s }", "deliveries.wait"), ("deliveries: { waits: 1s }", "deliveries.waits"),
        ("cases: { warnBefore: 6h }", "cases.warnBefore"), ("cases: { warnBefore: [13h] }", "cases.warnBefore[0]"),
        ("cases: { warnBefore: [1h, 1h] }", "cases.warnBefore[1]"), ("cases: { warn: [] }", "cases.warn"),
        ("notifications: { history: { interval: 59s } }", "notifications.history.interval"),
        ("notifications: { history: { interval: none } }", "notifications.history.interval"),
        ("notifications: { history: off }", "notifications.history"),
        ("notifications: { history: { firstLookBack: 181d } }", "notifications.history.firstLookBack"),
        ("retention: { notifications: 6d }", "retention.notifications"),
        ("retention: { deliveries: 1d }", "retention.deliveries"),
        ("retention: { attempts: 1h }", "retention.attempts"), ("retention: { events: 0s }", "retention.events"),
        ("retention: { receipts: 1h }", "retention.receipts"), ("retention: { sandbox: 6d }", "retention.sandbox"),
        ("receipts: { acceptSHA1: yes }", "receipts.acceptSHA1"),
        ("receipts: { usersPerTransaction: 0 }", "receipts.usersPerTransaction"),
        ("receipts: { wait: 61s }", "receipts.wait"), ("receipts: { raw: true }", "receipts.raw"),
        ("retention: { cases: 7d }", "retention.cases"),
    ])
    func `values out of range and unknown keys are reported`(section: String, key: String) {
        #expect(places(section + "\n") == ["14 \(key)"])
    }
}
