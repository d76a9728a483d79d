import AppStoreAPI

/// Retention Messaging of all apps.
struct MessagingDesk: Sendable {
    var settings = MessagingSettings()
    private var catalogues: [AppInEnvironment: MessagingCatalogue] = [:]
    /// In the order in which they were asked for.
    private(set) var tests: [PerformanceTest] = []

    subscript(bundleID: String, environment: SimulatedEnvironment) -> MessagingCatalogue {
        get { catalogues[AppInEnvironment(bundleID: bundleID, environment: environment)] ?? MessagingCatalogue() }
        set { catalogues[AppInEnvironment(bundleID: bundleID, environment: environment)] = newValue }
    }

    /// How the review of a new upload stands.
    func firstState(in environment: SimulatedEnvironment) -> ReviewState {
        settings.automaticApproval.contains(environment) ? .approved : .pending
    }

    // MARK: Performance tests

    mutating func begin(_ test: PerformanceTest) throws(Refusal) {
        guard !tests.contains(where: { $0.app.bundleID == test.app.bundleID && $0.status == .pending }) else {
            throw .error(.existingPerformanceTestRun)
        }
        tests.append(test)
    }

    func test(_ requestID: String, of bundleID: String) -> PerformanceTest? {
        tests.first { $0.requestID == requestID && $0.app.bundleID == bundleID }
    }

    func hasPassed(_ bundleID: String) -> Bool {
        tests.contains { $0.app.bundleID == bundleID && $0.status == .pass }
    }

    /// Takes out the tests that nobody works on yet.
    mutating func takeTests() -> [PerformanceTest] {
        tests.indices.filter { !tests[$0].isUnderWay && tests[$0].status == .pending }.map { index in
            tests[index].isUnderWay = true
            return tests[index]
        }
    }

    mutating func record(_ sample: PerformanceTest.Sample, of requestID: String) {
        guard let index = tests.firstIndex(where: { $0.requestID == requestID }) else { return }
        tests[index].samples.append(sample)
    }
}
