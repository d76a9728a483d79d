import Domain
import Foundation
import Testing

@testable import Daemon

struct KeyHealthTests {
    private static let since = Date(timeIntervalSince1970: 1_700_000_000)

    private func key(
        _ id: String, _ state: KeyStatus.State, activeFor active: [String] = [], apps: [String] = ["coins", "gems"],
        problem: String? = nil, warnings: [String] = []
    ) -> KeyDetails {
        KeyDetails(
            facts: KeyFacts(keyID: id, issuerID: "issuer", apps: apps, source: .imported, problem: problem),
            state: state, activeApps: active, history: nil, warnings: warnings)
    }

    private func health(
        _ keys: [KeyDetails], alone: [String] = [], problems: [String] = [], takeovers: [KeyRole] = []
    ) -> KeyHealth {
        KeyHealth(
            KeyOverview(
                masterKeyID: "0011", keys: keys, appsWithoutStandby: alone, directoryProblems: problems),
            takeovers: takeovers)
    }

    private func part(_ health: KeyHealth, _ slug: String) -> String {
        let part = health.part(of: App(slug: slug, bundleID: "com.example.\(slug)"))
        #expect(part.name == "key:\(slug)")
        return "\(part.isHealthy) \(part.detail)"
    }

    @Test func `each app is told of its own key, of what could replace it, and of what is to be looked at`() {
        let health = health(
            [
                key("ONE", .active, activeFor: ["coins"], warnings: ["in use since long; replace it"]),
                key("TWO", .standby, apps: ["coins"]), key("OLD", .retired, warnings: ["never told"]),
                key("SIX", .active, activeFor: ["gems"], apps: ["gems"]),
            ], alone: ["gems"])
        #expect(part(health, "coins") == "true ONE is active; ONE is in use since long; replace it")
        #expect(part(health, "gems") == "true SIX is active; no standby key; ONE is in use since long; replace it")
        #expect(part(health, "pearls") == "false no active key: calls to Apple fail")
        #expect(health.custody.isHealthy && health.custody.detail.hasPrefix("4 keys; "))
    }

    @Test func `a take-over is to be confirmed, as long as the key that took over signs`() {
        let takeover = KeyRole(
            app: "coins", keyID: "TWO", kind: .active, cause: .takeover, replacedKeyID: "ONE", declaredKeyID: "ONE",
            since: Self.since)
        let over = health([key("TWO", .active, activeFor: ["coins", "gems"])], takeovers: [takeover])
        #expect(part(over, "coins").hasPrefix("false TWO signs since 2023-11-14T22:13:20Z in the place of ONE"))
        #expect(part(over, "gems") == "true TWO is active")
        let confirmed = health([key("SIX", .active, activeFor: ["coins"])], takeovers: [takeover])
        #expect(part(confirmed, "coins") == "true SIX is active")
    }

    @Test func `a key that cannot sign and a directory with a fault are told of together`() {
        let custody = health([key("ONE", .standby, problem: "it is damaged")], problems: ["/keys: cannot be read"])
            .custody
        #expect(!custody.isHealthy && custody.detail == "key ONE cannot sign: it is damaged; /keys: cannot be read")
    }
}
