import AppStoreSimulator
import Daemon
import Domain
import Foundation
import JSON
import TestSupport
import Testing

/// What is shipped for Prometheus and Grafana against what the daemon really tells.
struct PrometheusTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// Counters that begin with a fault, which this story has none of; that they exist is `MetricNameTests`' to see.
    private static let faults: Set = ["purser_budget_refusals_total", "purser_upstream_retries_total"]
    /// Names of Prometheus' own.
    private static let given: Set = ["up"]
    /// What is shown where the clocks are the machine's own; the fixture's are injected.
    private static let clocks: Set = ["purser_clock_in_doubt", "purser_clock_machine_ahead_seconds"]

    /// The metrics of an expression, each with the labels that are matched at it; and the labels that it groups by.
    private static func parse(_ expression: String) -> (metrics: [(name: String, labels: [String])], groups: [String]) {
        let metrics = expression.matches(
            of: /\b((?:purser|process)_[a-z_]+[a-z]|up)\b(?:\{([^}]*)\})?/
        ).map { match in
            let labels = (match.2 ?? "").matches(of: /([a-z_]+)(?:=~|!=|!~|=)/).map { String($0.1) }
            return (name: String(match.1), labels: labels)
        }
        let groups = expression.matches(of: /\bby \(([a-z_, ]+)\)/).flatMap { match in
            match.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        return (metrics, groups)
    }

    /// The expressions of the alerts and of the dashboard, by where they stand.
    private static func expressions() throws -> [(place: String, expression: String, legend: String)] {
        let rules = try String(
            contentsOf: root.appending(path: "deploy/prometheus/purser-alerts.yaml"), encoding: .utf8)
        let alerts = rules.matches(of: /- alert: (\w+)\n +expr: '(.*)'\n/).map {
            (place: String($0.1), expression: String($0.2).replacing("''", with: "'"), legend: "")
        }
        let dashboard = try JSONValue(
            parsing: Array(Data(contentsOf: root.appending(path: "deploy/grafana/purser.json"))))
        var found = alerts
        for panel in try #require(dashboard["panels"]?.array) {
            for target in panel["targets"]?.array ?? [] {
                let expression = try #require(target["expr"]?.string)
                found.append((panel["title"]?.string ?? "", expression, target["legendFormat"]?.string ?? ""))
            }
        }
        return found
    }

    /// The names of all labels of each metric in a text for Prometheus.
    private static func labels(in text: String) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let match = line.prefixMatch(of: #/([a-z_]+)(?:\{(.*)\})?\ /#) else { continue }
            let labels = (match.2 ?? "").matches(of: /([a-z_]+)="/).map { String($0.1) }
            found[String(match.1), default: []].formUnion(labels)
        }
        return found
    }

    /// A refund request that is answered and decided, and told to a callback; and another that waits.
    private static func play(_ fixture: DaemonFixture, _ server: LoopbackServer) async throws {
        let added = try await fixture.send(
            "POST", "\(DaemonFixture.app)/callbacks", body: #"{"url":"\#(server.url)/events","format":"cloudevents"}"#)
        #expect(added.status == 201)
        let customer = try await fixture.customer()
        _ = try await fixture.requestRefund(of: customer.transaction)
        let reply = try await fixture.send(
            "POST", "\(DaemonFixture.app)/users/\(customer.user)/consumption",
            body: DaemonFixture.consumption(("refundPreference", "DECLINE")))
        #expect(reply.status == 200)
        try fixture.simulator.state.decideRefund(of: customer.transaction, .decline)
        try await fixture.event("case.decided", about: customer.transaction)
        // Only an app of which something waits has series of what waits.
        _ = try await fixture.requestRefund(of: try await fixture.customer().transaction)
    }

    @Test func `every query of an alert or of the dashboard finds its metric, by the labels that it goes by`()
        async throws
    {
        try await LoopbackServer.run { _ in
            .init(status: 204)
        } during: { server in
            var policy = CallbackPolicy()
            policy.allowedHosts = ["localhost"]
            policy.allowedNetworks = [try #require(IPNetwork("127.0.0.0/8"))]
            policy.timeout = Wait.limit
            var options = DaemonFixture.notified
            options.callbacks = CallbacksConfiguration(
                policy: policy, certificateAuthorityFile: server.certificateAuthorityFile)
            try await DaemonFixture.with(options) { fixture in
                try await Self.play(fixture, server)
                let expressions = try Self.expressions()
                #expect(expressions.count > 60)
                let wanted = Set(expressions.flatMap { Self.parse($0.expression).metrics.map(\.name) })
                    .subtracting(Self.faults).subtracting(Self.given).subtracting(Self.clocks)
                let labels = try await Wait.value("\(wanted.sorted())") {
                    let reply = try await fixture.send("GET", fixture.health + "/metrics")
                    let labels = Self.labels(in: String(decoding: reply.body, as: UTF8.self))
                    return wanted.isSubset(of: labels.keys) ? labels : nil
                }
                // What Prometheus adds to each series of a scrape.
                let added: Set = ["job", "instance"]
                for (place, expression, legend) in expressions {
                    let (metrics, groups) = Self.parse(expression)
                    #expect(!metrics.isEmpty, "\(place)")
                    let known = metrics.filter { labels[$0.name] != nil }
                    for (name, matched) in known {
                        let strange = Set(matched).subtracting(labels[name] ?? []).subtracting(added)
                        #expect(strange.isEmpty, "\(place): \(name) has no \(strange)")
                    }
                    let all = known.reduce(into: added) { $0.formUnion(labels[$1.name] ?? []) }
                    let shown = groups + legend.matches(of: /\{\{(\w+)\}\}/).map { String($0.1) }
                    guard known.count == metrics.count, metrics.first?.name != "up" else { continue }
                    #expect(Set(shown).isSubset(of: all), "\(place) shows \(shown) of \(all)")
                }
            }
        }
    }

    @Test func `whoever scrapes gets the format that it would rather have, and promtool finds no fault with it`()
        async throws
    {
        try await DaemonFixture.with(DaemonFixture.notified) { fixture in
            _ = try await fixture.requestRefund(of: try await fixture.customer().transaction)
            let target = fixture.health + "/metrics"
            let plain = try await fixture.send("GET", target, ["Accept": "text/plain;version=0.0.4"])
            #expect(plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let open = try await fixture.send(
                "GET", target, ["Accept": "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3,*/*;q=0.2"]
            )
            #expect(open.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(String(decoding: open.body, as: UTF8.self).hasSuffix("# EOF\n"))
            guard let promtool = ProcessInfo.processInfo.environment["PROMTOOL"] else { return }
            let file = fixture.folder.appending(path: "metrics")
            try Data(plain.body).write(to: file)
            let outcome = try await ChildProcess.run(
                ["/bin/sh", "-c", #""$0" check metrics < "$1""#, promtool, file.path])
            #expect(outcome.status == 0, "\(outcome)")
        }
    }

    @Test func `every alert has its page in the manual, and every such page its alert`() throws {
        let rules = try String(
            contentsOf: Self.root.appending(path: "deploy/prometheus/purser-alerts.yaml"), encoding: .utf8)
        let alerts = rules.matches(of: /- alert: (\w+)\n/).map { String($0.1) }
        let runbooks = rules.matches(of: /runbook: docs\/operations\.md#(\w+)\n/).map { String($0.1) }
        #expect(runbooks == alerts.map { $0.lowercased() } && alerts.count > 20)
        let manual = try String(contentsOf: Self.root.appending(path: "docs/operations.md"), encoding: .utf8)
        #expect(manual.matches(of: /### (Purser[A-Za-z]+)\n/).map { String($0.1) }.sorted() == alerts.sorted())
    }
}
