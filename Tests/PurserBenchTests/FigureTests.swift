import Testing

@testable import purser_bench

/// What becomes of samples, so that the table cannot flatter.
struct FigureTests {
    private func figure(_ samples: [(Double, Double?)], goal: Goal?) -> Figure {
        var figure = Figure("answers", .perSecond, goal: goal)
        for (value, reference) in samples { figure.add(value, against: reference) }
        return figure
    }

    @Test func `a ratio is formed turn by turn, and the middle one counts`() {
        let figure = figure([(10, 10), (10, 20), (100, 400)], goal: .ratioAtLeast(0.5))
        #expect(figure.ratios?.median == 0.5)
        #expect(figure.ratios?.minimum == 0.25)
        #expect(figure.ratios?.maximum == 1)
        #expect(figure.isMet == true)
    }

    @Test func `an even number of samples has its middle between two`() {
        #expect(figure([(1, nil), (2, nil), (3, nil), (10, nil)], goal: nil).values?.median == 2.5)
    }

    @Test(arguments: [Goal.ratioAtLeast(0), .ratioAtMost(1000), .valueAtMost(1000)])
    func `what was not measured meets no goal`(goal: Goal) {
        #expect(figure([], goal: goal).isMet == false)
    }

    @Test func `a reference of nothing gives no ratio`() {
        let figure = figure([(10, 0)], goal: .ratioAtLeast(0.5))
        #expect(figure.ratios == nil)
        #expect(figure.isMet == false)
    }

    @Test(arguments: [
        (Goal.ratioAtLeast(0.5), [(5.0, 10.0)], true), (.ratioAtLeast(0.5), [(4.9, 10)], false),
        (.ratioAtMost(1.1), [(11, 10)], true), (.ratioAtMost(1.1), [(11.1, 10)], false),
        (.valueAtMost(30), [(30, 1)], true), (.valueAtMost(30), [(31, 1)], false),
    ])
    func `a goal is met at its limit and missed beyond`(goal: Goal, samples: [(Double, Double)], isMet: Bool) {
        #expect(figure(samples.map { ($0.0, $0.1) }, goal: goal).isMet == isMet)
    }

    @Test(arguments: [(0.0, "0"), (0.294, "0.29"), (1.5, "1.5"), (12.04, "12"), (12.06, "12.1"), (13_382.4, "13382")])
    func `numbers have three or four digits`(number: Double, text: String) {
        #expect(Unit.plain(number) == text)
    }
}

/// Processor time an answer, and whose it was.
struct AnswerCostTests {
    @Test(arguments: [
        ("NIO-ELT-1-#2\n", "NIO-ELT"), ("curl", "curl"), ("oot.default-qos", "oot.default-qos"), ("7", "7"),
    ])
    func `threads that do the same count as one`(name: String, kind: String) {
        #expect(ProcessUsage.kind(ofThread: name) == kind)
    }

    @Test func `what was used before does not count, and a thread that ended takes its time with it`() throws {
        let before = ProcessUsage(processorSeconds: 10, threadSeconds: ["curl": 4, "NIO-ELT": 5])
        let after = ProcessUsage(processorSeconds: 10.5, threadSeconds: ["curl": 4.2, "NIO-ELT": 5.1, "new": 0.1])
        let cost = AnswerCost(from: before, to: after, answers: 1000)
        #expect(cost.microseconds.rounded() == 500)
        #expect(cost.byThread.mapValues { $0.rounded() } == ["curl": 200, "NIO-ELT": 100, "new": 100])
    }

    @Test func `threads come by their medians, without those that hardly did anything`() {
        var figures = ThreadFigures("64 callers")
        for (curl, loop) in [(10.0, 80.0), (20, 70), (90, 5)] {
            let after = ProcessUsage(
                processorSeconds: 100, threadSeconds: ["curl": curl, "NIO-ELT": loop, "idle": 1])
            figures.add(AnswerCost(from: ProcessUsage(processorSeconds: 0, threadSeconds: [:]), to: after, answers: 1))
        }
        #expect(figures.figures.map(\.name) == ["64 callers, of it thread NIO-ELT", "64 callers, of it thread curl"])
    }
}
