import ArgumentParser
import Foundation

@main
struct PurserBench: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purser-bench",
        abstract: "Measures Purser against what it is held to. Not for production.",
        discussion: """
            Starts everything itself on free ports of the loopback interface: the service on one core, load and upstream on \
            another. docs/performance.md says what each row measures and how to read the table.
            """,
        subcommands: [RunCommand.self, ProbeCommand.self, FloorCommand.self, HelloCommand.self],
        defaultSubcommand: RunCommand.self)
}

/// The command `purser-bench`, which measures and prints the table.
struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Measure rows of the table, all of them unless told otherwise.")

    @Option(name: .customLong("row"), help: "A row to measure, by its number; may be given more than once.")
    var rows: [Int] = []

    @Option(help: "How often each measurement is repeated, in turns with its reference.")
    var repetitions = 5

    @Option(help: "A file to write the results to, as JSON.")
    var json: String?

    @Option(help: "The folder with the programs purser and purser-bench; the one of this program unless given.")
    var programs: String?

    @Option(help: "A folder on the disk whose speed counts; the system's temporary one unless given.")
    var directory: String?

    @Option(help: "The folder of the Python peer that row 3 compares with.")
    var pythonPeer: String?

    @Option(help: "The Python interpreter that has the peer's requirements.")
    var python: String?

    mutating func validate() throws {
        guard (1...100).contains(repetitions) else { throw ValidationError("--repetitions takes 1 to 100.") }
        let known = Set(RowCatalog.all.map(\.number))
        for row in rows where !known.contains(row) { throw ValidationError("There is no row \(row).") }
    }

    func run() async throws {
        let chosen = RowCatalog.all.filter { rows.isEmpty || rows.contains($0.number) }
        let bench = try Bench(
            programs: programs ?? Bench.ownFolder, directory: directory ?? NSTemporaryDirectory(),
            repetitions: repetitions, pythonPeer: PythonPeer(folder: pythonPeer, interpreter: python))
        let signals = EndOnSignal(bench)
        defer { signals.cancel() }
        let report = await Report.measuring(chosen, in: bench) { Console.progress($0) }
        await bench.close()
        Console.print(Table(report).text)
        if let json { try report.encoded().write(to: URL(filePath: json)) }
    }
}

/// One row of the table: something to measure, and what it is measured against.
protocol Row: Sendable {
    /// The number by which `--row` chooses it.
    var number: Int { get }
    /// What is measured, in a few words.
    var title: String { get }
    /// What it is measured against, in a few words.
    var reference: String { get }
    /// Programs of other packages without which there is nothing to measure.
    var tools: [Tool] { get }

    /// Measures every figure of the row, in turns with its reference.
    ///
    /// - Throws: whatever keeps the row from being measured; the table then says so and no goal of it counts as met.
    func measure(in bench: Bench) async throws -> [Figure]
}

/// Every row, in the order of the table.
enum RowCatalog {
    static let all: [any Row] = [
        FacadeRow(), VerificationRow(), RefundHistoryRow(), ConsumptionRow(), WebhookRow(), UpstreamClientRow(),
        TokenRow(), FootprintRow(), GrowthRow(), OverloadRow(), AppReceiptRow(), UsageReportRow(),
        GRPCRow(), PostgresRow(),
    ]
}
