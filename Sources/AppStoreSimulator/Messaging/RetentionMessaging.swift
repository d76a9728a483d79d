import AppStoreAPI

/// Retention Messaging of all apps.
struct RetentionMessaging: Sendable {
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

    mutating func begin(_ test: PerformanceTest) throws(AppleServiceError) {
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

/// What can be set about Retention Messaging.
package struct MessagingSettings: Sendable, Hashable {
    /// In which environments what is uploaded is approved at once.
    package var automaticApproval: Set<SimulatedEnvironment> = [.sandbox]
    /// Images that an app may have, as Apple publishes it.
    package var imageQuota = 2000
    /// Messages that an app may have; Apple publishes no number.
    package var messageQuota = 2000
    /// Whether identifiers in capitals are refused; Apple's libraries disagree on them.
    package var requiresLowercaseIdentifiers = false
    /// Whether realtime URLs may be without TLS, which Apple does not allow.
    package var allowsPlainRealtimeURLs = false
    /// Certificates (PEM) to trust in place of the system's when a realtime URL is tested.
    package var certificateAuthorities: String?

    package init() {}
}

extension SimulatorState {
    /// What is set about Retention Messaging, for all apps.
    package var messagingSettings: MessagingSettings {
        get { withContent { $0.messaging.settings } }
        set { withContent { $0.messaging.settings = newValue } }
    }

    /// Says what the review of an image has come to.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func review(
        image identifier: String, of bundleID: String, in environment: SimulatedEnvironment, _ state: ReviewState
    ) throws(ControlError) {
        let isKnown = withContent {
            $0.messaging[bundleID, environment].review(image: identifier.lowercased(), state)
        }
        guard isKnown else { throw .notFound("there is no image \(identifier)") }
    }

    /// Says what the review of a message has come to.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func review(
        message identifier: String, of bundleID: String, in environment: SimulatedEnvironment, _ state: ReviewState
    ) throws(ControlError) {
        let isKnown = withContent {
            $0.messaging[bundleID, environment].review(message: identifier.lowercased(), state)
        }
        guard isKnown else { throw .notFound("there is no message \(identifier)") }
    }
}
