import Domain
import Foundation
import TestSupport
import Testing

struct UsageRulesTests {
    private func report(
        _ percentage: Int32, at seconds: TimeInterval, user: String? = nil, environment: AppStoreEnvironment? = nil
    ) throws -> UsageReport {
        try .sample("1", percentage, at: seconds, user: user, environment: environment)
    }

    @Test func `the newest time wins, in whatever order they come`() throws {
        let (early, late) = (try report(10, at: 1), try report(20, at: 2))
        #expect(UsageRules.decide(early, standing: nil) == .insert(early))
        #expect(UsageRules.decide(late, standing: early) == .replace(late))
        #expect(UsageRules.decide(early, standing: late) == .outdated(by: late))
    }

    @Test func `of two with the same time the later received corrects the other, and the same again is no change`()
        throws
    {
        let (first, second) = (try report(10, at: 1), try report(20, at: 1))
        #expect(UsageRules.decide(second, standing: first) == .replace(second))
        #expect(UsageRules.decide(first, standing: second) == .replace(first))
        #expect(UsageRules.decide(first, standing: first) == .keep(first))
    }

    @Test func `whom an earlier report named stays named`() throws {
        let named = try report(10, at: 1, user: "alice")
        let later = UsageRules.decide(try report(20, at: 2), standing: named).standing
        #expect(later.facts.consumptionPercentage == 20 && later.subject.user?.value == "alice")
        let other = UsageRules.decide(try report(30, at: 3, user: "bob"), standing: later).standing
        #expect(other.subject.user?.value == "bob")
    }

    @Test func `a report of no environment counts for either, and Production comes first`() throws {
        let unknown = try report(10, at: 1)
        let production = try report(20, at: 2, environment: .production)
        let sandbox = try report(30, at: 3, environment: .sandbox)
        let all = [unknown, production, sandbox]
        #expect(UsageRules.newest(all, in: .production) == production)
        #expect(UsageRules.newest(all, in: .sandbox) == sandbox)
        #expect(UsageRules.newest(all, in: nil) == production)
        #expect(UsageRules.newest([sandbox], in: nil) == sandbox)
        #expect(UsageRules.newest([unknown], in: .sandbox) == unknown)
        #expect(UsageRules.newest([sandbox], in: .production) == nil)
        let same = try report(40, at: 3)
        #expect(UsageRules.newest([same, sandbox], in: .sandbox) == sandbox)
        #expect(UsageRules.newest([sandbox, same], in: .sandbox) == sandbox)
    }

    @Test(arguments: [(999, false), (1000, true), (1999, true), (2000, false)])
    func `a product's report speaks of a purchase from its date to its end`(at: TimeInterval, speaks: Bool) throws {
        let period = PurchaseFacts(
            environment: .production, transactionID: "1", originalTransactionID: "1",
            purchaseDate: Date(timeIntervalSince1970: 1000), expiresDate: Date(timeIntervalSince1970: 2000))
        #expect(UsageRules.canSpeak(try report(10, at: at), of: period) == speaks)
    }
}

struct UsageCodesTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    private func codes(_ set: (inout UsageFacts) -> Void) -> UsageCodes {
        var facts = UsageFacts()
        set(&facts)
        return UsageCodes(facts, at: Self.now)
    }

    @Test func `what is not known is Apple's undeclared`() {
        let codes = codes { _ in }
        #expect(codes.accountTenure == 0 && codes.consumptionStatus == 0 && codes.playTime == 0)
        #expect(codes.lifetimeDollarsPurchased == 0 && codes.lifetimeDollarsRefunded == 0)
        #expect(codes.platform == 0 && codes.userStatus == 0 && codes.deliveryStatus == nil)
    }

    @Test(
        arguments: [
            (0, 1), (1, 2), (4999, 2), (5000, 3), (9999, 3), (10_000, 4), (49_999, 4), (50_000, 5), (99_999, 5),
            (100_000, 6),
            (199_999, 6), (200_000, 7), (1_000_000_000_000, 7),
        ] as [(Int64, Int32)])
    func `amounts come to Apple's buckets`(cents: Int64, code: Int32) {
        #expect(codes { $0.lifetimeCentsPurchased = cents }.lifetimeDollarsPurchased == code)
        #expect(codes { $0.lifetimeCentsRefunded = cents }.lifetimeDollarsRefunded == code)
    }

    @Test(
        arguments: [
            (0, 1), (4, 1), (5, 2), (59, 2), (60, 3), (359, 3), (360, 4), (1439, 4), (1440, 5), (5759, 5), (5760, 6),
            (23_040, 6), (23_041, 7),
        ] as [(Int64, Int32)])
    func `play time comes to Apple's buckets`(minutes: Int64, code: Int32) {
        #expect(codes { $0.playTimeMinutes = minutes }.playTime == code)
    }

    @Test(
        arguments: [
            (0, 1), (2, 1), (3, 2), (9, 2), (10, 3), (29, 3), (30, 4), (89, 4), (90, 5), (179, 5), (180, 6), (365, 6),
            (366, 7),
        ] as [(Int, Int32)])
    func `the account's age comes to Apple's buckets, of whole days until now`(days: Int, code: Int32) {
        let (start, moment) = (Self.now.addingTimeInterval(-86_400 * Double(days)), 86_399.0)
        #expect(codes { $0.accountCreatedAt = start }.accountTenure == code)
        #expect(codes { $0.accountCreatedAt = start.addingTimeInterval(-moment) }.accountTenure == code)
    }

    @Test func `an account that is a little ahead of our clock is a new one`() {
        #expect(codes { $0.accountCreatedAt = Self.now.addingTimeInterval(200) }.accountTenure == 1)
    }

    @Test func `delivery and consumption come to Apple's codes, and codes stay what they are`() {
        let delivered: [ConsumptionV2.DeliveryStatus: Int32] = [
            .delivered: 0, .undeliveredQualityIssue: 1, .undeliveredWrongItem: 2, .undeliveredServerOutage: 3,
            .undeliveredOther: 5,
        ]
        for status in ConsumptionV2.DeliveryStatus.allCases {
            #expect(codes { $0.deliveryStatus = status }.deliveryStatus == delivered[status])
        }
        for (percentage, code) in [(0, 1), (1, 2), (99_999, 2), (100_000, 3)] as [(Int32, Int32)] {
            #expect(codes { $0.consumptionPercentage = percentage }.consumptionStatus == code)
        }
        #expect(codes { $0.platform = 2 }.platform == 2 && codes { $0.userStatus = 4 }.userStatus == 4)
    }
}
