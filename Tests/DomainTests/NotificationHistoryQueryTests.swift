import Domain
import Foundation
import Testing

struct NotificationHistoryQueryTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let day: Int64 = 86_400_000

    private var nowMilliseconds: Int64 { 1_700_000_000_000 }

    private func fields(
        start: FieldValue? = .integer(1_699_000_000_000), end: FieldValue? = .integer(1_699_999_000_000),
        _ others: [String: FieldValue] = [:]
    ) -> [String: FieldValue] {
        var fields = others
        fields["startDate"] = start
        fields["endDate"] = end
        return fields
    }

    private func read(
        _ fields: [String: FieldValue], _ environment: AppStoreEnvironment = .production
    ) throws -> NotificationHistoryQuery {
        try FieldReader.read(fields) { NotificationHistoryQuery(&$0, environment: environment, now: now) }
    }

    private func violations(
        _ fields: [String: FieldValue], _ environment: AppStoreEnvironment = .production
    ) -> [String] {
        let error = #expect(throws: ServiceError.self) { try read(fields, environment) }
        return error?.violations.map { "\($0.field) \($0.appleError?.code ?? 0)" } ?? []
    }

    @Test func `a span of time is enough, and each filter is taken`() throws {
        #expect(try read(fields()).notificationType == nil)
        let byType = try read(
            fields(["notificationType": .string("DID_RENEW"), "notificationSubtype": .string("BILLING_RECOVERY")]))
        #expect(byType.notificationType == "DID_RENEW" && byType.notificationSubtype == "BILLING_RECOVERY")
        let byTransaction = try read(fields(["transactionId": .string("1"), "onlyFailures": .boolean(true)]))
        #expect(byTransaction.transactionID == "1" && byTransaction.onlyFailures == true)
        #expect(try read(fields(["notificationType": .string("A_NAME_OF_2030")])).notificationType == "A_NAME_OF_2030")
        #expect(try read(fields(end: .integer(nowMilliseconds + day))).endDate == nowMilliseconds + day)
    }

    @Test func `the window is 180 days in production, 30 in the sandbox, and forgives a clock that is ahead`() throws {
        for (environment, days) in [(.production, 180), (.sandbox, 30)] as [(AppStoreEnvironment, Int64)] {
            let edge = nowMilliseconds - days * day
            #expect(try read(fields(start: .integer(edge - 300_000)), environment).startDate == edge - 300_000)
            #expect(violations(fields(start: .integer(edge - 300_001)), environment) == ["startDate 4000012"])
        }
    }

    @Test func `dates must be there, be dates, and be in order`() {
        #expect(violations([:]) == ["startDate 4000015", "endDate 4000016"])
        #expect(violations(fields(start: .string("1"), end: .integer(-1))) == ["startDate 4000015", "endDate 4000016"])
        let same = FieldValue.integer(1_699_000_000_000)
        #expect(violations(fields(start: same, end: same)) == ["endDate 4000013"])
    }

    @Test func `filters that do not go together are told, all at once`() {
        #expect(violations(fields(["notificationSubtype": .string("UPGRADE")])) == ["notificationSubtype 4000018"])
        let both: [String: FieldValue] = ["notificationType": .string("TEST"), "transactionId": .string("1")]
        #expect(violations(fields(both)) == ["transactionId 4000019"])
        let bad: [String: FieldValue] = [
            "notificationType": .string("did renew"), "transactionId": .string("a b"), "onlyFailures": .string("yes"),
            "colour": .string("red"),
        ]
        #expect(
            violations(fields(bad)) == [
                "notificationType 4000018", "transactionId 4000006", "onlyFailures 4000000", "transactionId 4000019",
                "colour 0",
            ])
    }
}
