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
}
