/// Processor time that a process spent on an answer, and which of its threads did.
struct AnswerCost: Sendable {
    let microseconds: Double
    /// By the name of the thread, those of the same name together.
    let byThread: [String: Double]

    /// What was spent between two looks at a process.
    ///
    /// `answers`: how many were given in between.
    init(from before: ProcessUsage, to after: ProcessUsage, answers: Double) {
        microseconds = (after.processorSeconds - before.processorSeconds) / answers * 1e6
        byThread = after.threadSeconds.mapValues { $0 / answers * 1e6 }
            .merging(before.threadSeconds.mapValues { -$0 / answers * 1e6 }, uniquingKeysWith: +)
    }
}

/// Processor time an answer, thread by thread, as figures.
struct ThreadFigures: Sendable {
    /// Threads with a smaller share of the whole are left out.
    private static let smallestShare = 0.02

    private let name: String
    private var costs: [AnswerCost] = []

    /// `name`: under what conditions.
    init(_ name: String) { self.name = name }

    mutating func add(_ cost: AnswerCost) { costs.append(cost) }

    /// One figure for each thread, the busiest first.
    var figures: [Figure] {
        let names = Set(costs.flatMap(\.byThread.keys))
        let figures = names.map { thread in
            var figure = Figure("\(name), of it thread \(thread)", .microseconds)
            for cost in costs { figure.add(cost.byThread[thread] ?? 0) }
            return figure
        }
        let whole = Spread(costs.map(\.microseconds))?.median ?? 0
        return figures.filter { $0.median >= whole * Self.smallestShare }
            .sorted { ($0.median, $1.name) > ($1.median, $0.name) }
    }
}

extension Figure {
    fileprivate var median: Double { values?.median ?? 0 }
}
