import Foundation

/// Everything that one run found out.
struct Report: Sendable {
    /// A row with its figures, or with the reason why there are none.
    struct Entry: Sendable {
        let row: any Row
        let figures: [Figure]
        /// Why the row was not measured; nil when it was.
        let failure: String?
        let seconds: Double
    }

    let machine: Machine
    let repetitions: Int
    let entries: [Entry]
    let seconds: Double

    /// No row begins later than this after the start, so that the last one ends within ten minutes.
    static let lastStart = Duration.seconds(540)

    /// Measures one row after the other; a row that fails costs only itself.
    ///
    /// - Parameters:
    ///   - rows: what to measure.
    ///   - bench: where.
    ///   - tell: gets a line for a person who waits.
    /// - Returns: what was found out.
    static func measuring(_ rows: [any Row], in bench: Bench, tell: (String) -> Void) async -> Report {
        let clock = ContinuousClock()
        let start = clock.now
        var entries: [Entry] = []
        for row in rows {
            tell("row \(row.number): \(row.title)")
            let rowStart = clock.now
            let result = await measure(row, in: bench, isLate: start.duration(to: rowStart) > lastStart)
            let seconds = rowStart.duration(to: clock.now).inSeconds
            switch result {
            case .success(let figures):
                entries.append(Entry(row: row, figures: figures, failure: nil, seconds: seconds))
            case .failure(let error):
                entries.append(Entry(row: row, figures: [], failure: "\(error)", seconds: seconds))
            }
        }
        return Report(
            machine: Machine(), repetitions: bench.repetitions, entries: entries,
            seconds: start.duration(to: clock.now).inSeconds)
    }

    private static func measure(
        _ row: any Row, in bench: Bench, isLate: Bool
    ) async -> Result<[Figure], any Error> {
        do {
            guard !isLate else { throw BenchError("the time of the run is over; choose the row with --row") }
            for tool in row.tools { _ = try tool.path() }
            let figures = try await row.measure(in: bench)
            await bench.endProcesses()
            return .success(figures)
        } catch {
            await bench.endProcesses()
            return .failure(error)
        }
    }

    // MARK: JSON

    /// The results for machines: every sample, and what the table shows of them.
    ///
    /// - Throws: what the encoder says.
    func encoded() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(Document(self))
    }

    private struct Document: Encodable {
        let machine: Machine
        let repetitions: Int
        let seconds: Double
        let rows: [RowDocument]

        init(_ report: Report) {
            machine = report.machine
            repetitions = report.repetitions
            seconds = report.seconds
            rows = report.entries.map(RowDocument.init)
        }
    }

    private struct RowDocument: Encodable {
        let number: Int
        let title: String
        let seconds: Double
        let failure: String?
        let figures: [FigureDocument]

        init(_ entry: Entry) {
            number = entry.row.number
            title = entry.row.title
            seconds = entry.seconds
            failure = entry.failure
            figures = entry.figures.map { FigureDocument($0, reference: $0.reference ?? entry.row.reference) }
        }
    }

    private struct FigureDocument: Encodable {
        let name: String
        let unit: Unit
        let reference: String?
        let goal: String?
        let isMet: Bool?
        let note: String?
        let value: Spread?
        let referenceValue: Spread?
        let ratio: Spread?
        let samples: [Figure.Sample]

        init(_ figure: Figure, reference: String) {
            name = figure.name
            unit = figure.unit
            self.reference = figure.references == nil ? nil : reference
            goal = figure.goal?.text(figure.unit)
            isMet = figure.isMet
            note = figure.note
            value = figure.values
            referenceValue = figure.references
            ratio = figure.ratios
            samples = figure.samples
        }
    }
}

/// What the figures were measured on.
struct Machine: Sendable, Encodable {
    let processor: String
    let cores: Int
    let kernel: String
    let date: Date
    let isOptimised: Bool

    /// This machine, now.
    init() {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        let model = lines.first { $0.hasPrefix("model name") }?.split(separator: ":", maxSplits: 1).last
        processor = model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown processor"
        cores = ProcessInfo.processInfo.processorCount
        let release = try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)
        kernel = release.map { "Linux \($0.trimmingCharacters(in: .whitespacesAndNewlines))" } ?? "Linux"
        date = Date()
        isOptimised = Build.isOptimised
    }

    /// The machine in one line.
    var line: String { "\(processor), \(cores) cores, \(kernel), \(date.formatted(.iso8601))" }
}

/// How this program was built.
enum Build {
    #if DEBUG
    static let isOptimised = false
    #else
    static let isOptimised = true
    #endif

    /// What the table says besides.
    static let warning = isOptimised ? "" : "; BUILT FOR DEBUGGING: these figures mean nothing"
}
