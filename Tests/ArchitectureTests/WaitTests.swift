import Testing

/// A test waits for what is to happen, never for time to pass: no busy machine makes it fail, and none is kept busy in vain.
///
/// `Wait` of `TestSupport` knows how, has the one limit that ends a hang, and says what was waited for.
struct WaitTests {
    /// What only `Wait` does.
    private static let marks = ["Task" + ".sleep(", "Task" + ".yield(", ".time" + "Limit("]

    /// Files that do it for another reason.
    private static let reasons: [String: String] = [
        "Tests/TestSupport/Wait.swift": "the limit itself",
        "Tests/TestSupport/FakeAppStoreGateway+Consumption.swift": "an answer that gives way to others before it ends",
        "Tests/CurlTests/CurlCancellationTests.swift": "cancels at every moment there is",
        "Tests/DomainTests/Deliveries/WithdrawalRaceTests.swift": "leaves the order of a race to chance",
        "Tests/IntegrationTests/CrashTest/CrashRun.swift": "kills at random moments",
        "Tests/IntegrationTests/CrashTest/CrashRun+Copies.swift": "stops copies for so long",
        "Tests/IntegrationTests/Flood/HonestTraffic.swift": "comes at a steady rate while `make flood` measures",
    ]

    @Test func `no test sleeps, looks again and again, or has a time limit of its own`() throws {
        var others = Set(Self.reasons.keys)
        for file in try Repository.swiftFiles(below: "Tests") {
            let text = try Repository.text(file)
            let found = Self.marks.filter { text.contains($0) }
            guard Self.reasons[file] == nil else {
                if !found.isEmpty { others.remove(file) }
                continue
            }
            #expect(found.isEmpty, "\(file) does by itself what `Wait` does")
        }
        #expect(others.isEmpty, "these need no reason any more")
    }
}
