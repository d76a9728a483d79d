import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Domain

/// What services make of settings that are replaced while they work.
struct SettingsReloadTests {
    private static let coins = App(slug: "coins", bundleID: "com.example.coins")
    private static let gems = App(slug: "gems", bundleID: "com.example.gems")

    @Test func `whoever keeps the apps sees those of the next settings, and what was looked up stays`() throws {
        let settings = CurrentSettings(Services.Settings(apps: AppCatalog([Self.coins])))
        let apps = settings.apps
        let before = try apps.app("coins")
        #expect(throws: ServiceError(.appNotFound, "")) { try apps.app("gems") }
        settings.replace(
            with: Services.Settings(
                apps: AppCatalog([Self.gems, App(slug: "coins", bundleID: "com.example.coins2")])))
        #expect(apps.all.map(\.slug) == ["coins", "gems"])
        #expect(try apps.app("coins").bundleID == "com.example.coins2" && before.bundleID == "com.example.coins")
    }

    @Test func `a policy that a reload brings answers the cases that are open`() async throws {
        try await CaseMonitorFixture.with { fixture in
            try await fixture.consent(of: "alice", to: "1")
            _ = try await fixture.base.openCase(.sample(id: "1"))
            var ports = fixture.base.ports
            ports.refunds.logger = fixture.log.logger
            var settings = Services.Settings(apps: AppCatalog([DeliveryFixture.app]))
            let services = Services(ports: ports, settings: settings)
            let monitor = Task { await services.refunds.monitor.run() }
            defer { monitor.cancel() }
            try await fixture.base.sleepersHaveArrived()
            try await fixture.pass(hours: 11)
            #expect(try await fixture.deliveries.isEmpty && fixture.minutesWarned.isEmpty)
            settings.refundPolicies = ["coins": CaseMonitorFixture.policy(hours: 2)]
            settings.warnBefore = [.seconds(3600)]
            services.replaceSettings(with: settings)
            try await fixture.pass(.seconds(60))
            #expect(try await fixture.deliveries.map(\.transactionID) == ["1"])
            #expect(services.refunds.policies.policy(of: DeliveryFixture.app) == settings.refundPolicies["coins"])
            #expect(fixture.minutesWarned == ["59"])
            monitor.cancel()
            await monitor.value
        }
    }

    @Test func `the history of an app that a reload brings is searched at once`() async throws {
        try await NotificationFixture.with { fixture in
            let history = FakeHistory()
            let settings = CurrentSettings(Services.Settings(apps: AppCatalog([])))
            let search = HistorySearch(
                gateway: history, store: fixture.store, quarantine: fixture.quarantine, processor: fixture.processor,
                apps: settings.apps, clock: fixture.base.serviceClock, logger: fixture.log.logger)
            history.add([.sample("missed", type: "DID_RENEW", at: -2, transaction: .sample(id: "1"))])
            try await fixture.during([search.run]) {
                settings.replace(
                    with: Services.Settings(
                        apps: AppCatalog([
                            App(slug: "coins", bundleID: "com.example.coins", environments: [.production])
                        ])))
                search.retryUnverified()
                try await fixture.applied("missed")
                #expect(history.questions.allSatisfy { $0.environment == .production })
            }
        }
    }

    @Test func `limits that a reload brings hold calls at once, and what was used stays used`() {
        let start = ContinuousClock.now
        let budgets = RateBudgets(
            policy: RatePolicy(limits: [.production: ["Look": RateLimit(callsPerHour: 10)]]),
            clock: BudgetClock(now: { CallerFixture.start }, monotonicNow: { start }))
        func admitted() -> Int {
            let call = BudgetedCall(
                app: "coins", endpoint: "Look", environment: .production, caller: "billing", priority: .interactive)
            var count = 0
            while case .admitted = budgets.admit(call) { count += 1 }
            return count
        }
        budgets.share(among: ["coins": 1])
        #expect(admitted() == 10)
        budgets.replace(limits: [.production: ["Look": RateLimit(callsPerHour: 15)]], quotas: [:])
        #expect(admitted() == 5, "and nobody else shares them")
        budgets.replace(limits: [.production: ["Look": RateLimit(callsPerHour: 20)]], quotas: ["billing": 3])
        #expect(admitted() == 3, "a quota that is new counts from its beginning")
        budgets.replace(limits: [.production: ["Look": RateLimit(callsPerHour: 12)]], quotas: [:])
        #expect(budgets.remaining.map(\.calls) == [0], "also for who only looks")
        #expect(admitted() == 0, "less than was used")
    }
}

/// What becomes of callers when others take the place of those of the configuration.
struct CallerReloadTests {
    private let fixture = CallerFixture()

    private func configured(_ name: String, token: String, uid: UInt32? = nil) -> ConfiguredCaller {
        ConfiguredCaller(
            Caller(name: name, scopes: ["coins": [.refundsRead]]),
            tokenDigests: [TestCode.authenticationCode(Array(token.utf8))],
            bindings: uid.map { [.uid($0)] } ?? [])
    }

    @Test func `those that are gone are nobody, new ones are known, and those of the store stay`() async throws {
        let registry = try await fixture.registry([
            configured("billing", token: "old"), configured("game", token: "game"),
        ])
        let resolver = fixture.resolver(registry)
        let issued = try await fixture.administration(registry).add(fixture.addition(), by: CallerFixture.actor)
        let stored = try #require(issued.token?.text)
        let version = registry.version
        registry.replace(configured: [configured("billing", token: "new", uid: 1), configured("support", token: "s")])
        #expect(registry.version > version, "answers under way are judged anew")
        #expect(resolver.found("Bearer old").name == nil && resolver.found("Bearer game").name == nil)
        #expect(resolver.found("Bearer new").name == "billing" && resolver.found("Bearer s").name == "support")
        #expect(resolver.found("Bearer \(stored)").name == "shop")
        #expect(fixture.counts.withLock(\.self) == ["coins": 3])
        try await registry.refresh(from: fixture.store)
        #expect(resolver.found("Bearer s").name == "support", "a later look at the store keeps them")
    }

    @Test func `a caller of the store stands for nobody while the configuration has its name, and again afterwards`()
        async throws
    {
        let registry = try await fixture.registry([])
        let resolver = fixture.resolver(registry)
        let issued = try await fixture.administration(registry).add(fixture.addition(), by: CallerFixture.actor)
        let stored = try #require(issued.token?.text)
        registry.replace(configured: [configured("shop", token: "ours")])
        #expect(resolver.found("Bearer \(stored)").name == nil && resolver.found("Bearer ours").name == "shop")
        registry.replace(configured: [])
        #expect(resolver.found("Bearer \(stored)").name == "shop" && resolver.found("Bearer ours").name == nil)
    }
}
