import Foundation
import Testing

@testable import Domain

struct HistoryPlanTests {
    private static let hour: TimeInterval = 3600
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    /// How many hours before the end each pass begins.
    private func lookBacks(
        _ environment: AppStoreEnvironment = .production, completeFor hours: Double?, firstLookBack: Int = 72
    ) -> [Double] {
        let plan = HistoryPlan(environment: environment, firstLookBack: .seconds(firstLookBack * 3600))
        return HistoryProgress.Pass.allCases.map { pass in
            let search = plan.search(pass, until: now, completeUntil: hours.map { now - $0 * Self.hour })
            return search.end.timeIntervalSince(search.start) / Self.hour
        }
    }

    @Test func `each pass looks back as far as it is worth`() {
        #expect(lookBacks(completeFor: nil) == [13, 72, 72])
        #expect(lookBacks(completeFor: 0.5) == [1.5, 1.5, 1.5])
        #expect(lookBacks(completeFor: 20) == [13, 21, 21])
        #expect(lookBacks(completeFor: 100) == [13, 72, 101])
    }

    @Test func `nothing is asked for that Apple does not keep`() {
        #expect(lookBacks(completeFor: 10_000) == [13, 72, 180 * 24 - 1])
        #expect(lookBacks(.sandbox, completeFor: nil, firstLookBack: 10_000) == [13, 72, 30 * 24 - 1])
    }

    @Test func `a clock that was set back leaves a window that Apple takes`() {
        #expect(lookBacks(completeFor: -5) == [1, 1, 1])
    }

    @Test func `a search that was left undone for too long is given up`() {
        let plan = HistoryPlan(environment: .sandbox, firstLookBack: .seconds(3600))
        let search = plan.search(.all, until: now, completeUntil: nil)
        #expect(plan.isWithinReach(search, at: now + 28 * 24 * Self.hour))
        #expect(!plan.isWithinReach(search, at: now + 30 * 24 * Self.hour))
    }
}
