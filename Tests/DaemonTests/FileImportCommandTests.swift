import Domain
import Foundation
import StoreSQL
import StoreSQLite
import Synchronization
import Testing

@testable import Daemon

/// `purser import links` with a daemon that is started and stopped.
struct FileImportCommandTests {
    /// What was told while it ran.
    private final class Told: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock(\.self) }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    /// How often it was asked whether it is interrupted.
    private final class Looks: Sendable {
        let count = Atomic(0)
    }

    private func run(
        _ daemon: RunningDaemon, _ path: String, _ kind: ImportKind = .links, told: Told = Told(),
        interruptedAfter looks: Int = .max,
        _ choose: (inout FileImportCommand.Options) -> Void = { _ in }
    ) async -> CommandOutcome {
        var options = FileImportCommand.Options(kind, path: path)
        options.app = "coins"
        choose(&options)
        var surface = FileImportCommand.Surface(tell: told.add, elapsed: { .seconds(1) }, pause: { _ in })
        let looked = Looks()
        surface.isInterrupted = { looked.count.add(1, ordering: .relaxed).newValue > looks }
        return await FileImportCommand(daemon: daemon, options: options, surface: surface).run()
    }

    private func write(_ text: String, to name: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return file.path(percentEncoded: false)
    }

    /// The links of a store that no daemon has: `value user`, in the order they were recorded.
    private func links(_ path: String, _ values: some Sequence<Int>) async throws -> [String] {
        let store = try await SQLiteStore.open(at: path)
        let targets = Set(values.map { LinkTarget(.originalTransactionId, "\($0)") })
        let links = try await store.links(app: "coins", targets: targets)
        await store.close()
        return links.map { "\($0.target.value) \($0.user)" }
    }

    private static func csv(_ lines: [String]) -> String {
        (["user,kind,value"] + lines).map { "\($0)\n" }.joined()
    }

    @Test func `a file is imported, a dry run tells the same before, and the second time nothing changes`() async throws
    {
        let installation = try DaemonInstallation()
        // Line 9 repeats the identifier of line 2, in another batch than that.
        let owned = (1...7).map { "user-\($0),originalTransactionId,\($0)" }
        let file = try write(
            Self.csv(owned + ["thief,originalTransactionId,1", "user-9,originalTransactionId,9"]), to: "links.csv",
            in: installation.folder)
        let report = installation.path("report.csv")
        try await installation.whileRunning {
            let dry = await run(installation.daemon, file) { options in
                options.isDryRun = true
                options.batch = 3
                options.report = report
            }
            #expect(dry.status == .data)
            #expect(
                dry.output
                    == "Nothing was changed. 9 lines: 8 would be created, 0 would be updated, 0 unchanged, 1 would be refused (conflicts: 1); 9 lines/s.\n"
            )
            let text = try String(contentsOfFile: report, encoding: .utf8)
            let rows = text.split(separator: "\r\n")
            #expect(rows[0] == "line,rule,field,user,owner,message")
            #expect(rows.count == 2)
            #expect(rows[1].hasPrefix("9,LINK_CONFLICT,,thief,user-1,"))
            let done = await run(installation.daemon, file) { $0.batch = 3 }
            #expect(
                done.output.hasPrefix("9 lines: 8 created, 0 updated, 0 unchanged, 1 refused (conflicts: 1)"),
                "\(done)")
            let again = await run(installation.daemon, file) { $0.batch = 1000 }
            #expect(again.output.hasPrefix("9 lines: 0 created, 0 updated, 8 unchanged, 1 refused"), "\(again)")
        }
        let expected = [1, 2, 3, 4, 5, 6, 7, 9].map { "\($0) user-\($0)" }
        #expect(try await links(installation.path("purser.db"), 1...9) == expected)
    }

    @Test func `a run that was interrupted goes on where it ended`() async throws {
        let installation = try DaemonInstallation()
        let file = try write(
            Self.csv((1...20).map { "user-\($0),originalTransactionId,\($0)" }), to: "links.csv",
            in: installation.folder)
        try await installation.whileRunning {
            // It looks before each batch, and while it reads.
            let broken = await run(installation.daemon, file, interruptedAfter: 5) { $0.batch = 5 }
            #expect(broken.status == .interrupted, "\(broken)")
            let match = try #require(broken.errorOutput.firstMatch(of: /go on with `--from (\d+)`/), "\(broken)")
            let next = try #require(Int(match.1))
            #expect((2...21).contains(next))
            let rest = await run(installation.daemon, file) { $0.firstLine = next }
            #expect(rest.status == .success)
            #expect(rest.output.hasPrefix("\(22 - next) lines: \(22 - next) created"), "\(rest)")
        }
        #expect(try await links(installation.path("purser.db"), 1...20).count == 20)
    }

    @Test func `a strict run ends before the first line that cannot be imported`() async throws {
        let installation = try DaemonInstallation()
        let file = try write(
            Self.csv(["a,originalTransactionId,1", "b,originalTransactionId,1", "c,originalTransactionId,3"]),
            to: "links.csv", in: installation.folder)
        try await installation.whileRunning {
            let told = Told()
            let outcome = await run(installation.daemon, file, told: told) { $0.isStrict = true }
            #expect(outcome.status == .data)
            #expect(outcome.errorOutput.hasPrefix("Ended at line 3, as `--strict` asks. "), "\(outcome)")
            #expect(outcome.errorOutput.contains("`--from 3`"))
            #expect(told.all.count == 1)
            #expect(
                told.all.first?.hasPrefix("line 3: `originalTransactionId` `1` is linked to user `a` (import)") == true)
        }
        #expect(try await links(installation.path("purser.db"), 1...3) == ["1 a"])
    }

    @Test func `lines of several apps and lines without one each have their answer`() async throws {
        let installation = try DaemonInstallation()
        let text = """
            {"app":"coins","user":"a","kind":"originalTransactionId","value":"1"}
            {"app":"nowhere","user":"a","kind":"originalTransactionId","value":"2"}
            {"user":"a","kind":"originalTransactionId","value":"3"}
            {"app":"coins","kind":"order","value":4}
            no JSON
            {"app":"coins","user":"a","kind":"originalTransactionId","value":"6"}
            """
        let file = try write(text, to: "links.jsonl", in: installation.folder)
        try await installation.whileRunning {
            let told = Told()
            let outcome = await run(installation.daemon, file, told: told) { $0.app = nil }
            #expect(
                outcome.output.hasPrefix("6 lines: 2 created, 0 updated, 0 unchanged, 4 refused (conflicts: 0)"),
                "\(outcome)")
            let starts = ["line 2: ", "line 3: ", "line 4: `user`", "line 4: `kind`", "line 4: `value`", "line 5: "]
            #expect(told.all.count == starts.count, "\(told.all)")
            for (line, start) in zip(told.all, starts) { #expect(line.hasPrefix(start), "\(line)") }
        }
        #expect(try await links(installation.path("purser.db"), 1...6) == ["1 a", "6 a"])
    }

    @Test func `what stops a run has its own exit code`() async throws {
        let installation = try DaemonInstallation()
        let folder = installation.folder
        let daemon = installation.daemon
        let good = try write(Self.csv(["a,originalTransactionId,1"]), to: "good.csv", in: folder)
        let missing = await run(daemon, "/nowhere.csv")
        #expect(missing.status == .noInput && missing.errorOutput.contains("/nowhere.csv"))
        let noList = await run(daemon, try write("a,b\n", to: "bad.csv", in: folder))
        #expect(noList.status == .data && noList.errorOutput.contains("lacks user, kind, value"))
        let away = await run(daemon, good)
        #expect(away.status == .failure)
        #expect(away.errorOutput.hasPrefix("No daemon answers at unix:\(installation.socket)"), "\(away)")
        let configuration = await run(RunningDaemon(file: "/nowhere.yaml", socket: nil, environment: [:]), good)
        #expect(configuration.status == .configuration)
        let noReport = await run(daemon, good) { $0.report = "/nowhere/report.csv" }
        #expect(noReport.status == .failure && noReport.errorOutput.contains("/nowhere/report.csv"))
        let folderItself = await run(daemon, folder.path)
        #expect(folderItself.status == .noInput, "\(folderItself)")
    }

    @Test func `receipts that are none are refused, and an app is asked for`() async throws {
        let installation = try DaemonInstallation()
        let receipt = Data("no receipt".utf8).base64EncodedString()
        let text = """
            {"receipt":"\(receipt)","user_identifier":"alice","ip_address":null}
            {"user_identifier":"bob"}
            {"receipt":"\(receipt)","app":"nowhere"}
            """
        let file = try write(text, to: "receipts.jsonl", in: installation.folder)
        try await installation.whileRunning {
            for isDryRun in [true, false] {
                let told = Told()
                let outcome = await run(installation.daemon, file, .receipts, told: told) { $0.isDryRun = isDryRun }
                #expect(outcome.status == .data)
                #expect(
                    outcome.output.contains(
                        isDryRun
                            ? "3 lines: 0 valid, 3 would be refused;" : "3 lines: 0 queued, 0 confirmed, 3 refused;"),
                    "\(outcome)")
                #expect(told.all.count == 3, "\(told.all)")
                #expect(told.all.contains { $0.hasPrefix("line 2: `receipt`") })
            }
        }
    }
}
