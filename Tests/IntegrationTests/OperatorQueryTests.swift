import Foundation
import JSON
import TestSupport
import Testing

/// What operators read and repair by the program's commands, without a caller's token.
@Suite(.endsHangs)
struct OperatorQueryTests {
    private static var options: DaemonFixture.Options {
        var options = DaemonFixture.notified
        options.hasDoors = true
        return options
    }

    /// Runs a command and expects it to succeed; its output.
    private func run(_ fixture: DaemonFixture, _ arguments: String...) async throws -> String {
        let outcome = try await DaemonStage.purser(
            arguments + ["--socket", fixture.adminSocket, "--timeout", "\(Wait.seconds)"])
        #expect(outcome.status == 0, "\(arguments): \(outcome.errorOutput)")
        return outcome.output
    }

    private func json(_ fixture: DaemonFixture, _ arguments: String...) async throws -> JSONValue {
        let outcome = try await DaemonStage.purser(
            arguments + ["--output", "json", "--socket", fixture.adminSocket, "--timeout", "\(Wait.seconds)"])
        #expect(outcome.status == 0, "\(arguments): \(outcome.errorOutput)")
        return try JSONValue(parsing: outcome.output)
    }

    @Test func `a refund request is found, answered and declined`() async throws {
        try await DaemonFixture.with(Self.options) { fixture in
            let (first, second) = (try await fixture.customer(), try await fixture.customer())
            let open = try #require(try await fixture.requestRefund(of: first.transaction)["id"]?.string)
            let other = try #require(try await fixture.requestRefund(of: second.transaction)["id"]?.string)
            let table = try await run(fixture, "cases", "list", "--app", "coins", "--state", "open")
            let lines = table.split(separator: "\n")
            #expect(lines.count == 3 && lines[0].hasPrefix("ID") && lines[0].hasSuffix("OUTCOME"))
            #expect(lines.contains { $0.hasPrefix(open) && $0.contains(first.transaction) && $0.contains(first.user) })
            let one = try await json(fixture, "cases", "list", "--app", "coins", "--limit", "1")
            #expect(one["cases"]?.array?.count == 1)
            let answer = try await json(
                fixture, "consumption", "send", "--app", "coins", open, "--customer-consented", "--delivery-status",
                "DELIVERED", "--no-sample-content-provided", "--refund-preference", "DECLINE")
            #expect(answer["caller"] == .string("operator:\(geteuid())") && answer["caseId"] == .string(open))
            #expect(fixture.received(first.transaction).count == 1)
            let declined = try await json(fixture, "cases", "decline", "--app", "coins", other, "--note", "twice")
            #expect(declined["state"] == "declined" && declined["decline"]?["note"] == "twice")
            let shown = try await run(fixture, "cases", "show", "--app", "coins", open)
            #expect(shown.contains("answered") && shown.contains("deliveries[0].state"))
            let id = try #require(answer["id"]?.string)
            let deliveries = try await run(fixture, "deliveries", "list", "--app", "coins", "--state", "accepted")
            #expect(deliveries.contains(id))
            #expect(try await json(fixture, "deliveries", "show", "--app", "coins", id)["state"] == "accepted")
        }
    }

    @Test func `everything else that the runbook names can be looked at`() async throws {
        try await DaemonFixture.with(Self.options) { fixture in
            let (user, _, gems) = try await fixture.customer()
            try await fixture.event("notification.received", about: gems)
            let status = try await run(fixture, "status")
            #expect(status.contains("store") && status.hasPrefix("PART"))
            #expect(try await run(fixture, "apps").contains("com.example.coins"))
            #expect(try await run(fixture, "limits", "--app", "coins").contains("Get Transaction Info"))
            let notifications = try await json(fixture, "notifications", "list", "--app", "coins")
            let uuid = try #require(notifications["notifications"]?[0]?["notificationUUID"]?.string)
            #expect(try await run(fixture, "notifications", "show", "--app", "coins", uuid).contains(gems))
            let replayed = try await json(fixture, "notifications", "replay", "--app", "coins", uuid)
            #expect(replayed["notificationUUID"]?.string == uuid && replayed["processedAt"]?.string != nil)
            #expect(try await run(fixture, "events", "--app", "coins").contains("purser.notification.received"))
            #expect(try await run(fixture, "users", "show", "--app", "coins", user).contains("links"))
            #expect(try await run(fixture, "users", "links", "--app", "coins", user).hasPrefix("KIND"))
            #expect(!(try await run(fixture, "users", "consent", "--app", "coins", user)).isEmpty)
            #expect(try await run(fixture, "refunds", "--app", "coins", user).hasPrefix("TRANSACTION"))
            #expect(
                try await run(fixture, "quarantine", "list")
                    == "ID  APP  UUID  ENVIRONMENT  RECEIVED  KEPT UNTIL  FAULT\n")
            #expect(try await json(fixture, "quarantine", "retry")["status"] == "retrying")
            let erased = try await json(fixture, "users", "erase", "--app", "coins", user, "--yes")
            #expect(erased["user"] == .string(user))
        }
    }

    @Test func `what is refused says why, and the exit status tells`() async throws {
        try await DaemonFixture.with(Self.options) { fixture in
            func outcome(_ arguments: String...) async throws -> ChildProcess.Outcome {
                try await DaemonStage.purser(arguments + ["--socket", fixture.adminSocket])
            }
            let unknown = try await outcome("cases", "list", "--app", "gems")
            #expect(
                unknown.status == 1 && unknown.output.isEmpty && unknown.errorOutput.contains("no app of this name"))
            let wrong = try await outcome("cases", "list", "--app", "coins", "--state", "shut")
            #expect(wrong.status == 1 && wrong.errorOutput.contains("state"))
            #expect(try await outcome("users", "erase", "--app", "coins", "alice").status == 64)
            #expect(try await outcome("cases", "show", "--app", "coins", "none").status == 1)
            let nobody = try await DaemonStage.purser(["status", "--socket", "/tmp/no-such.sock"])
            #expect(nobody.status == 1 && nobody.errorOutput.contains("No daemon answers"))
        }
    }
}
