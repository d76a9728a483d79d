import Logging
import TestSupport
import Testing

@testable import Domain

struct QuarantineAlarmTests {
    @Test func `each app has one alarm a minute, which tells how many there were besides`() {
        let log = RecordedLog()
        let alarm = QuarantineAlarm(logger: log.logger)
        let start = ContinuousClock.now
        for second in [0, 1, 59, 60] { alarm.raise(app: "coins", fault: "f", at: start + .seconds(second)) }
        alarm.raise(app: "gems", fault: "g", at: start + .seconds(1))
        #expect(
            log.lines.map(\.metadata) == [
                ["app": "coins", "fault": "f"], ["app": "coins", "fault": "f", "othersSinceLastAlarm": "2"],
                ["app": "gems", "fault": "g"],
            ])
    }
}
